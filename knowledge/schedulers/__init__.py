"""What Slurm, PBS, LSF and Flux print about jobs: typed records, pasted or live, and their reasons."""
