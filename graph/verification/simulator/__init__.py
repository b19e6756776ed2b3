"""The simulator: a jail on this computer, and in it a cluster whose commands, nodes and networks are stand-ins.

What is simulated how, and from which source, stands in README.md beside this file.
"""
