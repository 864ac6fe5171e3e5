"""報告，以及提供報告的區段。"""

from __future__ import annotations

HEADING = "可以分享的報告"
INTRO = (
    "一個不需網路、從磁碟就能開的 HTML 檔，或只有數字。"
    "不含資料夾、存取權杖、你與這台機器的名稱，也不含任何資料列。"
)
INTRO_ROWS = (
    "一個不需網路、從磁碟就能開的 HTML 檔，或只有數字。"
    "不含資料夾、存取權杖、你與這台機器的名稱；含有保留資料的列。"
)
WITH_ROWS = "附上保留資料的列與答案"
FORMATS = {"html": "報告（HTML）", "json": "JSON", "csv": "CSV"}
ROWS_FOR_OWNERS = "請先登入：資料列只給可以更動這裡的人。"
BUSY = "其他人也在索取報告；請一分鐘後再試。"
UNKNOWN = "沒有這份報告。"
NO_ROOM = "這台機器的磁碟沒有空間寫報告；請騰出空間再試。"

TITLE = "{title}：FP4 Playground 的比較"
MADE_BY = "FP4 Playground"
SETTINGS_LINE = "{model}，{dataset}，各 {steps} 步"
PRESET = "預設組合 {preset}"
RAN_ON = "在 {device} 上，{how}"
HELD_AT = "{time} 開始"
STILL_RUNNING = "寫這份報告時，它還在跑。"
HOW = "各自如何執行"
CHARTS = "損失、吞吐量與記憶體"
CHARTS_THINNED = "步數多時最多畫 {count} 步；JSON 與 CSV 報告含有全部。"
NO_SCRIPT = "圖表由這個檔案裡的指令碼繪製；這個瀏覽器不執行指令碼。"
DETAILS = "所有數字，與公平性的證明"
MEMORY = "記憶體，預測與實測"
ROUNDING = "捨入誤差"
COVERAGE = "轉換了什麼，什麼維持原樣"
COMMAND = "再做一次"
COMMAND_INFO = "請在專案資料夾中執行。"
BROUGHT = "請先把製作者自備的檔案放進該資料夾：{names}。"
SETTINGS = "設定"
ENVIRONMENT = "裝置與環境"
NOT_SET = "無"
MESSAGES = "執行時說了什麼"
ROWS = "保留資料的列與答案"
NO_ROWS = "沒有保留資料的列被完整作答。"
