"""格式頁的文字：4 位元數字的顯微鏡。"""

from __future__ import annotations

TAB = "格式"
TITLE = "四個位元裝得下什麼"
INTRO = (
    "模型是數百萬個像 0.0213 這樣的數字。四個位元留不住一個數字：四位元的代碼只能表示十五個值，"
    "0、±0.5、±1、±1.5、±2、±3、±4、±6。所以相鄰的數字共用一個縮放因子，"
    "代碼乘以縮放因子就代表那個數字。這裡看得到損失了什麼，以及原因。"
)
EXAMPLE = (
    "舉例來說：十六個相鄰的數字中最大的是 0.12，它們的縮放因子就是 0.12 / 6 = 0.02，"
    "0.12 本身成為最大的值 6。數字 0.033 除以這個縮放因子是 1.65；最近的值是 1.5，"
    "解碼為 1.5 × 0.02 = 0.03：誤差是 −0.003。"
)
WORDS = "這裡用到的詞"
GLOSSARY = (
    ("區塊", "共用一個縮放因子的相鄰數字：NVFP4 是 16 個，MXFP4 是 32 個。"),
    ("張量", "一層的所有數字，也就是它的矩陣。"),
    (
        "E2M1 與 E4M3",
        "4 位元與 8 位元的浮點數：一個正負號，若干位元的指數（多大）與尾數（多細）。",
    ),
    ("N(0,1)", "沿鐘形曲線分布的亂數，權重與它相似；在這裡拿它當標準。"),
    ("相對誤差", "所有誤差與所有數字相比有多大：10 % 就是整體差了十分之一。"),
)
HOW = "以本專案的參考算術在 CPU 上計算，與執行時的捨入逐位元相同。"
HOW_LAYER = "權重取自模型檔案；以本專案的參考算術在 CPU 上捨入，與執行時逐位元相同。"

# 十六個數字。
NUMBERS_HEADING = "幾個數字"
NUMBERS = "你的數字"
NUMBERS_INFO = "16、32、48 或 64 個，以空格或逗號隔開；每 16 個為一個區塊"
LOOK = "看看"
EXAMPLES = {
    "gaussian": "高斯分布",
    "outlier": "一個離群值",
    "equal": "全部相等",
    "small": "小如梯度",
}
FROM_LAYER = "取自下方的層"
FORMAT = "顯示格式"
LABELS = {
    "nvfp4": "NVFP4",
    "nvfp4-four-over-six": "NVFP4，4/6",
    "nvfp4-search": "NVFP4，搜尋",
    "mxfp4": "MXFP4",
    "nf4": "NF4",
    "fp8": "FP8 E4M3",
}
WAITING = "正在捨入…"
KEY = {
    "value": "值",
    "scaled": "除以縮放因子",
    "code": "代碼",
    "decoded": "解碼為",
    "error": "誤差",
}
KEY_LINE = "每格由上而下：值、除以縮放因子、代碼、解碼後的值、誤差。"
CELL = "{value} 除以縮放因子為 {scaled}，代碼 {code}，解碼為 {decoded}：誤差 {error}"
BITS_KEY = "位元："
SIGN = "正負號"
EXPONENT = "指數"
MANTISSA = "尾數"
BLOCK_HEADING = "第 {number} / {count} 個區塊"
BLOCK_ALONE = "區塊"
SCALE = "區塊縮放因子"
SHARED_SCALE = "張量的縮放因子"
SCALE_OF_MORE = "區塊縮放因子，{of} 個數字共用"
TENSOR_SCALE = "張量縮放因子"
NO_TENSOR_SCALE = "無"
SCALE_IN_FP32 = "一個 fp32，32 位元"
BLOCK_ERROR = "區塊的誤差"
TIMES = "×"
RAIL = "上方是 {count} 個數字除以縮放因子，下方是代碼所代表的值；每個數字連到它的代碼"
RAIL_TOP = "除以縮放因子"
RAIL_BOTTOM = "代碼所代表的值"
NO_RAIL = "FP8 有 253 個值可捨入，多到畫不下；它的代碼是位元組。"
REFUSES = "這個格式要求列長能被 {block} 整除，所以放不下這一層。"
IN_EACH = "同樣的數字在各格式中"
EACH_COLUMNS = ("格式", "相對誤差", "區塊縮放因子", "張量縮放因子", "每個數字的位元數")
SCALES_MORE = "{first}，另有 {count} 個"
RELATIVE = "相對誤差是所有誤差的長度除以所有數字的長度；它的平方就是格式對照表所說的相對平方誤差。"

# 兩個問題。
QUESTIONS = "對這些數字提出的兩個問題"
QUESTIONS_OF_LAYER = "對這一層的 {values} 個值提出的兩個問題"
SIXTEEN = "為什麼 16 勝過 32？"
SIXTEEN_WHY = (
    "簡單說：受大鄰居拖累的數字較少，縮放因子也更合身。區塊裡最大的數字決定縮放因子，"
    "其他數字只能跟著一樣粗：NVFP4 有 15 個，MXFP4 有 31 個。但縮放因子也要跟得上。"
    "MXFP4 的是二的冪次（1、2、4 等等），最多差到兩倍，於是上端的值用不到，"
    "或超過 6 的數字被截掉。NVFP4 的是 E4M3 數字，誤差在 7 % 以內。"
)
SIXTEEN_GAUSS = (
    "在鐘形曲線 N(0,1) 上測量：用二的冪次時，每區塊 16 個的誤差是 {e8m0_16}，32 個是 {e8m0_32}："
    "區塊變小沒有好處。用 E4M3 時則是 {e4m3_16} 與 {e4m3_32}。"
    "所以 NVFP4 勝過 MXFP4 主要靠縮放因子的尾數，而 16 也是因此才划算。"
)
ARMS = {
    "e8m0_32": "32，二的冪次",
    "e8m0_16": "16，二的冪次",
    "e4m3_32": "32，E4M3",
    "e4m3_16": "16，E4M3",
}
ARM_IS = {"e8m0_32": "MXFP4", "e4m3_16": "NVFP4"}
ARM_BITS = "{bits} 位元"
ON_GAUSS = "標記處：N(0,1)"
SIXTEEN_FOUND = (
    "這些數字：用 E4M3 時，區塊減半{block_e4m3}（{e4m3_32} 到 {e4m3_16}）；"
    "用二的冪次時{block_e8m0}（{e8m0_32} 到 {e8m0_16}）。"
    "每區塊 32 個時，只換縮放因子的種類{kind}（{e8m0_32} 到 {e4m3_32}）。"
)
ONE_BLOCK = (
    "這裡是 16 個數字：32 的區塊看到的也是同樣的數字，所以無從比較。"
    "請用 32 個以上，例如「一個離群值」。"
)
NO_THIRTY_TWO = "這一層的列長不是 32 的倍數，所以沒有 32 的區塊可比較。"
LESS = "讓誤差降低 {by}"
MORE = "讓誤差增加 {by}"
SAME = "沒有差別"
SECOND = "第二個縮放因子有什麼用？"
SECOND_WHY = (
    "簡單說：它讓第一個縮放因子不超出範圍。區塊縮放因子本身只有 8 位元（E4M3），"
    "範圍大約從 0.002 到 448，在 0.016 以下很粗。模型的權重與梯度這麼小的數字需要更小的縮放因子；"
    "那些會變成 0，數字也跟著消失。張量縮放因子是整個矩陣共用的一個 32 位元數字，"
    "把它們全部移進範圍。它不會讓任何東西更精細：區塊縮放因子本來就在範圍內時，它沒有好處。"
)
SECOND_CURVE = (
    "同樣的數字放大縮小，以十的冪次變化：有張量縮放因子時誤差不變，"
    "沒有時只在大約 0.02 到 1,000 之間可用"
)
CURVE_X = "大小（均方根）"
CURVE_Y = "相對誤差"
WITH = "有張量縮放因子"
WITHOUT = "沒有：只有區塊縮放因子"
HERE = "你的數字"
PLACES = {1e-6: "梯度", 0.02: "權重", 1.0: "N(0,1)"}
SECOND_FOUND = "這些數字的大小是 {rms}：有張量縮放因子時為 {with_it}，沒有時為 {without}。"
SECOND_NOTHING = "在這裡沒有好處：區塊縮放因子本來就在 E4M3 的範圍內。"
SECOND_BUYS = "在這裡非有不可：沒有它，{shares}。"
SECOND_LITTLE = "在這裡有一點好處：沒有它，{shares}。"
SHARES = {
    "zero": "{share} 的區塊縮放因子捨入為 0，它們的數字就消失了",
    "subnormal": "{share} 的區塊縮放因子落在 0.016 以下，那裡 E4M3 的間隔很粗",
    "stopped": "{share} 的區塊縮放因子停在 448，超過它 6 倍的部分會被截掉",
}
ALL_ZERO = "所有數字都是 0，所以沒有東西可縮放。"

# 一層。
LAYER_HEADING = "一層"
MODEL = "模型"
MODEL_INFO = "從清單選擇，或輸入資料夾、.gguf 檔案、先前下載過的 Hugging Face id"
LAYER = "層"
LAYER_INFO = "先列模型各區塊的矩陣；嵌入層與輸出層在執行時維持 16 位元"
ROW = "列"
COLUMN = "行"
GO = "前往"
MEDIAN = "典型的區塊"
WORST = "最差的區塊"
RANDOM = "任一區塊"
NEXT = "下一個區塊"
NO_PLACE = "列或行是空的；兩者都請填從 0 起的整數。"
READING = "正在讀取模型；GGUF 檔案要先解碼，可能需要半分鐘…"
LAYER_FACTS = (
    "{rows} 列，每列 {columns} 個，以 {dtype} 儲存。標準差 {deviation}，最大 {amax}。"
    "這一層在 NVFP4 的誤差是 {error}。"
)
BLOCK_FACTS = (
    "第 {row} 列，第 {first} 到 {last} 行：這個區塊的誤差是 {error}，"
    "{blocks} 個區塊的中位數是 {median}；其中 {worse} 的誤差更大。"
)
FROM_GGUF = "權重取自 {file}，在那裡已捨入成該檔案的格式；原始權重的誤差會有所不同。"
VALUES_TITLE = "這一層的值，與這個區塊的十五個值"
VALUES_SAID = "這一層的值從 {low} 到 {high} 的直方圖；線是這個區塊的縮放因子所允許的十五個值"
BEYOND = "超出兩端的值：{count} 個，最大 {amax}。"
SCALED_TITLE = "同樣的值除以各自的縮放因子，放在格點上"
SCALED_SAID = (
    "這一層的所有值除以各自區塊的縮放因子後，從 -6.5 到 6.5 的直方圖；線是 E2M1 的十五個值"
)
SCALED_NOTE = "每個區塊最大的值都落在 ±6，兩端因此隆起。"

# 所有的層。
LAYERS_HEADING = "所有的層"
MEASURE = "測量 {model} 的每一層"
MEASURING = "已測量 {model} 的 {done} / {layers} 層…"
READING_ALL = "正在讀取 {model}…"
LAYERS_PLOT = "每一層在每種格式的相對誤差，從第一個區塊到最後一個；虛線：N(0,1)"
LAYERS_TITLE = "各層的相對誤差"
LAYERS_X = "{model} 的各層，依區塊編號排列"
GAUSSIAN = "N(0,1)"
TOGETHER = "所有層合計"
LAYERS_FOUND = (
    "{model} 的 {count} 個矩陣。虛線是 N(0,1)：落在上面的層與高斯分布無異，高於它的層尾部較重。"
)
LEFT_OUT = "未計入，因為執行時維持 16 位元：嵌入層與輸出層，共 {count} 個。"
KEPT = "先前測量過；依模型檔案的內容保存。"
HOVER = "把游標移上去，或把焦點放在圖上並用方向鍵，即可讀取每一層。"
TABLE_CAPTION = "相對誤差；按欄名可依該欄排序"
LAYER_COLUMN = "層"
SHAPE_COLUMN = "形狀"
NON_FINITE = "{count} 個值是 NaN 或無限大"
