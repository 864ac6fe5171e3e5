"""The store: every run, in one SQLite database that several processes read and write at once."""

from playground.store.database import StoreError
from playground.store.rows import Group, Run
from playground.store.runs import RunStore

__all__ = ["Group", "Run", "RunStore", "StoreError"]
