"""預覽的文字。"""

from __future__ import annotations

FATES = {
    "training": "用於訓練",
    "held out": "保留作評估",
    "no answer": "略去，沒有可學的內容",
    "a tool call": "略去，其中有一則回覆只呼叫工具，沒有說話",
    "a copy": "略去，與另一列相同",
    "not needed": "這次執行用不到",
    "too long": "捨棄，超過上限",
    "nothing to learn": "捨棄，上限之內沒有可學的內容",
}
TEMPLATES = {
    "own": "各列以模型自己的對話範本寫出。",
    "plain": "模型沒有對話範本，所以各列寫成 User: ... Assistant: ... 的樣子。",
    "none": "各列寫出時不用對話範本。",
}
STATES = {"learned": "學習", "not learned": "不學習", "cut": "截去"}
RECOGNISED = "辨認為 {name}：{columns}。{template}"
COLUMN = "{part} 取自「{column}」"
COMMA = "，"
ROW = "{count:,} 個詞元：{states}{shown}"
STATE = "{count:,} 個{state}"
FIRST_SHOWN = "；顯示前 {count:,} 個"
COUNTS = {
    "read": "讀取的列",
    "no_answer": "捨棄：沒有答案",
    "duplicates": "捨棄：與其他列重複",
    "too_long": "捨棄：超過上限",
    "nothing_to_learn": "捨棄：上限之內沒有可學的內容",
    "unused": "這次執行用不到",
    "kept": "留用",
    "cut": "其中截到上限",
    "train": "其中用於訓練",
    "eval": "其中保留",
    "tokens": "一輪的詞元",
    "learned": "其中學習的",
    "steps": "一輪的步數",
    "run_steps": "這次執行的步數",
    "longest": "最長的批次",
}
BATCH = "{rows:,} × {tokens:,} 個詞元"
LENGTHS = "各列長度的中位數是 {median:,g} 個詞元，最長 {longest:,} 個；上限是 {limit:,}。"
MORE = "執行時讀取的列比這裡看過的多，所以數目只計前面的部分。"
