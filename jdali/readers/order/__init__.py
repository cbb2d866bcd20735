"""Orders samples: epochs and shards (`epochs`), permutations (`indices`), shuffling through a buffer (`mixing`)."""
