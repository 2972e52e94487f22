"""A log, from whatever it is in to batches with the same columns: the layer below `_count`."""
