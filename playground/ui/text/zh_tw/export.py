"""匯出一次完成的執行。"""

from __future__ import annotations

TITLE = "帶走它：轉接器或合併後的模型"
INTRO = (
    "寫出的檔案會重新載入並回答保留資料；答案與該次執行自己的模型一致，才會提供下載。"
    "附有模型卡：設定、精度與損失，不含任何資料列。"
)
NOTHING_YET = "這個比較還沒有完成的執行，所以沒有東西可以帶走。"
ARM = "執行"
KIND = "內容"
KINDS = {
    "adapter": "轉接器，peft 格式",
    "merged-bf16": "完整模型，以 BF16 合併",
    "merged-fp16": "完整模型，以 FP16 合併",
}
MAKE = "製作並檢查"
PICK_ONE = "請先選一次執行。"
SEED = "{label}，種子 {seed}"
DOING = "{doing}…"
DONE = "已驗證，可在下方取得。"
READY = "可以下載"
READY_LINE = "{arm}：{kind}"
DOWNLOAD = "下載（{size} MiB）"
VERIFIED = "已驗證，logits 最多相差 {largest}"
VERIFIED_EXACT = "已驗證，logits 逐位元相同"
UNPACKED = "在該次執行的資料夾中；要合成一個檔案，請再製作一次"
