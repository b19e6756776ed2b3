"""Many jobs at once: diagnosed, counted, and told as a report."""
