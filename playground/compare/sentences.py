"""The sentences of a verdict. English in the terminal and in JSON; the page says its visitor's."""

from __future__ import annotations

from playground import language

# Figures and lists.
ALL_AND_LAST = "{all} and {last}"
COMMA = ", "
SEMICOLON = "; "
BETWEEN = " "  # of two sentences
COUNTS = {
    "step": ("{count} step", "{count} steps"),
    "token": ("{count} token", "{count} tokens"),
    "seed": ("{count} seed", "{count} seeds"),
}
OVER_A_HUNDRED = "over 10,000%"

# Where a comparison stands.
NOTHING = "Nothing has run yet."
WAITING = "Waiting for its turn."
RUNNING = "Still running: {done} of {count} done."
SO_FAR = "So far: {said}"
NO_TWO_LOSSES = "No two final losses to compare."
ONLY_ONE = "Only {label} finished, at a held-out loss of {loss:.4f}{spread}."
ONLY_ONE_UNJUDGED = "Only {label} finished; no held-out loss was taken."
SINGLE = (
    "{label} took the held-out loss from {before:.3f} to {after:.3f}{spread}. "
    "One arm only: nothing to compare it with."
)
SINGLE_UNJUDGED = "{label} finished; no held-out loss was taken."
SPREAD = " ± {spread:.4f} (standard deviation over {seeds} seeds)"
YARDSTICK = "{first} did not finish, so the others are held against {baseline}."
FAILED = "{label}{seed} {ended}{at}{kind}{why}."
FAILED_SEED = " (seed {seed})"
FAILED_AT = " at step {step}"
FAILED_BEFORE = " before its first step"
FAILED_KIND = ", {kind}"
FAILED_WHY = " ({why})"
ENDED = {
    "stopped": "was stopped",
    "paused": "was paused",
    "failed": "failed",
    "diverged": "diverged",
    "interrupted": "was interrupted",
}
CAUSES = {
    "out of memory": "out of memory",
    "refused": "refused",
    "killed": "killed",
    "crashed": "crashed",
    "lost": "lost",
}
SKIPPED = "{label} skipped {skipped} of {steps} updates: its scaled gradients overflowed."
HEALED = (
    "{label} was healed: from step {step} on it ran in {to}, and its speed and memory are those "
    "of both."
)
HEALED_TO_HIGHER = "a higher precision"
AS_HEALED = "healed {label}"

# Losses.
ENDS_AT = "{b} ends at {change} perplexity than {a}{doubt} ({band})."
ENDS_SAME = "{b} ends at the same perplexity as {a} ({band})."
WITHIN_NOISE = "{b} is within noise of {a}: {change} perplexity ({band})."
MAY_BE_CHANCE = ", which may be chance"
NO_FINAL = "No final losses to hold against {baseline}'s."
OF_MANY = "Perplexity against {baseline}'s over {over}: {parts}."
CHANGED = "{label} {change}"
ARE_WITHIN = "{labels} within noise"
ARE_OPEN = "{labels} too close to tell"
ONE_SEED = "one seed"
HIGHER = "{percent} higher"
LOWER = "{percent} lower"
THE_SAME = "the same"
SAME_LOSS = "{b} ends at the same held-out loss as {a}, {loss:.4f}{noted}."
LOSS_ABOVE = (
    "{b} ends at a held-out loss of {loss:.4f}, {delta:.4f} nats above {a}'s "
    "{base:.4f}{within}{noted}."
)
LOSS_BELOW = (
    "{b} ends at a held-out loss of {loss:.4f}, {delta:.4f} nats below {a}'s "
    "{base:.4f}{within}{noted}."
)
AND_WITHIN = " and within noise"
NOTED = " ({notes})"
PERPLEXITY = "perplexity {change}"
BAND = "95%{over}: {low} to {high}"
BAND_NATS = "95%{over}: {low} to {high} nats"
OVER_ROWS = " over the held-out rows"
NOT_FINITE = "A final held-out loss is not finite ({ends})."
NO_COMMON_SEED = "{b} and {a} finished no seed in common."
UNJUDGED = "{b} and {a} finished without a held-out loss to compare."
CLAIM_ONE_SEED = (
    "Whether it costs under 1%, as is often claimed, cannot be told from one seed; "
    "repeat with --seeds 3."
)
CLAIM = "Does it cost under 1%, as is often claimed? In perplexity, at 95%: {parts}."
CLAIM_ANSWERS = {"yes": "yes for {names}", "no": "no for {names}", "open": "open for {names}"}
CLAIM_REACH = {
    "yes": "{label} (at most {high})",
    "no": "{label} (at least {low})",
    "open": "{label} ({low} to {high})",
}
SHARE = "{label}'s loss itself is {change}{band}{near_zero}."
NEAR_ZERO = ", a share of a loss near zero"
EXACT = "Answers exactly right: {parts}."
EXACT_OF = "{label} {before:.0%} to {after:.0%}"
BASIS_ONE = "One run of each{judged}: the spread between seeds was not measured."
BASIS = (
    "Seeds {seeds} of each{judged}; {label}'s noise at 95% is ±{between:.4f} nats between "
    "seeds{rest}.{chance}"
)
JUDGED = ", judged on {tokens} held-out tokens{over}"
OF_ROWS = " of {rows} rows"
PAIRED = " and ±{half:.4f} over the held-out rows, paired"
UNPAIRED = "; over the held-out rows it was not measured: {why}"
UNPAIRED_WHY = {
    "not kept": "the losses of the single rows were not kept",
    "others": "the held-out rows were not the same",
    "tokens": "the held-out rows had other tokens to predict",
    "one": "one held-out row has no spread",
}
UNPAIRED_NOT_FINITE = "not finite"
CHANCE = " Of {count} comparisons at 95%, one may well look different by chance."

# The target.
TO_TARGET = "To a held-out loss of {target:g} (looked at {looked}): {parts}.{apart}"
LOOKED_EVERY = "every {steps}"
LOOKED_AT_ENDS = "before and after training only"
TARGET_APART = " Seconds and joules are not compared where a run was emulated."
TOOK = "{labels} {took}"
NEVER = "never came to it"
IN_SEEDS = "{took} in {reached} of {seeds} seeds"
RATIOS = " ({parts})"
RATIO_FIRST = "{ratio:.2f} times {label}'s {what}"
RATIO = "{ratio:.2f} times its {what}"
WHAT = {"steps": "steps", "tokens": "tokens", "seconds": "seconds", "joules": "joules"}

# Other bases.
ON_ANOTHER = "On another base: {parts}."
MERGING = "Merging, against the adapter kept apart: {parts}."
ON_OTHER = "{label}'s adapter has {loss:.4f} on {base} ({own:.4f} on its own)"
MERGED = "{label}'s into {base} {cost} ({loss:.4f}; kept apart on {on} it has {apart:.4f})"
MERGED_NOT_FINITE = "{label}'s into {base} is not finite"
COSTS = "costs {change:.4f} nats"
SAVES = "saves {change:.4f} nats"
COSTS_NOTHING = "costs nothing"
OTHERS_LESS = "the other {count} differ by less"
ANOTHER_LESS = "another differs by less"

# Speed, memory, energy.
NOT_COMPARED = "Speed and peak memory are not compared: {labels} ran emulated here."
AT_REST = (
    "{label}'s converted weights take {bits:.2f} bits each, {share:.1%} of {baseline}'s "
    "({there:.2f} against {here:.2f} MiB, counted from the tensors){whole}."
)
AT_REST_KEPT = (
    "{label}'s converted weights take {bits:.2f} bits each, in {layers} layers against {others} "
    "of {baseline}'s{whole}."
)
WHOLE = "; all weights, {share:.1%} ({there:.2f} against {here:.2f} MiB)"
NO_SPEED = "Speed was not measured."
AS_FAST = "{label} is as fast as {baseline} within the spread of the steps ({ratio:.2f} times)."
FASTER = "{label} is faster: {ratio:.2f} times {baseline}'s tokens per second."
SLOWER = "{label} is slower: {ratio:.2f} times {baseline}'s tokens per second."
NO_MEMORY = "Peak memory was not measured."
SAME_MEMORY = "It peaks at the same memory as {baseline}."
LESS_MEMORY = "It takes less memory: {ratio:.2f} times {baseline}'s peak."
MORE_MEMORY = "It takes more memory: {ratio:.2f} times {baseline}'s peak."
SAME_ENERGY = "It uses the same energy as {baseline} ({used})."
LESS_ENERGY = "It uses less energy: {ratio:.2f} times {baseline}'s ({used})."
MORE_ENERGY = "It uses more energy: {ratio:.2f} times {baseline}'s ({used})."
USED = "{b:.3g} against {a:.3g} joules a token"

# Whether it is fair.
UNFAIR = "Not a controlled comparison: {why}."
OTHER_BATCHES = "the arms saw different batches"
OTHER_START = "the adapters started from different values"
OTHER_ROWS = "the arms were judged on different held-out rows"
OTHER_SEEDS = "the arms were run with different seeds"
SAME_SEEDS = (
    "two seeds trained on the same batches or from the same adapter, so they are no repetitions"
)
DIFFER_AS_WELL = "{names} differ as well"

language.words(__name__)
