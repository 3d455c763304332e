"""Policy: may this call run? Rules decide; a doubt asks; a deny always holds."""
