"""預設組合卡片與自存預設組合的文字。"""

from __future__ import annotations

ANY_MACHINE = "任何機器都能跑"
FOR_A_GPU = "需要 GPU"
NO_GPU = (
    "{reason}這些模型就算放得下，在這裡也要跑好幾天。可以按「先調整」看它的設定；"
    "也能指定 GPU 名稱估計所需的記憶體。"
)
YOURS = "自己的"
YOURS_NONE = "還沒有：下方的表單可以把設定存成預設組合。"

START = "開始 {name}"
ADJUST = "先調整"
DELETE = "刪除"
DELETE_ONE = "刪除預設組合 {name}"
RENAME = "改名"
RENAME_ONE = "為預設組合 {name} 改名"
RENAME_HEADING = "預設組合「{name}」的新名稱"
RENAMED = "預設組合「{name}」現在叫「{new}」。"
EXPECT = "預期的結果"
NO_WORDS = "還沒有說明：請在 {file} 寫下這是什麼、預期什麼。"

FACTS = "{title} 在這台機器上"
TOOK = "{date} 在這裡花了 {time}"
TAKES = "{words}"
FETCHED = "會先從 Hugging Face hub 下載 {size}"
FETCHED_GATED = "會先從 hub 下載 {size}，需先在那裡接受條款並登入"
FETCHED_ROWS = "會先從 Hugging Face hub 下載資料列"
ITS_MODEL = "它的模型"
OFFLINE = "這裡沒有；因為設有 HF_HUB_OFFLINE，也無法下載"
TIME_UNKNOWN = "還不知道在這裡要跑多久：尚未執行過"
HOW = {
    "native": "{labels}：在這裡是原生",
    "weight-only": "{labels}：在這裡是僅權重",
    "emulated": "{labels}：在這裡是模擬",
}
HOW_IF = "{labels}：通過自我檢測後，在這裡是原生"
FITS = {
    "fits": "這台機器放得下",
    "tight": "很緊：幾乎占滿這台機器的記憶體",
    "does not fit": "這台機器的記憶體放不下",
    "unknown": "",
}
FITS_BUT = "{labels} {verdict}"
FITS_SHORT = {"fits": "放得下", "tight": "很緊", "does not fit": "放不下"}

# 存檔。
SAVE_HEADING = "存成自己的預設組合"
SAVE_NAME = "名稱"
SAVE_NAME_INFO = "小寫英文字母、數字、連字號"
SAVE = "存成預設組合"
SAVED = "已存為「{name}」。它列在「自己的」之下；在終端機則是：{command}"
REPLACE_HEADING = "要覆寫預設組合「{name}」嗎？"
REPLACE_SAID = "它的設定會變成表單上的設定；你為它寫的說明會留著。"
REPLACE = "覆寫"
DELETE_HEADING = "要刪除預設組合「{name}」嗎？"
DELETE_SAID = "檔案會永久刪除。由它開始的比較會留著。"
DELETE_FOR_GOOD = "永久刪除"
KEEP = "保留"
DELETED = "預設組合「{name}」已刪除。"

# 表單的步驟。
STEP_MODEL = "1. 模型"
STEP_DATA = "2. 資料"
STEP_SETTINGS = "3. 精度與設定"
