"""The stand-in cluster inside the jail: its nodes, its launchers and their variables, its other commands."""
