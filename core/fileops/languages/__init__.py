"""Source files by their syntax: what they define, import and name, language by language, in processes of their own."""
