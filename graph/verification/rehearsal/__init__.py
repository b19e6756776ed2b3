"""The rehearsal: a launch script runs here, on a stand-in cluster, before a node hour is spent."""
