"""Reads a log of any format as batches with the same columns. This layer is below `_count`."""
