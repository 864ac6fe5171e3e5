"""結論的文字。"""

from __future__ import annotations

# 數字與列舉。
ALL_AND_LAST = "{all} 和 {last}"
COMMA = "、"
SEMICOLON = "；"
BETWEEN = ""
COUNTS = {
    "step": ("{count} 步", "{count} 步"),
    "token": ("{count} 個詞元", "{count} 個詞元"),
    "seed": ("{count} 個種子", "{count} 個種子"),
}
OVER_A_HUNDRED = "超過 10,000%"

# 比較到了哪裡。
NOTHING = "還沒有執行過。"
WAITING = "等待輪到它。"
RUNNING = "還在跑：已完成 {done} / {count}。"
SO_FAR = "到目前為止：{said}"
NO_TWO_LOSSES = "沒有兩個最終損失可以比較。"
ONLY_ONE = "只有 {label} 完成，保留資料損失為 {loss:.4f}{spread}。"
ONLY_ONE_UNJUDGED = "只有 {label} 完成；沒有測得保留資料損失。"
SINGLE = (
    "{label} 讓保留資料損失從 {before:.3f} 變為 {after:.3f}{spread}。只有一種精度，沒有對象可比。"
)
SINGLE_UNJUDGED = "{label} 已完成；沒有測得保留資料損失。"
SPREAD = " ± {spread:.4f}（{seeds} 個種子的標準差）"
YARDSTICK = "{first} 沒有完成，所以其他的改與 {baseline} 相比。"
FAILED = "{label}{seed} {at}{ended}{kind}{why}。"
FAILED_SEED = " 種子 {seed}"
FAILED_AT = "在第 {step} 步"
FAILED_BEFORE = "在第一步之前"
FAILED_KIND = "，{kind}"
FAILED_WHY = "（{why}）"
ENDED = {
    "stopped": "停止",
    "paused": "暫停",
    "failed": "失敗",
    "diverged": "發散",
    "interrupted": "中斷",
}
CAUSES = {
    "out of memory": "記憶體不足",
    "refused": "被拒絕",
    "killed": "被外部終止",
    "crashed": "當掉",
    "lost": "行程消失",
}
SKIPPED = "{label} 在 {steps} 次更新中略過了 {skipped} 次：縮放後的梯度溢位。"
HEALED = "{label} 切換過精度：從第 {step} 步起以 {to} 執行，所以速度與記憶體混合了兩者。"
HEALED_TO_HIGHER = "較高的精度"
AS_HEALED = "切換過精度的 {label}"

# 損失。
ENDS_AT = "{b} 的最終困惑度比 {a} {change}{doubt}（{band}）。"
ENDS_SAME = "{b} 的最終困惑度與 {a} 相同（{band}）。"
WITHIN_NOISE = "{b} 與 {a} 的差異在雜訊之內：困惑度{change}（{band}）。"
MAY_BE_CHANCE = "，但可能只是偶然"
NO_FINAL = "沒有最終損失可與 {baseline} 相比。"
OF_MANY = "{over}，困惑度與 {baseline} 相比：{parts}。"
CHANGED = "{label} {change}"
ARE_WITHIN = "{labels} 在雜訊之內"
ARE_OPEN = "{labels} 太接近，無法分辨"
ONE_SEED = "單一種子"
HIGHER = "高 {percent}"
LOWER = "低 {percent}"
THE_SAME = "相同"
SAME_LOSS = "{b} 的最終保留資料損失與 {a} 相同，都是 {loss:.4f}{noted}。"
LOSS_ABOVE = (
    "{b} 的最終保留資料損失為 {loss:.4f}，比 {a} 的 {base:.4f} 高 {delta:.4f} nats{within}{noted}。"
)
LOSS_BELOW = (
    "{b} 的最終保留資料損失為 {loss:.4f}，比 {a} 的 {base:.4f} 低 {delta:.4f} nats{within}{noted}。"
)
AND_WITHIN = "，在雜訊之內"
NOTED = "（{notes}）"
PERPLEXITY = "困惑度{change}"
BAND = "95%{over}：{low} 到 {high}"
BAND_NATS = "95%{over}：{low} 到 {high} nats"
OVER_ROWS = "，依保留資料各列"
NOT_FINITE = "最終保留資料損失不是有限數（{ends}）。"
NO_COMMON_SEED = "{b} 與 {a} 沒有共同完成的種子。"
UNJUDGED = "{b} 與 {a} 完成時沒有保留資料損失可比較。"
CLAIM_ONE_SEED = "常有人說代價不到 1%；單一種子無法判斷，請用 --seeds 3 重複。"
CLAIM = "常有人說代價不到 1%，是這樣嗎？以困惑度計，95%：{parts}。"
CLAIM_ANSWERS = {"yes": "是：{names}", "no": "否：{names}", "open": "未定：{names}"}
CLAIM_REACH = {
    "yes": "{label}（最多 {high}）",
    "no": "{label}（至少 {low}）",
    "open": "{label}（{low} 到 {high}）",
}
SHARE = "{label} 的損失本身{change}{band}{near_zero}。"
NEAR_ZERO = "，但這是相對於接近零的損失"
EXACT = "完全正確的答案：{parts}。"
EXACT_OF = "{label} 從 {before:.0%} 到 {after:.0%}"
BASIS_ONE = "各跑一次{judged}：種子之間的差異沒有測量。"
BASIS = (
    "各以種子 {seeds} 執行{judged}；{label} 的 95% 雜訊，種子之間為 ±{between:.4f} nats"
    "{rest}。{chance}"
)
JUDGED = "，以 {tokens} 個保留資料詞元評估{over}"
OF_ROWS = "（{rows} 列）"
PAIRED = "，逐列配對則為 ±{half:.4f}"
UNPAIRED = "；逐列則沒有測量：{why}"
UNPAIRED_WHY = {
    "not kept": "沒有保存每一列的損失",
    "others": "保留資料不是同一批",
    "tokens": "保留資料要預測的詞元不同",
    "one": "只有一列保留資料，看不出離散程度",
}
UNPAIRED_NOT_FINITE = "不是有限數"
CHANCE = "以 95% 做 {count} 次比較，很可能有一次只是偶然不同。"

# 目標。
TO_TARGET = "達到保留資料損失 {target:g}（{looked}查看）：{parts}。{apart}"
LOOKED_EVERY = "每 {steps}"
LOOKED_AT_ENDS = "只在訓練前後"
TARGET_APART = "有執行是模擬，所以不比較秒數與焦耳。"
TOOK = "{labels}：{took}"
NEVER = "沒有達到"
IN_SEEDS = "{took}（{seeds} 個種子中的 {reached} 個）"
RATIOS = "（{parts}）"
RATIO_FIRST = "{what}為 {label} 的 {ratio:.2f} 倍"
RATIO = "{what}為 {ratio:.2f} 倍"
WHAT = {"steps": "步數", "tokens": "詞元", "seconds": "秒數", "joules": "焦耳"}

# 其他基底。
ON_ANOTHER = "在另一個基底上：{parts}。"
MERGING = "合併，與分開的轉接器相比：{parts}。"
ON_OTHER = "{label} 的轉接器在 {base} 上為 {loss:.4f}（在自己的基底上為 {own:.4f}）"
MERGED = "{label} 併入 {base} {cost}（{loss:.4f}；不合併、放在 {on} 上為 {apart:.4f}）"
MERGED_NOT_FINITE = "{label} 併入 {base} 的結果不是有限數"
COSTS = "多了 {change:.4f} nats"
SAVES = "少了 {change:.4f} nats"
COSTS_NOTHING = "沒有代價"
OTHERS_LESS = "其餘 {count} 個相差更少"
ANOTHER_LESS = "另一個相差更少"

# 速度、記憶體、耗能。
NOT_COMPARED = "不比較速度與記憶體峰值：{labels} 在這裡以模擬執行。"
AT_REST = (
    "{label} 轉換後的權重每個 {bits:.2f} 位元，是 {baseline} 的 {share:.1%}"
    "（{there:.2f} 對 {here:.2f} MiB，由張量計得）{whole}。"
)
AT_REST_KEPT = (
    "{label} 轉換後的權重每個 {bits:.2f} 位元，有 {layers} 層，{baseline} 則是 {others} 層{whole}。"
)
WHOLE = "；全部權重為 {share:.1%}（{there:.2f} 對 {here:.2f} MiB）"
NO_SPEED = "沒有測得速度。"
AS_FAST = "以各步的離散程度來看，{label} 與 {baseline} 一樣快（{ratio:.2f} 倍）。"
FASTER = "{label} 較快：每秒詞元是 {baseline} 的 {ratio:.2f} 倍。"
SLOWER = "{label} 較慢：每秒詞元是 {baseline} 的 {ratio:.2f} 倍。"
NO_MEMORY = "沒有測得記憶體峰值。"
SAME_MEMORY = "記憶體峰值與 {baseline} 相同。"
LESS_MEMORY = "記憶體較少：峰值是 {baseline} 的 {ratio:.2f} 倍。"
MORE_MEMORY = "記憶體較多：峰值是 {baseline} 的 {ratio:.2f} 倍。"
SAME_ENERGY = "耗能與 {baseline} 相同（{used}）。"
LESS_ENERGY = "耗能較少：是 {baseline} 的 {ratio:.2f} 倍（{used}）。"
MORE_ENERGY = "耗能較多：是 {baseline} 的 {ratio:.2f} 倍（{used}）。"
USED = "每詞元 {b:.3g} 對 {a:.3g} 焦耳"

# 是否公平。
UNFAIR = "不是對照比較：{why}。"
OTHER_BATCHES = "各精度看到的批次不同"
OTHER_START = "轉接器的起點不同"
OTHER_ROWS = "各精度評估所用的保留資料不同"
OTHER_SEEDS = "各精度執行的種子不同"
SAME_SEEDS = "有兩個種子用了同樣的批次或同樣的轉接器起點，所以不算重複"
DIFFER_AS_WELL = "{names} 也不同"
