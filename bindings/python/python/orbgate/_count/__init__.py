"""Counts a log's calls for the summary and the report. This layer is above `_read` and below `_report`."""
