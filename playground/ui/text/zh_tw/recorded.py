"""執行與機器對自己的描述。"""

from __future__ import annotations

STAGES = {
    "starting": "啟動",
    "libraries": "載入函式庫",
    "data": "讀取資料",
    "hub": "詢問 hub",
    "fetching": "下載模型",
    "model": "載入模型",
    "tokenising": "轉成詞元",
    "rows": "{count} 列",
    "adapter": "加上轉接器",
    "compiling": "編譯",
    "longest": "試跑最長的批次",
    "size": "{rows} × {width} 個詞元",
    "training": "訓練",
    "evaluating": "評估",
    "loss": "{count} 列保留資料的損失",
    "loss_on": "{count} 列保留資料的損失，在 {label} 的基底上",
    "loss_merged": "{count} 列保留資料的損失，合併到 {label}",
    "answering": "回答 {count} 列保留資料",
    "healing": "切換精度",
    "gives_way": "{own} 換成 {wider}",
    "resuming": "接續",
    "checkpoint": "儲存檢查點",
    "step": "第 {step} 步",
    "saving": "儲存轉接器",
}
DEVICE = {
    "no_driver": "沒有安裝 NVIDIA GPU 驅動程式，所以除了 FP32，所有格式都在 CPU 上模擬。",
    "not_loaded": "NVIDIA 驅動程式已安裝但沒有載入，所以除了 FP32，所有格式都以模擬執行。",
    "mismatch": (
        "NVIDIA 驅動程式已更新，但載入的是舊版，所以除了 FP32，所有格式都以模擬執行；"
        "要用 GPU 請重新開機。"
    ),
    "unusable": "NVIDIA 驅動程式無法使用（{error}），所以除了 FP32，所有格式都以模擬執行。",
    "silent": "NVIDIA 驅動程式沒有回應（{error}），所以除了 FP32，所有格式都以模擬執行。",
    "none": "NVIDIA 驅動程式找不到 GPU，所以除了 FP32，所有格式都以模擬執行。",
    "hidden": (
        "CUDA_VISIBLE_DEVICES='{shown}' 隱藏了所有 GPU，所以除了 FP32，所有格式都以模擬執行。"
    ),
    "cpu_torch": (
        "這裡有 {name}，但安裝的 torch 只支援 CPU，所以除了 FP32，所有格式都以模擬執行；"
        "要用 GPU 請安裝 CUDA 版的 torch。"
    ),
    "old_driver": (
        "這裡有 {name}，但驅動程式 {driver} 只支援 CUDA {offered}，而 torch 需要 {needs}，"
        "所以除了 FP32，所有格式都以模擬執行；請更新驅動程式。"
    ),
    "native": "{name}，compute capability {capability}，有 FP4 Tensor Core。",
    "decoded": "{name}，compute capability {capability}，沒有 FP4 Tensor Core（Blackwell 才有）。",
}
HOW = {
    "sixteen": "沒有 GPU，{label} 以模擬執行：運算元與結果捨入到 {again}，乘積以 FP32 加總。",
    "sixteen_old": "{name} 沒有 {label} Tensor Core，所以乘法以模擬執行。",
    "sixteen_native": "{label} 乘法在 {name} 的 Tensor Core 上執行。",
    "fp4": "CPU 沒有 FP4 單元，{label} 以模擬執行：位元相同，乘法為 fp32。",
    "fp8": "CPU 沒有 FP8 單元，FP8 以模擬執行：位元相同，乘法為 fp32。",
    "nf4": (
        "沒有 GPU，不使用 bitsandbytes 的核心函式：由本專案的程式解碼同一張表，"
        "16 位元乘法以 fp32 模擬。"
    ),
    "tested": "{backend} 在 {shapes} 種形狀上與參考相差不超過 {worst}。",
}
KEPT = {
    "asked": "維持 16 位元",
    "head": "輸出層維持計算型別",
    "kind": "{kind} 不是單純的線性層",
    "shared": "它的矩陣與嵌入層共用",
    "input": "它的 {k} 個輸入特徵不是 {block} 的倍數",
    "output": "它的 {n} 個輸出特徵不是 {block} 的倍數",
    "tensor": "{dimensions} 維的張量，由 {kind} 自行相乘，不是線性層",
}
ENDINGS = {
    "loss": "第 {step} 步的損失變成 {value}；請降低學習率，或選範圍較大的精度。",
    "gradients": "第 {step} 步的梯度變成 {value}；請降低學習率，或選範圍較大的精度。",
    "scale": (
        "在第 {step} 步，再小的損失縮放也得不到有限的梯度；請降低學習率，或選範圍較大的精度。"
    ),
    "after": "第 {step} 步之後，保留資料損失變成 {value}；請降低學習率，或選範圍較大的精度。",
    "crashed": "工作行程在原生程式碼中以 {name} 當掉；紀錄的結尾寫著位置。",
    "killed": "工作行程被外部以 {name} 終止；請按「繼續」。",
}
SOURCES = {
    "cuda": "CUDA 配置器",
    "energy_counter": "NVML：裝置的耗能計數器；功率在每一步的頭尾取樣",
    "energy_power": "NVML：在每一步的頭尾取樣功率，乘以該步的時間",
    "cpu": "由張量位元組計得（CPU）",
}
