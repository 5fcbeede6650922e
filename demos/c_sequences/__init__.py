"""C. Sequences: how far attention looks, by which paths, and what it learns there."""
