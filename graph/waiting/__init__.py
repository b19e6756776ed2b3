"""Why a job waits, read from what a scheduler printed and what a person wrote beside it."""
