"""What keeps a script in its folder: namespaces or Landlock, a system call filter, limits, and the proof of them."""
