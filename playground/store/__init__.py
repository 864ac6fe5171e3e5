"""The store: every run, in one SQLite database that several processes read and write at once."""

from playground.store.database import StoreError
from playground.store.past import ATTENTION, Past, Search
from playground.store.removal import Belongings
from playground.store.rows import Group, Run
from playground.store.runs import RunStore

__all__ = [
    "ATTENTION",
    "Belongings",
    "Group",
    "Past",
    "Run",
    "RunStore",
    "Search",
    "StoreError",
]
