"""試用頁的文字。"""

from __future__ import annotations

TAB = "試用"
HEADING = "問它們同一個問題"
INTRO = (
    "未微調的基底與每個微調過的轉接器並排回答你的問題。模型放在獨立的行程裡；"
    "{minutes} 分鐘沒有問題就結束，有執行開始時則立刻結束。"
)
NOTHING_YET = (
    "還沒有完成的比較，所以沒有誰可以問。請在「比較」頁開始一個；"
    "其中一次執行完成後，它的轉接器就會在這裡回答。"
)
LINK = "試用"

GROUP = "比較"
GROUP_INFO = "有完成的執行者，最新的在前"
BESIDE = "以及這個比較的轉接器"
BESIDE_INFO = "同一個模型的另一個比較"
NOBODY = "沒有其他"
GROUP_CHOICE = "{title}（{when}）"
QUESTION = "問題"
QUESTION_INFO = "以各自資料列的範本提問。按 Shift+Enter 送出；留空則問所示的例子"
QUESTION_INFO_ALONE = "以各自資料列的範本提問。按 Shift+Enter 送出"
EXAMPLES = "保留資料中的問題，可直接選用"
SAMPLING = "答案如何選出"
FIELDS = {
    "max_new_tokens": ("答案的長度上限", "以詞元計；答案可能自行提早結束"),
    "temperature": ("溫度", "0 一律取最可能的詞元"),
    "top_p": ("Top p", "只從合計達到這個機率的最可能詞元中抽取"),
    "seed": ("種子", "每個回答者抽取的方式相同"),
}
ASK = "提問"
STOP = "停止"
GO_ON = "接著這些答案問下去"
NEW = "新的對話"
FREE = "釋放記憶體"
FREED = "模型已卸下，記憶體已釋放。"
NOTHING_HELD = "記憶體裡本來就沒有模型。"

ANSWERS = "答案"
EARLIER = "到目前為止的對話"
EARLIER_INTRO = "會與下一個問題一起送出；每個回答者讀到的是自己的答案。"
YOU = "你："
SYSTEM = "系統："
ALL_SAID = "全部："
UNTUNED = "{label}，未微調"
TUNED = "{label}，已微調"
TUNED_IN = "{label}，在「{title}」微調"
WAITING = "等待輪到它"
DOING = {"loading": "正在載入模型…", "answering": "正在回答…"}
TOKENS = "{count} 個詞元"
ONE_TOKEN = "1 個詞元"
ENDED = {
    "by itself": "自行結束",
    "at its limit": "到長度上限截斷",
    "stopped": "已停止",
}
TIMED = "{tokens}，{seconds} 秒"
SAID_NOTHING = "（沒有內容）"

ROWS_HEADING = "保留資料，訓練前後"
ROWS_INTRO = (
    "由每次執行自己以貪婪解碼寫出，在第一步之前與最後一步之後。「對」是指一字不差，頭尾的空白不計。"
)
NO_ROWS = (
    "沒有留下答案：這個比較沒有要求作答。請在「比較」頁的進階設定把「{setting}」設為大於 0，"
    "每次執行就會在訓練前後回答那麼多列保留資料。"
)
NO_QUESTIONS = "沒有留下答案：這個資料集的列是沒有提問的文字，或執行當時還不會保存答案。"
SCORE = "{label}：{count} 題中，訓練前對 {before} 題，訓練後對 {after} 題。"
SCORE_AFTER = "{label}：{count} 題中，訓練後對 {after} 題。"
SHOW = "顯示"
FILTERS = {"all": "全部", "wrong": "訓練後仍錯", "differ": "精度之間不同"}
NONE_SUCH = "沒有這樣的列。"
OTHER_ROWS = "其餘 {count} 列"
FIRST_SHOWN = "顯示 {count} 列中的前 {shown} 列。"
WHO = "精度"
BEFORE = "之前"
AFTER = "之後"
SHOULD_SAY = "應為"
RIGHT = "對"
WRONG = "錯"
NOT_ASKED = "沒有問"
LEGEND = "答錯時，{more}是多出來的，{less}是缺少的。"
LEGEND_MORE = "這樣"
LEGEND_LESS = "這樣"
