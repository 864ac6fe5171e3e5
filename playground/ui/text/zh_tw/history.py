"""歷史頁的文字：清單、單一比較的名稱與去留，以及並列的執行。"""

from __future__ import annotations

TAB = "歷史"
HEADING = "過去的比較"
INTRO = (
    "開啟一個比較，重看它的圖表與結論；勾選二到八次執行，把曲線疊在一起；"
    "或管理一個比較：名稱、備註、繼續、再跑一次、刪除。"
)
EMPTY = "這裡還是空的：在「比較」頁或終端機開始的，都會保存並列在這裡。"
NOTHING_LIKE_IT = "沒有這樣的比較；請拿掉一個篩選條件。"

# 篩選。
FILTERS = "篩選清單"
WORDS = "尋找"
WORDS_INFO = "在名稱、備註、預設組合、模型、資料或 id 中"
PRECISION = "含有這種精度"
STATUS = "含有這種狀態"
ANY = "不限"
SINCE = "從"
UNTIL = "到"
DAY_INFO = "日期，例如 2026-01-31"
BAD_DAY = "「{field}」是「{value}」；日期請寫成 2026-01-31 的樣子，或留空。"

# 清單。
COLUMNS = {
    "started": "開始時間",
    "title": "比較",
    "model": "模型、資料與步數",
    "state": "執行",
    "difference": "保留資料損失之差",
}
SORT_BY = "依{column}排序"
MANAGE = "管理"
MANAGE_ONE = "管理 {title}"
TICK = "把 {title} 的 {run} 與其他的疊在一起"
RUNS_OF = "{label} × {count}"
DIFFERENCE = "{value} nats"
PAGE = "第 {first} 到 {last} 個，共 {total} 個"
NEWER = "上一頁"
OLDER = "下一頁"
PAGES = "清單的頁次"

TICKED = {
    "none": "勾選二到八次執行，即可疊在一起看。",
    "one": "已勾選 1 次：再勾一次。",
    "several": "已勾選 {count} 次。",
    "lay": "疊在一起看",
    "clear": "清除",
}

# 單一比較。
CLOSE = "關閉"
TITLE = "名稱"
NOTE = "備註"
NOTE_INFO = "寫給自己；也能搜尋到"
SAVE = "儲存名稱與備註"
SAVED = "「{title}」的名稱與備註已儲存。"
OPEN = "在「比較」頁開啟"
RESUME = "繼續"
RESUMED = "它繼續跑了，或正在等待輪到它。"
SHOW_IT = "顯示它"
GONE = "比較「{group}」已經不在；它被刪除了。"
AGAIN_HEADING = "改一項設定再跑一次"
AGAIN_SETTING = "更改"
AGAIN_VALUE = "改成"
AGAIN_VALUE_INFO = "目前：{value}"
AGAIN = "填入表單"
AGAIN_NOT_CHOSEN = "「更改」是空的；請選擇要改哪一項設定。"
AGAIN_SAME = "「{label}」已經是 {value}；請給別的值。"
AGAIN_FILLED = "表單已填入「{title}」的設定，其中「{label}」由 {old} 改為 {new}。請在下方開始。"
NOTHING = "空值"

# 刪除。
DELETE = "刪除…"
DELETE_HEADING = "要刪除「{title}」嗎？"
DELETE_GOES = (
    "{runs}，連同每一步與每個數字、{adapters}，以及磁碟上的 {size} MB，都會永久刪除，無法復原。"
)
ONE_RUN = "1 次執行"
SEVERAL_RUNS = "{count} 次執行"
NO_ADAPTER = "沒有轉接器"
ONE_ADAPTER = "1 個轉接器"
SEVERAL_ADAPTERS = "{count} 個轉接器"
DELETE_FOR_GOOD = "永久刪除"
KEEP = "保留"
DELETED = "「{title}」已刪除。"

# 並列的執行。
OVERLAY_HEADING = "{count} 次執行疊在一起"
OVERLAY_RUN = "{label}，種子 {seed}"
OVERLAY_FEW = "網址指定了 {count} 次執行；請在清單勾選二到八次。"
OVERLAY_GONE = "這些執行剩下不到兩次，有 {count} 次已刪除；請在下方勾選別的。"
OVERLAY_LEFT = "網址裡另有 {count} 次已刪除，略去不計。"
NOT_CONTROLLED = "不是對照比較。這些執行的 {names} 不同：曲線的差異可能來自其中任何一項。"
NOT_PROVED = "不是對照比較，雖然設定一致。{problem}"
ONLY_PRECISION = "它們只有精度不同，所以這是對照比較。"
ALIKE = "它們的設定相同，所以這裡看得出重複之間相差多少。"
SEED_TOO = "種子"
DIFFERENCES = "它們的不同之處"
SETTINGS_DIFFER = "設定"
ENVIRONMENT_DIFFERS = "執行環境"
NO_DIFFERENCE = "設定與機器的紀錄都沒有不同。"
NOT_RECORDED = "沒有紀錄"
