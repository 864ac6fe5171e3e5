"""表單上估計記憶體的文字。"""

from __future__ import annotations

DEVICE = "要放在"
THIS_MACHINE = "這台機器"
DEVICE_CHOICE = "{name}，{memory}"
ASK = "放得下嗎？"
WAITING = "正在估計 {model} 在各精度所需的記憶體…"
WAITED = "已過 {time}"
LOG_IN = "登入後即可估計記憶體。"
ON = "{model} 在 {device}（{memory}）上；每次前向 {sequences} × {tokens} 個詞元，{how}"
WITH_CHECKPOINTING = "使用梯度檢查點"
WITHOUT_CHECKPOINTING = "不用梯度檢查點"
FREE = "可用 {memory}"
MEMORY_UNKNOWN = "記憶體大小未知"
PRECISION = "精度"
PEAK = "峰值"
NEEDED = "合計"
VERDICT = "結論"
VERDICTS = {
    "fits": "放得下",
    "tight": "很緊",
    "does not fit": "放不下",
    "unknown": "未知",
}
PARTS_FOLD = "各部分，以 MiB 計"
PARTS = {
    "weights": "權重",
    "adapters": "轉接器",
    "optimizer": "最佳化器",
    "gradients": "梯度",
    "activations": "活化值",
    "work": "logits 與工作空間",
}
ASSUMED = (
    "合計：張量的峰值、單一運算的工作空間，加上行程與函式庫的 {overhead}。"
    "超過記憶體的 {share} 算是很緊。實際執行時會依資料中最長的列重新估計。"
)
BY_CATALOG = "模型不在這台機器上；結構取自型錄。"
HEALS = "{label} 會切換精度，所以以 {other} 計。"
WEIGHTS = "只計權重，在 GPU 上：{each}。"
AND = "、"
WEIGHTS_IN = "{label} 為 {size}"
GIB = "{size} GiB"
MIB = "{size} MiB"
