"""B. Its gradient: what it says, where it dies, and how it is kept alive."""
