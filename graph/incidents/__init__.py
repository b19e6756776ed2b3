"""Many people's failures together: what comes more often than usual, and who had this before."""
