"""Counts of a log's calls, which the summary and the report share: the layer above `_read` and below `_report`."""
