"""分享頁面的文字：登入、訪客、連結。"""

from __future__ import annotations

LOG_IN = "登入"
LOG_OUT = "登出"
LOGGED_IN_AS = "已登入為 {name}"
WATCHING = "你正在觀看。開始、停止與任何更動都需要登入。"
LOG_IN_TO_START = "登入後才能開始"
LOG_IN_FIRST = "這會更動這裡的東西，所以需要登入：請用最上方的「登入」。"
BUSY = "其他觀看的人也在要求同樣的東西；請稍後再試，或登入。"

LOGIN_TITLE = "登入 FP4 Playground"
LOGIN_INTRO = "觀看不需登入；開始、停止與更動才需要。"
NAME = "名稱"
PASSWORD = "密碼"
BACK = "不登入，回到頁面"
WRONG = "名稱與密碼不符；請再試一次。"
TOO_OFTEN = "這個名稱輸錯密碼太多次；請等 {seconds} 秒再試。"

REFUSED = "這會更動東西，所以需要登入。"
CROSS_SITE = "這是另一個網站送來的；頁面只執行自己送出的要求。"
TOO_LARGE = "檔案最大 {most} MiB；請一次送一個，並註明長度。"
NOT_SERVED = "頁面用不到這個，所以不提供。"

SHARE_HELP = "透過 Gradio 的通道開一個公開連結；更動任何東西都需登入"
LOGIN_HELP = "更動任何東西都需登入；用 --share 或對外的 --host 時一律如此"
USERS_HELP = "誰可以登入：一個檔案，每行 name:hash;`python -m playground user NAME`"
OPENING = "正在透過 Gradio 的通道開啟分享連結…"
SHARED = "任何人都能在 {url} 觀看"
SHARE_EXPIRES = "連結是暫時的：Gradio 最多一週後就會關閉；頁面關了，它也就沒了。"
LOGIN_ASKED = "要開始、停止或更動任何東西的人，請以這些名稱登入：{names}"
GENERATED = "以 {name} 登入，密碼 {password}  （這次啟動時產生，只顯示一次）"
NO_TUNNEL = (
    "無法開啟分享連結：{why}。頁面只在這台機器上提供；"
    "要給別人看一個比較，請把它寫成一個檔案：{report}"
)
WHY_NO_SERVER = "連不上 Gradio 的分享伺服器，可能沒有網路"
WHY_NO_CLIENT = "無法下載通道程式（frpc）"
WHY_NOT_GENUINE = "下載到的通道程式（frpc）與 Gradio 擔保的不符"
WHY_NO_FOLDER = "啟動頁面的資料夾無法寫入，而憑證要放在那裡"
WHY_REFUSED = "分享伺服器沒有接受這個通道"
WHY_SLOW = "分享伺服器在 {seconds} 秒內沒有回應"
WHY_OTHER = "通道以 {error} 結束"
