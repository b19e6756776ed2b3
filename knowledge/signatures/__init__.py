"""Failure signatures: data files, their loader, and the one scan they are compiled into."""
