"""The oddities. Each is a generator: before the first yield the world is bent, after it jobs are planned,
after the second one the rows are known. All of it is healthy."""

from . import clients, customers, jobs, servers, times, tokens
from .common import ODD

__all__ = ["ODD", "clients", "customers", "jobs", "servers", "times", "tokens"]
