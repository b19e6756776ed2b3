"""Is a running job still well? Its own pace, its loss, its ranks and its end, from the lines that it prints."""
