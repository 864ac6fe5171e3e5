"""The page in Traditional Chinese in a real browser: by the browser's wish, and by the switch."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.report.scripted import scripted
from tests.ui.conftest import Served
from tests.ui.driving import open_tab, wait_for_points

pytestmark = pytest.mark.browser

START = "開始比較"

# What is shown as it was written: code, commands, names, and what runs print.
VERBATIM = "script, style, code, pre, #command, textarea, input"
NAMES = re.compile(
    r"Hugging Face id|FP4 Tensor Core|SmolLM2 135M Instruct|Llama [\w. ]+|MLPerf Training|"
    # Of the scripted worker, which says it in English.
    r"made-up numbers of a scripted run|sentences-to-json: 2 000 rows read, all kept\.|"
    r"the head stays in the compute type|"
    r"no NVIDIA GPU was found, so formats are rounded in software"
)
SENTENCES = """(verbatim) => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest(verbatim)) found.add(walker.currentNode.data);
  }
  for (const name of ["aria-label", "title", "placeholder"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      if (!element.closest(verbatim)) found.add(element.getAttribute(name));
    }
  }
  return [...found];
}"""


def english(page: Page) -> list[str]:
    """Texts with three Latin words in a row, and marks that nobody filled."""
    said = [NAMES.sub("", one) for one in page.evaluate(SENTENCES, VERBATIM)]
    return [one for one in said if re.search(r"[A-Za-z]{2,}(?:[ ,]+[A-Za-z]{2,}){2}|\[\[say", one)]


def test_a_browser_in_chinese_sees_everything_in_chinese(served: Served, visit) -> None:
    served.hold_at(20)
    page = visit(served.url, locale="zh-TW", ready=START)
    assert page.evaluate("document.documentElement.lang") == "zh-TW"
    expect(page.locator(".card-facts").first).to_contain_text("在這裡是")
    expect(page.locator(".preset").first).to_contain_text("快速一覽")
    assert english(page) == []

    page.get_by_role("button", name="開始 quick").click()
    wait_for_points(page, 0, 20)
    expect(page.locator(".arm-line.arm-fp16")).to_contain_text("訓練，剩餘步數約需")
    expect(page.locator(".arm-line.arm-nvfp4")).to_contain_text("等待輪到它")
    expect(page.locator(".charts .legend")).to_contain_text("模擬")
    expect(page.locator(".charts")).to_contain_text("吞吐量")
    assert english(page) == []

    # Who watches the same in English gets it in English, from the same process and at once.
    other = visit(f"{served.url}/?group={served.store.list_groups()[0].id}")
    expect(other.locator(".arm-line.arm-nvfp4")).to_contain_text("waits for its turn")
    served.hold_at(60)
    expect(page.locator(".headline")).to_contain_text("NVFP4 的最終困惑度比 FP16 高")
    expect(other.locator(".headline")).to_contain_text("NVFP4 ends at")
    for fold in ("details", "measured", "coverage", "log"):
        page.locator(f"#{fold} > button").click()
    page.locator("table.whole").wait_for()
    assert english(page) == []

    for tab, there in (
        ("歷史", "#past table, .past table, table.past"),
        ("試用", "text=問它們同一個問題"),
        ("格式", "text=四個位元裝得下什麼"),
    ):
        open_tab(page, tab)
        page.locator(there).first.wait_for()
        assert english(page) == [], tab


def test_the_language_is_switched_by_keyboard_and_stays(served: Served, visit) -> None:
    group = scripted(served.store).id
    page = visit(f"{served.url}/?group={group}")
    expect(page.locator(".headline")).to_contain_text("NVFP4 ends at")
    to_chinese = page.get_by_role("button", name="繁體中文")
    expect(to_chinese).to_have_attribute("aria-pressed", "false")
    to_chinese.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".headline")).to_contain_text("NVFP4 的最終困惑度")
    expect(page.get_by_role("button", name="繁體中文")).to_have_attribute("aria-pressed", "true")
    assert f"group={group}" in page.url
    page.reload()
    expect(page.get_by_role("button", name=START)).to_be_visible()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Start comparison")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"


def test_who_watches_a_shared_page_does_so_in_their_language(shared: Served, visit) -> None:
    page = visit(shared.url, locale="zh-TW", ready=None, may_fail=True)
    expect(page.locator("#start")).to_have_text("登入後才能開始")
    expect(page.locator("#account")).to_contain_text("你正在觀看")
    assert english(page) == []
    page.get_by_role("link", name="登入").click()
    expect(page.locator("h1")).to_have_text("登入 FP4 Playground")
    page.get_by_label("名稱").fill("ann")
    page.get_by_label("密碼").fill("wrong")
    page.get_by_role("button", name="登入").click()
    expect(page.get_by_role("alert")).to_contain_text("名稱與密碼不符")


def test_what_is_refused_is_said_in_the_visitors_language(served: Served, visit) -> None:
    page = visit(served.url, locale="zh-TW", ready=START)
    for name in ("FP16", "NVFP4"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_role("button", name=START).click()
    expect(page.get_by_role("alert").first).to_contain_text("「精度」是空的")
