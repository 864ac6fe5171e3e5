"""表單上關於模型的文字。"""

from __future__ import annotations

CHOICE_HERE = "{name} · {size}，在這台機器上"
CHOICE_HUB = "{name} · 需下載 {size} · {licence}"
CHOICE_GATED = "{name} · 需下載 {size} · {licence}，需同意條款"

HERE = "在這台機器上"
PLACES = {
    "bundled": "專案內附",
    "package": "來自已安裝的套件",
    "folder": "這台機器上的資料夾",
    "cache": "先前下載過",
    "hub": "在 Hugging Face hub 上",
}
SEE_MODEL = "這個模型不能用；請看「模型」。"
TO_FETCH = "需下載"
GATED = "需同意條款"

PARAMETERS = "參數"
SIZE = "大小"
LICENCE = "授權"
LENGTH = "最多讀取"
TOKENS = "{count:,} 個詞元"
TEMPLATE = "對話範本"
OWN_TEMPLATE = "自帶"
NO_TEMPLATE = "無：對話以純文字寫出"
WHERE = "位置"

HOW_TO_LOG_IN = (
    "要先接受它的條款：開啟 {page} 並接受，再於這台機器以 {command} 登入，或設定 {variable}。"
)
MAY_ASK = "它的頁面可能要求先接受條款。"
PAGE = "它在 hub 上的頁面"
UNKNOWN = "不在清單中：大小與能否讀取，要等執行時下載才知道。"
OFFLINE = "已設定 HF_HUB_OFFLINE，無法下載；可用這台機器上的模型。"
NOT_FOR_VISITORS = "不在清單中的模型只給登入的人看；請登入，或從清單選一個。"
NOT_FETCHED = (
    "這個模型還不在這台機器上，也不會為訪客下載；可由架設此頁面的人先執行一次來下載，"
    "或選一個已在這台機器上的模型。"
)
