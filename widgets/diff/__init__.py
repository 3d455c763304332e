"""The review of proposed changes: what people see, accept, drop and edit. It computes no diff itself."""
