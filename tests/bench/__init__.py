"""`make bench`: the service beside others, on the same data, in the same run."""
