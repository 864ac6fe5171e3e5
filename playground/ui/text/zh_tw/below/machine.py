"""機器與各格式：為什麼是原生或模擬，什麼維持原樣。"""

from __future__ import annotations

DEVICE = {
    "No NVIDIA GPU driver is installed, so every format but FP32 is emulated on the CPU.": (
        "沒有安裝 NVIDIA GPU 驅動程式，所以除了 FP32，所有格式都在 CPU 上模擬。"
    ),
    "NVIDIA's driver is installed but not loaded, so every format but FP32 is emulated.": (
        "NVIDIA 驅動程式已安裝但沒有載入，所以除了 FP32，所有格式都以模擬執行。"
    ),
    "NVIDIA's driver was updated while an older one is loaded, so every format but FP32 is "
    "emulated; restart the machine to use the GPU.": (
        "NVIDIA 驅動程式已更新，但載入的是舊版，所以除了 FP32，所有格式都以模擬執行；"
        "要用 GPU 請重新開機。"
    ),
    "NVIDIA's driver cannot be used ({error}), so every format but FP32 is emulated.": (
        "NVIDIA 驅動程式無法使用（{error}），所以除了 FP32，所有格式都以模擬執行。"
    ),
    "NVIDIA's driver does not answer ({error}), so every format but FP32 is emulated.": (
        "NVIDIA 驅動程式沒有回應（{error}），所以除了 FP32，所有格式都以模擬執行。"
    ),
    "NVIDIA's driver finds no GPU, so every format but FP32 is emulated.": (
        "NVIDIA 驅動程式找不到 GPU，所以除了 FP32，所有格式都以模擬執行。"
    ),
    "CUDA_VISIBLE_DEVICES='{shown}' hides every GPU, so every format but FP32 is emulated.": (
        "CUDA_VISIBLE_DEVICES='{shown}' 隱藏了所有 GPU，所以除了 FP32，所有格式都以模擬執行。"
    ),
    "{name} is here, but the installed torch is built for CPUs only, so every format but FP32 "
    "is emulated; install torch's CUDA build to use the GPU.": (
        "這裡有 {name}，但安裝的 torch 只支援 CPU，所以除了 FP32，所有格式都以模擬執行；"
        "要用 GPU 請安裝 CUDA 版的 torch。"
    ),
    "{name} is here, but its driver {driver} is for CUDA {offered} and torch needs {needs}, so "
    "every format but FP32 is emulated; update the driver.": (
        "這裡有 {name}，但驅動程式 {driver} 只支援 CUDA {offered}，而 torch 需要 {needs}，"
        "所以除了 FP32，所有格式都以模擬執行；請更新驅動程式。"
    ),
    "torch cannot use {name} ({why}), so every format but FP32 is emulated.": (
        "torch 無法使用 {name}（{why}），所以除了 FP32，所有格式都以模擬執行。"
    ),
    "{name}, compute capability {capability}, {cores}.": (
        "{name}，compute capability {capability}，{cores}。"
    ),
    "has FP4 tensor cores": "有 FP4 Tensor Core",
    "has no FP4 tensor cores (Blackwell has them)": "沒有 FP4 Tensor Core（Blackwell 才有）",
}
HOW = {
    "Without a GPU, {label} is emulated: operands and results are rounded to {again}, products "
    "are summed in FP32.": (
        "沒有 GPU，{label} 以模擬執行：運算元與結果捨入到 {again}，乘積以 FP32 加總。"
    ),
    "{name} has no {label} tensor cores, so its products are emulated.": (
        "{name} 沒有 {label} Tensor Core，所以乘法以模擬執行。"
    ),
    "{label} products on {name}'s tensor cores.": "{label} 乘法在 {name} 的 Tensor Core 上執行。",
    "FP32 products on {name}.": "FP32 乘法在 {name} 上執行。",
    "A CPU has no FP4 units, so {label} is emulated: same bits, products in fp32.": (
        "CPU 沒有 FP4 單元，{label} 以模擬執行：位元相同，乘法為 fp32。"
    ),
    "A CPU has no FP8 units, so FP8 is emulated: same bits, products in fp32.": (
        "CPU 沒有 FP8 單元，FP8 以模擬執行：位元相同，乘法為 fp32。"
    ),
    "Without a GPU bitsandbytes' kernels are not used: this project's own code decodes the "
    "same table, and 16-bit products are emulated in fp32.": (
        "沒有 GPU，不使用 bitsandbytes 的核心函式：由本專案的程式解碼同一張表，"
        "16 位元乘法以 fp32 模擬。"
    ),
    "{backend} agrees with the reference to {worst} on {shapes} shapes.": (
        "{backend} 在 {shapes} 種形狀上與參考相差不超過 {worst}。"
    ),
    "{backend} is off: {why}": "{backend} 停用：{why}",
    "{why}, so {label} is emulated on the GPU.": "{why}，所以 {label} 在 GPU 上以模擬執行。",
    "Every faster backend failed its self-test ({failed})": (
        "每個較快的後端都沒有通過自我檢測（{failed}）"
    ),
    "No self-test of {named} has passed here yet": "{named} 在這裡還沒有通過自我檢測",
    "No kernel serves a {device} device": "沒有給 {device} 裝置用的核心函式",
    "{name} has no FP8 tensor cores": "{name} 沒有 FP8 Tensor Core",
    "{name} has no bf16 tensor cores, which decoded products need": (
        "{name} 沒有 bf16 Tensor Core，而解碼後的乘法需要它"
    ),
    "{name} has no FP4 tensor cores that the installed Triton knows": (
        "{name} 沒有所裝 Triton 認得的 FP4 Tensor Core"
    ),
}
KEPT = {
    "kept in 16 bits": "維持 16 位元",
    "the output head stays in the compute type": "輸出層維持計算型別",
    "a {kind} is not a plain Linear": "{kind} 不是單純的線性層",
    "its matrix is shared with an embedding": "它的矩陣與嵌入層共用",
    "text never reaches it": "文字不會經過它",
    "its {k:d} input features are not a multiple of {block:d}": (
        "它的 {k} 個輸入特徵不是 {block} 的倍數"
    ),
    "its {n:d} output features are not a multiple of {block:d}": (
        "它的 {n} 個輸出特徵不是 {block} 的倍數"
    ),
    "its {k:d} {what} features are not a multiple of {block:d}": (
        "它的 {k} 個{what}特徵不是 {block} 的倍數"
    ),
    "input": "輸入",
    "output": "輸出",
    "a tensor of {dimensions:d} dimensions that {kind} multiplies with by itself, no Linear": (
        "{dimensions} 維的張量，由 {kind} 自行相乘，不是線性層"
    ),
}
SAID = DEVICE | HOW | KEPT
