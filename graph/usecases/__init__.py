"""What the assistant does: values in, values out; the nodes of the graph and the doors call these."""
