"""Vi's editing as pure text: keys, a text and a cursor in, a text and a cursor out. It knows no widget."""
