"""The graph of all-MiniLM-L6-v2, and how it is made."""
