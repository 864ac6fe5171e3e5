"""The Formats page: a microscope for 4-bit numbers."""

from __future__ import annotations

from playground import language

TAB = "Formats"
TITLE = "What four bits can hold"
INTRO = (
    "A model is millions of numbers such as 0.0213. Four bits cannot keep one: a code of four bits "
    "names one of fifteen values, 0, ±0.5, ±1, ±1.5, ±2, ±3, ±4, ±6. So neighbours share a scale, "
    "and a code times its scale stands for the number. What that loses, and why, is shown here."
)
EXAMPLE = (
    "For example: the largest of sixteen neighbours is 0.12, so their scale is 0.12 / 6 = 0.02, "
    "and 0.12 itself becomes the largest value, 6. The number 0.033 over this scale is 1.65; the "
    "nearest value is 1.5, which decodes to 1.5 × 0.02 = 0.03: the error is −0.003."
)
WORDS = "The words used here"
GLOSSARY = (
    ("Block", "Neighbours that share a scale: 16 in NVFP4, 32 in MXFP4."),
    ("Tensor", "All numbers of a layer together, its matrix."),
    (
        "E2M1, E4M3",
        "Floating-point numbers of 4 and of 8 bits: a sign, so many bits of exponent (how large) "
        "and so many of mantissa (how fine).",
    ),
    ("N(0,1)", "Random numbers along a bell curve; weights resemble them. The yardstick here."),
    (
        "Relative error",
        "How large all errors are beside all numbers: 10 % is a tenth, on the whole.",
    ),
)
HOW = "Computed by this project's reference arithmetic on the CPU, bit for bit as a run rounds."
HOW_LAYER = (
    "Weights as the model's file has them; rounded by this project's reference arithmetic on the "
    "CPU, bit for bit as a run does."
)

# A few numbers.
NUMBERS_HEADING = "A few numbers"
NUMBERS = "Your numbers"
NUMBERS_INFO = "16, 32, 48 or 64 of them, with spaces or commas between; each 16 are a block"
LOOK = "Look"
EXAMPLES = {
    "gaussian": "Gaussian",
    "outlier": "An outlier",
    "equal": "All equal",
    "small": "As small as gradients",
}
FROM_LAYER = "From the layer below"
FORMAT = "Shown in"
LABELS = {
    "nvfp4": "NVFP4",
    "nvfp4-four-over-six": "NVFP4, four over six",
    "nvfp4-search": "NVFP4, search",
    "mxfp4": "MXFP4",
    "nf4": "NF4",
    "fp8": "FP8 E4M3",
}
WAITING = "Rounding…"
KEY = {
    "value": "value",
    "scaled": "over its scales",
    "code": "code",
    "decoded": "decodes to",
    "error": "error",
}
KEY_LINE = "Each cell, from the top: value, over its scales, code, what it decodes to, error."
CELL = "{value} over its scales is {scaled}, code {code}, decodes to {decoded}: error {error}"
BITS_KEY = "Bits:"
SIGN = "sign"
EXPONENT = "exponent"
MANTISSA = "mantissa"
BLOCK_HEADING = "Block {number} of {count}"
BLOCK_ALONE = "The block"
SCALE = "Block scale"
SHARED_SCALE = "Scale of the tensor"
SCALE_OF_MORE = "Block scale, shared by {of} numbers"
TENSOR_SCALE = "Tensor scale"
NO_TENSOR_SCALE = "none"
SCALE_IN_FP32 = "an fp32, 32 bits"
BLOCK_ERROR = "Error of the block"
TIMES = "×"
RAIL = (
    "{count} numbers over their scales, above, and the values that codes stand for, below; "
    "a line leads from each number to its code's"
)
RAIL_TOP = "over its scales"
RAIL_BOTTOM = "what codes stand for"
NO_RAIL = "FP8 has 253 values to round to, too many to draw; its codes are bytes."
REFUSES = "This format needs rows that blocks of {block} divide, so it cannot hold this layer."
IN_EACH = "The same numbers in each format"
EACH_COLUMNS = ("format", "relative error", "block scale", "tensor scale", "bits a number")
SCALES_MORE = "{first} and {count} more"
RELATIVE = (
    "Relative error is the length of all errors over the length of all numbers; its square is what "
    "tables of formats call the relative squared error."
)

# The two questions.
QUESTIONS = "Two questions, asked of these numbers"
QUESTIONS_OF_LAYER = "The two questions, asked of this layer's {values} values"
SIXTEEN = "Why does 16 beat 32?"
SIXTEEN_WHY = (
    "In short: fewer numbers suffer for a large neighbour, and their scale fits better. A block's "
    "largest number decides its scale, and all others are rounded as coarsely as it needs: 15 of "
    "them in NVFP4, 31 in MXFP4. But a scale must also be able to follow. MXFP4's is a power of "
    "two (1, 2, 4 and so on) and off by up to a factor of two, so that the upper values go unused "
    "or numbers above 6 are cut off. NVFP4's is an E4M3 number and lands within 7 %."
)
SIXTEEN_GAUSS = (
    "Measured on a bell curve, N(0,1): with a power of two, 16 to a block err by {e8m0_16} and 32 "
    "by {e8m0_32}: small blocks buy nothing there. With E4M3 they err by {e4m3_16} and {e4m3_32}. "
    "So most of what NVFP4 has over MXFP4 is the scale's mantissa, and 16 pays off because of it."
)
ARMS = {
    "e8m0_32": "32, power of two",
    "e8m0_16": "16, power of two",
    "e4m3_32": "32, E4M3",
    "e4m3_16": "16, E4M3",
}
ARM_IS = {"e8m0_32": "MXFP4", "e4m3_16": "NVFP4"}
ARM_BITS = "{bits} bits"
ON_GAUSS = "the mark: N(0,1)"
SIXTEEN_FOUND = (
    "These numbers: halving the block {block_e4m3} with E4M3 ({e4m3_32} to {e4m3_16}) and "
    "{block_e8m0} with a power of two ({e8m0_32} to {e8m0_16}). Changing the scale's kind alone "
    "{kind} at 32 to a block ({e8m0_32} to {e4m3_32})."
)
ONE_BLOCK = (
    "These are 16 numbers: a block of 32 would see the same ones, so there is nothing to compare. "
    "Take 32 or more, “An outlier” for instance."
)
NO_THIRTY_TWO = "Rows of this layer are no multiple of 32, so there are no blocks of 32 to compare."
LESS = "cuts the error by {by}"
MORE = "raises the error by {by}"
SAME = "changes nothing"
SECOND = "What is the second scale for?"
SECOND_WHY = (
    "In short: it keeps the first scales in range. A block's scale has 8 bits itself (E4M3), which "
    "reach from about 0.002 to 448 and are coarse below 0.016. Numbers as small as a model's "
    "weights or gradients need smaller scales; those would become 0, and the numbers with them. "
    "The tensor scale, one 32-bit number for a whole matrix, moves all of them into the range. It "
    "refines nothing: where the block scales fit by themselves, it buys nothing."
)
SECOND_CURVE = (
    "The same numbers at other sizes, by powers of ten: with the tensor scale the error stays, "
    "without it there is a window from about 0.02 to 1,000"
)
CURVE_X = "size (root mean square)"
CURVE_Y = "relative error"
WITH = "with the tensor scale"
WITHOUT = "without: block scales alone"
HERE = "yours"
PLACES = {1e-6: "gradients", 0.02: "weights", 1.0: "N(0,1)"}
SECOND_FOUND = (
    "These numbers have size {rms}: with the tensor scale {with_it}, without it {without}."
)
SECOND_NOTHING = "Here it buys nothing: the block scales fit into E4M3's range by themselves."
SECOND_BUYS = "Here it is needed: without it {shares}."
SECOND_LITTLE = "Here it buys a little: without it {shares}."
SHARES = {
    "zero": "{share} of the block scales round to 0 and their numbers vanish",
    "subnormal": "{share} of the block scales lie below 0.016, where E4M3's steps are coarse",
    "stopped": "{share} of the block scales stop at 448, and what exceeds 6 times that is cut off",
}
ALL_ZERO = "All numbers are 0, so there is nothing to scale."

# A layer.
LAYER_HEADING = "A layer"
MODEL = "Model"
MODEL_INFO = "From the list, a folder, a .gguf file, or a Hugging Face id that was fetched before"
LAYER = "Layer"
LAYER_INFO = (
    "The matrices of the model's blocks first; embeddings and head stay in 16 bits in a run"
)
ROW = "Row"
COLUMN = "Column"
GO = "Go there"
MEDIAN = "A typical block"
WORST = "The worst block"
RANDOM = "Any block"
NEXT = "The next block"
NO_PLACE = "Row or column is empty; give both as whole numbers from 0."
READING = "Reading the model; a GGUF file is decoded first, which can take half a minute…"
LAYER_FACTS = (
    "{rows} rows of {columns}, stored in {dtype}. Standard deviation {deviation}, largest {amax}. "
    "In NVFP4 the layer errs by {error}."
)
BLOCK_FACTS = (
    "Row {row}, columns {first} to {last}: this block errs by {error}, the middle one of {blocks} "
    "by {median}; {worse} of them err more."
)
FROM_GGUF = (
    "The weights come from {file}, where they were rounded once before, to that file's own format; "
    "errors of the original would differ."
)
VALUES_TITLE = "The layer's values, and this block's fifteen"
VALUES_SAID = (
    "Histogram of the layer's values from {low} to {high}; the lines are the fifteen values that "
    "this block's scales allow"
)
BEYOND = "Values beyond the ends: {count}, the largest {amax}."
SCALED_TITLE = "The same values over their own scales, on the grid"
SCALED_SAID = (
    "Histogram of all values of the layer after their own block's scales, from -6.5 to 6.5; the "
    "lines are the fifteen values of E2M1"
)
SCALED_NOTE = "Each block's largest value lands at ±6, which makes the bumps at the ends."

# All layers.
LAYERS_HEADING = "All layers"
MEASURE = "Measure every layer of {model}"
MEASURING = "{done} of {layers} layers of {model} measured…"
READING_ALL = "Reading {model}…"
LAYERS_PLOT = "Relative error of every layer in every format, first block to last; dashed: N(0,1)"
LAYERS_TITLE = "Relative error by layer"
LAYERS_X = "layers of {model} by the number of their block, in order"
GAUSSIAN = "N(0,1)"
TOGETHER = "all layers together"
LAYERS_FOUND = (
    "{count} matrices of {model}. Dashed lines are N(0,1): layers on them are as good as Gaussian, "
    "layers above have heavier tails."
)
LEFT_OUT = "Not in it, for a run keeps them in 16 bits: embeddings and head, {count} in number."
KEPT = "Measured before; kept by the content of the model's files."
HOVER = "Hover, or focus the chart and use the arrow keys, to read a layer."
TABLE_CAPTION = "Relative errors; a heading sorts by its column"
LAYER_COLUMN = "layer"
SHAPE_COLUMN = "shape"
NON_FINITE = "{count} values are NaN or infinite"

language.words(__name__)
