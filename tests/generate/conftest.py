"""A finished comparison without any training, and chats whose child has no models."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from playground.generate import Chat
from playground.store import Group, RunStore
from tests.generate.fake_child import CHILD
from tests.generate.finished import finished_group


@pytest.fixture
def group(store: RunStore) -> Group:
    return finished_group(store)


@pytest.fixture
def make_chat(store: RunStore) -> Iterator[Callable[..., Chat]]:
    made: list[Chat] = []

    def make(**options: object) -> Chat:
        made.append(Chat(store, **{"child": CHILD, **options}))
        return made[-1]

    yield make
    for chat in made:
        chat.end()
