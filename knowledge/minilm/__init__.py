"""The graph of all-MiniLM-L6-v2 (bench/build_minilm.py makes it), and the vectors of what is shipped."""
