"""頁面以下各層所說的英文句子，依其形狀的對應；``playground/ui/recorded.py`` 會用到。"""

from __future__ import annotations

from playground.ui.text.zh_tw.below import asked, catalog, config, data, machine, runs

_JOINED = {"{first}, or {second}": "{first}，或{second}", "{first}; {second}": "{first}；{second}"}
TABLES = (_JOINED, config.SAID, catalog.SAID, data.SAID, machine.SAID, runs.SAID, asked.SAID)
SAID = {shape: twin for table in TABLES for shape, twin in table.items()}

# 值之間的文字。
COLON = "："
LISTS = {", ": "、", " and ": " 與 ", ", and ": " 與 ", " or ": " 或 "}
QUOTED = r"「\1」"
CLOSE = r"(?<=」) | (?=「)"  # 括號旁不留空格
