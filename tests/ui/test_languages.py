"""Which language a request is answered in, and that no mark is ever sent."""

from __future__ import annotations

import json
import re

import httpx
import pytest
from starlette.requests import HTTPConnection

from playground import language
from playground.ui import languages
from tests.ui.conftest import Served


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("", "en"),
        ("en-US,en;q=0.9", "en"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8", "zh-TW"),
        ("zh-Hant-TW", "zh-TW"),
        ("zh", "zh-TW"),
        ("zh-HK", "zh-TW"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-TW"),
        ("en;q=0.3, zh-TW;q=0.7", "zh-TW"),
        ("fr-FR, de;q=0.8", "en"),
        ("fr-FR, zh-TW;q=0.4, en;q=0.2", "zh-TW"),
        ("zh-TW;q=nonsense, en", "en"),
        ("*", "en"),
    ],
)
def test_the_first_language_the_browser_wants_and_we_have(accepted: str, code: str) -> None:
    assert languages.preferred(accepted) == code


@pytest.mark.parametrize(
    ("cookie", "code"), [("language=en", "en"), ("language=xx", "zh-TW"), ("other=en", "zh-TW")]
)
def test_what_was_chosen_goes_before_what_the_browser_wants(cookie: str, code: str) -> None:
    headers = [(b"accept-language", b"zh-TW"), (b"cookie", cookie.encode())]
    assert languages.asked(HTTPConnection({"type": "http", "headers": headers})) == code


def test_each_is_sent_the_page_in_their_language_and_no_mark(served: Served) -> None:
    for code, start in (("en", "Start comparison"), ("zh-TW", "開始比較")):
        page = httpx.get(served.url, headers={"Accept-Language": code})
        config = httpx.get(f"{served.url}/config", headers={"Accept-Language": code})
        assert f'lang="{code}"' in page.text
        assert "Accept-Language" in page.headers["vary"]
        written = re.search(r"window\.gradio_config = (\{.*?\});</script>", page.text)[1]
        for sent in (json.loads(written), config.json()):
            labels = [c["props"].get("value") for c in sent["components"]]
            assert start in labels
            assert "[[say:" not in json.dumps(sent)
        assert "[[say:" not in page.text


def test_what_stands_in_a_script_cannot_leave_its_quotes() -> None:
    mark = language.Mark({"en": "\"</script>'&\\", "zh-TW": "好"})
    written = language.fill(f'{{"a": "{mark}"}}', "en", languages._in_json)
    assert json.loads(written) == {"a": "\"</script>'&\\"}
    assert "<" not in written and "'" not in written
