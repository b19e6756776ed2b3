"""Is a script going to be accepted, and will it start?"""
