"""The programs of the stand-in cluster. They run inside the jail with the standard library alone."""
