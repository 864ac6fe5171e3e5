"""表單上關於資料集的文字：上傳，以及各欄位的意義。"""

from __future__ import annotations

UPLOAD = "上傳檔案"
UPLOAD_INFO = "JSONL、JSON、CSV、TSV、Parquet 或純文字，也可壓縮成 .gz 或 .zst；最大 {most} MiB。"
UPLOAD_WAITING = "正在檢查「{name}」…"
UPLOADED = "「{name}」已存放在這台機器上，現在就是資料集。"
UPLOAD_CHOICE = "{name}（已上傳）"
NOT_ARRIVED = "檔案沒有完整送達；請再選一次。"

COLUMNS = "欄位"
COLUMNS_RECOGNISED = "欄位（自動辨認）：{mapping}"
COLUMNS_BY_HAND = "欄位（手動指定）：{mapping}"
COLUMNS_UNKNOWN = "欄位：請指定意義"
COLUMNS_OF_PART = "{part}取自 {column}"
COLUMNS_AND = "、"
COLUMNS_UNREAD = "欄位：未知"
NOT_FOR_VISITORS = "不在清單中的資料集只給登入的人看；請登入，或從清單選一個。"
COLUMN_NAME = "欄位"
COLUMN_EXAMPLE = "第一列的內容"
COLUMN_EMPTY = "（空白）"
NO_COLUMN = "–"
AS_RECOGNISED = "依自動辨認"
MORE_COLUMNS = "還有 {count} 個欄位"
PARTS = {
    "prompt": ("提示", "問的內容"),
    "input": ("脈絡", "接在提示之後"),
    "answer": ("答案", "要學的內容"),
    "system": ("系統", "放在提示之前"),
    "text": ("文字", "整段學習"),
    "messages": ("訊息", "一串對話"),
}
PART_WORDS = {
    "prompt": "提示",
    "input": "脈絡",
    "answer": "答案",
    "system": "系統",
    "text": "文字",
    "messages": "訊息",
}
KINDS = {
    "text": "文字",
    "number": "數字",
    "list": "清單",
    "object": "物件",
    "nothing": "空值",
}
NOT_RECOGNISED = "這些欄位沒有常見的名稱；請選擇文字、訊息，或提示與答案。"
INCOMPLETE = "一列可以只有文字、只有訊息，或是提示加答案；要湊成一列，請{missing}。"
CHOOSE_ALSO = "也選擇{part}"
TAKE_AWAY = "拿掉{part}"
TWICE = "{first}與{second}都取自「{column}」；請為其中一個改選別的欄位。"
NOT_TURNS = "「{column}」的第一列是{kind}，而訊息是一串對話；請改選別的欄位。"
NOT_TEXT = "「{column}」的第一列是{kind}，而{part}是文字；請改選別的欄位。"
NOT_THERE = "「欄位」設定要從「{column}」取{part}，但這裡沒有這個欄位。"
