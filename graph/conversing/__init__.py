"""A language model leads the turn, over the use cases as tools; what it says of a machine stands on their answers."""
