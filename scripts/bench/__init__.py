"""Speed, memory and error of this package beside named peers, each pair in one run (``make bench``)."""
