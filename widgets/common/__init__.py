"""What several widgets share: plain text, times and sizes, a spinner, cell styles, syntax roles, the last guard."""
