"""Fetches a model of the hub into its cache, in a process that Stop can end at any time."""

from playground.download.fetch import fetched

__all__ = ["fetched"]
