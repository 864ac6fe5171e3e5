"""執行與預覽都會說的句子，關於資料列。"""

from __future__ import annotations

FEW_HELD_OUT = "只保留了 {count} 列來評估，量到的差異說明不了什麼；請多保留一些。"
