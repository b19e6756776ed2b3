"""What a scheduler tells of its machine: a file for one that nobody described, and what has drifted in a known one."""
