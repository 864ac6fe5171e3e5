"""頁面以下各層所說的英文句子，依其形狀的對應；``playground/ui/recorded.py`` 會用到。"""

from __future__ import annotations

from playground.ui.text.zh_tw import DATASET, MODEL, PRECISION
from playground.ui.text.zh_tw.below import asked, catalog, config, data, machine, runs
from playground.ui.text.zh_tw.labels import LABELS
from playground.ui.text.zh_tw.try_it import FIELDS

_SETTINGS = LABELS | {"model": MODEL, "dataset": DATASET, "precision": PRECISION}
# 英文句子以設定名稱開頭時，首字母大寫。
_NAMED = {key.capitalize(): f"「{name}」" for key, name in _SETTINGS.items() if "_" not in key}
_NAMED |= {key: f"「{name}」" for key, (name, _) in FIELDS.items()}
_JOINED = {"{first}, or {second}": "{first}，或{second}", "{first}; {second}": "{first}；{second}"}
TABLES = (
    _NAMED,
    _JOINED,
    config.SAID,
    catalog.SAID,
    data.SAID,
    machine.SAID,
    runs.SAID,
    asked.SAID,
)
SAID = {shape: twin for table in TABLES for shape, twin in table.items()}

# 值之間的文字。
COLON = "："
LISTS = {", ": "、", " and ": " 與 ", ", and ": " 與 ", " or ": " 或 "}
QUOTED = r"「\1」"
CLOSE = r"(?<=」) | (?=「)"  # 括號旁不留空格
