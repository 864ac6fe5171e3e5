"""Compare 與整個頁面的文字；名稱與英文的 ``playground/ui/text/`` 一一對應。

用語（臺灣慣用，整個頁面一致）：

- token 詞元、tokenizer 分詞器、step 步、batch 批次、row 列、column 行（表格的欄名是「欄位」）
- weight 權重、activation 活化值、gradient 梯度、loss 損失、learning rate 學習率、seed 種子
- adapter 轉接器、base 基底、fine-tuned 已微調、checkpoint 檢查點、held-out 保留（資料、列）
- precision 精度、rounding 捨入、scale 縮放因子、block 區塊、tensor 張量、quantised 量化
- native 原生、emulated 模擬、weight-only 僅權重、heal 切換精度、kernel 核心函式
- run 執行、comparison 比較、preset 預設組合、verdict 結論、process 行程、log 紀錄
- 全形標點；中文與拉丁字母、數字之間空一格，括號與引號旁不空。
"""

from __future__ import annotations

TITLE = "FP4 Playground"
TAGLINE = "4 位元訓練的代價是什麼？換來什麼？訓練兩次就知道。"
EMULATED_HERE = "損失曲線是真的；但這裡的速度不代表 GPU 的表現。"
DECODED_HERE = "{native} 以原生方式執行；4 位元數字則解碼或模擬，每次執行都會註明。"
FP4_HERE = "{native} 以原生方式執行；4 位元乘法在通過自我檢測後啟用，每次執行都會註明。"

COMPARE_TAB = "比較"

# 設定一次比較。
FORM_HEADING = "或自行設定"
BASED_ON = "以預設組合 {name} 為基礎：沒有更改的部分維持原樣。"
MODEL = "模型"
MODEL_INFO = "從清單選擇，或輸入本機資料夾、Hugging Face id"
DATASET = "資料集"
DATASET_INFO = "從清單選擇，或輸入本機檔案、資料夾、Hugging Face id"
PREVIEW = "預覽要學的內容"
PREVIEW_WAITING = "正在讀取資料並轉成詞元，需要幾秒鐘…"
PREVIEW_OF = "{model} 所讀到的 {dataset}"
PREVIEW_TOKENS = "詞元："
PREVIEW_LENGTHS = "各列的長度（以詞元計）"
PREVIEW_BIN = "{from}–{to} 個詞元：{rows:,} 列"
PREVIEW_LIMIT = "上限 {limit:,}"
PRECISION = "精度"
PRECISIONS = "精度"
PRECISIONS_INFO = "每種精度各跑一次，依序進行；其餘設定完全相同。"
SEEDS = "種子數"
SEEDS_INFO = "每種精度跑幾次；3 次可看出雜訊"
RUN_TITLE = "名稱"
RUN_TITLE_INFO = "方便之後找到。留空則用預設組合的名稱。"
ADVANCED = "進階設定"
START = "開始比較"
STOP = "停止"
SET_UP_AGAIN = "用同樣的設定再來一次"
SET_UP_FROM = "表單已填入「{title}」的設定；想改哪裡就改哪裡。"
STOPPING = "正在停止…"
PAUSE = "暫停"
PAUSING = "正在暫停…"
RESUME = "繼續"
NO_PRECISION = "「精度」是空的，沒有東西可跑；請至少勾選一種，要比較就勾選兩種以上。"
STARTED_AGAIN = "同樣的比較已在執行或等待中，所以沒有再次啟動。"
QUEUED_BEHIND = "它在等 {titles} 結束：一次只跑一個比較。"
AND = "、"
COMMA = "、"
CLAUSES = "，"
SEMICOLON = "；"
QUOTED = "「{words}」"
BETWEEN = ""
WAIT_FOR_THIS = "還有 {count} 個在等：一次只跑一個比較。"
QUEUE = "執行中與等待中"
SHOWN_HERE = "目前顯示"

# 觀看。
EMPTY_TITLE = "還沒有執行過"
EMPTY_TEXT = "在任一預設組合按下開始。每種精度的損失、吞吐量與記憶體會逐步畫在這裡，最後給出結論。"
DELETED_GROUP = "比較「{group}」已刪除；請到「歷史」選另一個。"
UNKNOWN_GROUP = "沒有叫做「{group}」的比較；請到「歷史」選一個。"
OTHER_LIVE = "另一個比較正在執行：{title}。"
OTHER_LIVE_LINK = "顯示它"
PERMALINK = "這個比較的連結"
SET_UP_ANOTHER = "設定另一個"
STEPS_OF_EACH = "各 {steps} 步"
STATUS_WORDS = {
    "queued": "等待中",
    "running": "執行中",
    "finished": "完成",
    "stopped": "已停止",
    "paused": "已暫停",
    "failed": "失敗",
    "diverged": "發散",
    "interrupted": "中斷",
}
WAITING_FOR_TURN = "等待輪到它"
STARTING = "啟動中"
WAITING_TO_GO_ON = "等待繼續"
STOP_ASKED = "這一步之後停止"
PAUSE_ASKED = "這一步之後暫停"
STEP_OF = "第 {step} / {total} 步"
ETA = "剩餘步數約需 {time}"
ETA_ALL = "{count} 次執行的剩餘步數合計約需 {time}；載入與評估另計。"
DURATION = {
    "s": "{s} 秒",
    "min": "{min} 分鐘",
    "min s": "{min} 分 {s} 秒",
    "h": "{h} 小時",
    "h min": "{h} 小時 {min} 分",
}
FINISHED_IN = "花了 {time}"
FINISHED_AGAIN_IN = "繼續之後花了 {time}"
FINISHED_OF = "已完成 {done} / {count}"
SEED_DOES = "種子 {seed}：{doing}"
AFTER_STEP = "在第 {step} 步之後"
BEFORE_STEPS = "在第一步之前"
OF_SEEDS = "，種子 {seeds}"
CAN_RESUME = "「繼續」會以同樣的設定，從最後一個檢查點接著跑。"
REST_GOES_ON = "其他的會繼續跑。"
ENDED_AFTER = "經過 {time}"
ENDED_WHILE = "經過 {time}，當時正在{stage}"
ARMS_HEADING = "各精度的進度"

HOW_WORDS = {
    "native": "原生",
    "weight-only": "僅權重",
    "emulated": "模擬",
}
HOW_EXPLAINED = {
    "native": "硬體直接以這種格式做乘法。",
    "weight-only": "W4A16：權重以 4 位元儲存，使用時解碼；乘法為 16 位元。",
    "emulated": "數字逐位元捨入到該格式，乘法以 fp32 進行。損失是真的，速度與記憶體峰值則不作數。",
}

CHARTS = {
    "how": HOW_WORDS,
    "x": "步",
    "missing": "未測量",
    "no_points": "沒有資料點",
    "legend": "顯示的精度",
    "toggle": "顯示或隱藏這個精度",
    "axis": "圖表的橫軸",
    "axes": {"step": "步", "tokens": "詞元", "time": "秒", "energy": "焦耳"},
    "axis_notes": {
        "time": ["只計訓練步的秒數", "模擬步的秒數：不代表速度"],
        "energy": ["只計訓練步的焦耳數", "模擬步的焦耳數：不作數"],
    },
    "smoothing": "平滑",
    "smooth_none": "無",
    "smooth_over": "約 {count} 步",
    "key_average": "約 {count} 步的平均",
    "averaged": "平均 {value}",
    "at_step": "第 {step} 步",
    "peak": "至今最高 {value}",
    "values": "數值表",
    "values_newest": "最新的數值；圖上的十字線會顯示該步的數值。",
    "log": "對數刻度",
    "reset": "重設縮放",
    "key_line": "訓練，每一步",
    "key_mean": "訓練，各次重複的平均",
    "key_repeat": "每次重複",
    "key_point": "保留資料，間隔評估",
    "held_out": "{label} 保留資料",
    "hint": "在圖上拖曳即可放大：損失軸會從曲線所在處開始。連按兩下可看回全部。",
    "keys": "方向鍵讀取數值，加減鍵縮放，Escape 顯示全部。",
    "marks": {
        "not finite": "不是有限數",
        "skipped update": "略過更新（溢位）",
        "ended": "提早結束",
        "out of memory": "記憶體不足",
        "healed": "已切換精度",
        "resumed": "已繼續",
    },
}
NO_METER = "未測量：耗能要向 NVIDIA GPU 的驅動程式詢問，而這些是在 CPU 上跑的。"
NO_ENERGY = "未測量：這些執行都沒有讀取電表。"
MARK_HEALED = "切換精度：從這裡起為 {label}"
MARK_RESUMED = "繼續：新行程的第一步"
CAUSE_WORDS = {
    "out of memory": "記憶體不足",
    "not finite": "損失不是有限數",
    "refused": "被拒絕",
    "killed": "被外部終止",
    "crashed": "當掉",
    "lost": "行程消失",
}
REPEATED = "{label} × {count}"
SEED_OF = "{label}，種子 {seed}"
RUN_OF = "{label}，種子 {seed}，「{title}」"
PANELS = {
    "loss": ("損失", "每詞元 nats", "還沒有損失", "沒有測得損失"),
    "tokens_per_s": ("吞吐量", "詞元/秒", "還沒有吞吐量", "沒有測得吞吐量"),
    "memory_mib": ("步與步之間的記憶體", "MiB", "還沒有記憶體讀數", "沒有測得記憶體"),
}
EMULATED_NOTE = "模擬：不代表速度"
EMULATED_MEMORY_NOTE = "模擬"
EVAL_POINT = "{label}：第 {step} 步的保留資料損失為 {loss}（{when}）"
EVAL_MEAN = "，{count} 次的平均，{low} 到 {high}"
WHEN_WORDS = {"before": "訓練前", "during": "訓練中", "after": "訓練後"}

# 結果。
VERDICT = "結論"
VERDICT_REST = "所有發現"
TILE_BAND = "。95 %：{low} 到 {high}，依據{over}"
OVER_SEEDS = " {count} 個種子"
OVER_ROWS = "單一種子的保留資料"
TILE_LOSS = "保留資料損失"
TILE_SPEED = "速度"
TILE_MEMORY = "記憶體峰值"
TILE_WEIGHTS = "凍結的權重"
TILE_MINUS = "{candidate} 減 {baseline}，nats"
TILE_OVER = "{candidate} 比 {baseline}"
TILE_BITS = "{candidate} 每個權重，由張量計得"
TILE_BITS_VALUE = "{bits} 位元"
NO_FINAL_LOSSES = "沒有兩個最終損失"
NOT_COMPARED = "未比較"
RAN_EMULATED = "以模擬執行"
NOT_MEASURED = "未測量"
EM_DASH = "–"

DETAILS = "細節與公平性的證明"
COVERAGE = "逐層列出轉換了什麼"
LOG = "紀錄"
LOG_EMPTY = "還沒有內容：執行時說的與印出的會顯示在這裡。"
LOG_STARTED = "{time} 開始"
LOG_HELD_OUT = "{when}保留資料損失 {loss}，在第 {step} 步之後"
LOG_EXACT = "{said}；{count} 個答案中 {share} 完全正確"
LOG_STEPS = "第 {step} / {total} 步，損失 {loss}"
LOG_ENDED = "{state}：{why}"
LOG_PRINTED = "{label} 最後印出："
COMMAND = "在終端機做同樣的事"
COMMAND_INFO = "請在專案資料夾中執行。"

ROWS = {
    "requested": "要求的精度",
    "effective": "實際的精度",
    "how": "執行方式",
    "eval": "保留資料損失",
    "exact": "完全正確的答案",
    "train": "訓練損失",
    "throughput": "每秒詞元",
    "step_ms": "每步時間",
    "weights": "靜置的權重",
    "bits": "每個轉換權重的位元數",
    "adapters": "轉接器",
    "optimizer": "最佳化器狀態",
    "peak": "記憶體峰值",
    "energy": "訓練步的耗能",
    "reserved": "保留記憶體峰值",
    "parameters": "訓練的參數",
    "converted": "轉換的線性層",
    "rows": "資料列",
    "skipped": "略過的更新",
    "batches": "批次（雜湊）",
    "adapter": "轉接器起點（雜湊）",
}
ENERGY_A_TOKEN = "每詞元 {joules} J；{source}"
EMULATED_FIGURE = "以模擬執行：不作數"
MEDIAN_OF = "{count} 步的中位數，不計 {warmup} 個暖身步"
CONVERTED_OF = "{total} 層中的 {converted} 層，占其權重的 {share}"
ROWS_USED = "訓練用了 {seen} 列"
ROWS_THERE = "可訓練 {train} 列；保留 {eval} 列"
SAME_BATCHES = "批次相同"
SAME_ADAPTER = "轉接器起點相同"
ONLY_PRECISION = "只有精度不同"
FAIR_YES = "是"
FAIR_NO = "否"
FAIR_UNKNOWN = "兩者都完成後才知道"
FAIR_NOT_RECORDED = "不知道：不是每次都完成"
OTHER_DIFFERENCES = "不同之處：{names}"
SIDEWAYS = "橫向滑動表格可看全部 {count} 次執行。"
ONE_ARM = "只有一種精度"
COVERAGE_SOME = "{label}：{converted} 個線性層{formats}；維持原樣的有："
COVERAGE_ALL = "{label}：全部 {converted} 個線性層{formats}；沒有維持原樣的。"
COVERAGE_FORMATS = "的權重為 {weights}，輸入的活化值為 {activations}"
COVERAGE_UNKNOWN = "{label}：模型載入後才知道。"
COVERAGE_NEVER = "{label}：不知道，因為模型載入前就結束了。"

MEASURED = "各類記憶體與捨入誤差"
MEMORY_HEADING = "記憶體用在哪裡（MiB）"
MEMORY_KINDS = {
    "weights": "凍結的權重",
    "adapters": "轉接器",
    "optimizer": "最佳化器",
    "gradients": "梯度",
    "activations": "活化值",
}
MEMORY_PREDICTED = "第一步之前的預測：峰值 {mib}"
MEMORY_PREDICTED_OFF = "第一步之前的預測：峰值 {mib}，實測 {measured}（{off}）"
MEMORY_PREDICTED_PART = "{kind} {mib}（{off}）"
MEMORY_UNKNOWN = "做完第一步後才知道。"
ROUNDING_HEADING = "捨入偏離多遠，‖捨入 − 精確‖ / ‖精確‖"
ROUNDING_UNKNOWN = "沒有查看。「測量」下的「每隔幾步看誤差」可設定多久看一次。"
TENSOR_WORDS = {"weight": "權重", "activation": "活化值", "gradient": "梯度"}
ZEROED = "{share} 變成 0"
HEALED_TO = "，切換到 {label}"
CROSSED = "各個完成的轉接器在其他基底上的保留資料損失"
ADAPTER_OF = "{label} 的轉接器"
ON_BASE = "在 {label} 上"
MERGED_INTO = "合併到 {label}"
TRAINED_ON = "如訓練時"

# 終端機（app.py）。
SERVING = "FP4 Playground 在 {url}  （按 Ctrl-C 結束）"
RUNS_KEPT = "執行結果存放在 {home}"
PORT_TAKEN = (
    "{host} 的連接埠 {port} 已被使用，無法在那裡提供頁面；"
    "請結束另一個程式，或改用其他連接埠：--port {other}"
)
HOST_UNKNOWN = "{host} 不是這台機器的位址（{reason}）；請用 127.0.0.1 或 0.0.0.0。"
PORT_FORBIDDEN = "你的使用者不能使用連接埠 {port}；請選 1023 以上的，例如 7860。"
START_HELP = "立刻開始這個預設組合，除非已有其他在跑"
OPEN_HELP = "有螢幕時，用瀏覽器開啟頁面"
BAD_PORT = "連接埠是「{value}」；必須是 1 到 65535 的整數。"
ALREADY_LIVE = "「{title}」已在執行，所以沒有啟動；頁面會顯示它。"
PRESET_STARTED = "已開始「{title}」。"
GOODBYE = "頁面已關閉。"
STILL_RUNNING = "「{title}」會繼續跑。再開頁面即可觀看，或用這個指令停止：{stop}"
WAITING_WILL_END = "還在佇列中等待的，沒有頁面就不會開始。"
