"""A script that works elsewhere, carried to another machine."""
