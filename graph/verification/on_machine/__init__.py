"""A small trial job on the machine itself: what is sent, how it gets there, and how schedulers are asked."""
