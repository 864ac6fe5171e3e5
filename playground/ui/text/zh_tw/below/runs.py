"""執行對自己的描述：階段、訊息、警告，以及如何結束。"""

from __future__ import annotations

STAGES = {
    "starting": "啟動",
    "loading the libraries": "載入函式庫",
    "reading the data": "讀取資料",
    "asking the hub": "詢問 hub",
    "fetching the model": "下載模型",
    "loading the model": "載入模型",
    "tokenising": "轉成詞元",
    "{count:d} rows": "{count} 列",
    "adding the adapter": "加上轉接器",
    "compiling": "編譯",
    "trying the longest batch": "試跑最長的批次",
    "{rows} x {width:d} tokens": "{rows} × {width} 個詞元",
    "training": "訓練",
    "evaluating": "評估",
    "loss of {count:d} held-out rows": "{count} 列保留資料的損失",
    "loss of {count:d} held-out rows, {where}": "{count} 列保留資料的損失，{where}",
    "on a base in {label}": "在 {label} 的基底上",
    "merged into {label}": "合併到 {label}",
    "answering {count:d} held-out rows": "回答 {count} 列保留資料",
    "healing": "切換精度",
    "{own} gives way to {wider}": "{own} 換成 {wider}",
    "resuming": "接續",
    "saving a checkpoint": "儲存檢查點",
    "step {step:d}": "第 {step} 步",
    "saving the adapter": "儲存轉接器",
}
SOURCES = {
    "CUDA allocator": "CUDA 配置器",
    "NVML: the device's energy counter; power sampled at each step's ends": (
        "NVML：裝置的耗能計數器；功率在每一步的頭尾取樣"
    ),
    "NVML: power sampled at each step's ends, times the step's duration": (
        "NVML：在每一步的頭尾取樣功率，乘以該步的時間"
    ),
    "counted tensor bytes (CPU)": "由張量位元組計得（CPU）",
}
MESSAGES = {
    "The memory of this run could not be predicted ({why}).": "無法預測這次執行的記憶體（{why}）。",
    "The run goes on without.": "執行會略過它繼續進行。",
    "This run is expected to need {needed} GiB of memory, and {device} has {room} GiB free.": (
        "這次執行預期需要 {needed} GiB 記憶體，而 {device} 只剩 {room} GiB。"
    ),
    "It is tried all the same; should it fail: {remedies}.": "仍會試著執行；若是失敗：{remedies}。",
    "{used} MiB of {device}'s memory were in use by others when this run began.": (
        "這次執行開始時，{device} 的記憶體已有 {used} MiB 被別的程式使用。"
    ),
    "They are not counted as its own, but whoever holds them may slow it down and adds to the "
    "power that is measured.": "這些不計入這次執行，但占用者可能會拖慢它，量到的功率也會變高。",
    "Self-test": "自我檢測",
    "Healing: from step {step:d} on, the base is in {wider} and no longer in {own}.": (
        "切換精度：從第 {step} 步起，基底改為 {wider}，不再是 {own}。"
    ),
    "The adapter could not be judged {where}": "無法評估轉接器（{where}）",
    "There is no checkpoint to go on from, so it starts again from step 0.": (
        "沒有可接續的檢查點，所以從第 0 步重新開始。"
    ),
    "Resumed after step {step:d}.": "已從第 {step} 步之後接續。",
    "The longest batch of the run, {size}, does not fit.": "這次執行最長的批次（{size}）放不下。",
    "Its longest row is {place} with {count:d} tokens; rows have {middle} in the middle.": (
        "其中最長的是{place}，有 {count} 個詞元；各列的中位數是 {middle} 個。"
    ),
    "The checkpoint of step {step:d} could not be written: {why}.": (
        "無法寫入第 {step} 步的檢查點：{why}。"
    ),
    "The one before it, if any, is kept.": "若有上一個，會保留著。",
    "The steps up to {step:d} were made on {before}, the rest on {now}: neither their times "
    "nor their last bits can be compared.": (
        "到第 {step} 步為止是在 {before} 上跑的，其餘在 {now} 上：時間與最末的位元都不能相比。"
    ),
    "{tensors} in the model's files have no place in its architecture.": (
        "模型檔案中有{tensors}不屬於它的架構。"
    ),
    "{count:d} tensor{_s} ({names})": " {count} 個張量（{names}）",
    "This model has no chat template, so conversations were written in a plain one": (
        "這個模型沒有對話範本，所以對話寫成簡單的樣子"
    ),
    "torch.compile is {compiled}.": "torch.compile {compiled}。",
    "blocks compiled ({backend}, dynamic lengths)": "已編譯各區塊（{backend}，長度可變）",
    "off: as set": "關閉：依設定",
    "off: not used on a {device}": "關閉：在 {device} 上不使用",
    "off: {model} has no blocks that are known to be alike": "關閉：{model} 沒有已知相同的區塊",
    "off: {why}": "關閉：{why}",
    "the compiled model's first loss is {loss} instead of {expected}": (
        "編譯後的模型，第一個損失是 {loss}，而不是 {expected}"
    ),
    "{count:d} of {rows} rows read have no answer.": "讀取的 {rows} 列中有 {count} 列沒有答案。",
    "They were left out.": "已略去。",
    "{count:d} of {rows} rows are longer than {most} tokens.": (
        "{rows} 列中有 {count} 列超過 {most} 個詞元。"
    ),
    "{count:d} of {rows} rows have nothing to learn from within {most} tokens.": (
        "{rows} 列中有 {count} 列在 {most} 個詞元之內沒有可學的內容。"
    ),
    "{count:d} of {rows} rows were cut to {most} tokens.": (
        "{rows} 列中有 {count} 列被截到 {most} 個詞元。"
    ),
    "The adapter changes nothing: its matrices B are all zero after training, as they were "
    "before.": "轉接器沒有任何作用：訓練後它的矩陣 B 和之前一樣全是零。",
    "Raise learning_rate or max_steps.": "請調高 learning_rate 或 max_steps。",
    "In {count:d} of {layers} adapted layers the adapter changes nothing: their matrices B are "
    "still zero after training.": (
        "加了轉接器的 {layers} 層中，有 {count} 層的轉接器沒有任何作用：訓練後矩陣 B 仍是零。"
    ),
    "{name} failed ({why}), so it gets no more of this run.": (
        "{name} 失敗（{why}），之後不再記錄這次執行。"
    ),
    "It did not stop by itself and was ended by {signal}.": "它沒有自行停止，已以 {signal} 終止。",
}
REFUSALS = {
    "The tokenizer of model '{name}' has no end mark (eos_token) that the model knows, so no "
    "answer would ever end; give it one in tokenizer_config.json, or pick another model.": (
        "模型「{name}」的分詞器沒有模型認得的結尾標記（eos_token），答案永遠不會結束；"
        "請在 tokenizer_config.json 指定，或選別的模型。"
    ),
    "Model '{name}' does not fit into this machine's memory; pick a smaller one.": (
        "這台機器的記憶體放不下模型「{name}」；請選小一點的。"
    ),
    "Model '{name}' needs Python code of its own (auto_map in its config.json), and code that "
    "comes with a model is never run here; pick another model.": (
        "模型「{name}」需要它自己的 Python 程式碼（config.json 的 auto_map），"
        "而這裡從不執行模型附帶的程式碼；請選別的模型。"
    ),
    "The {part} of {source}model '{name}' cannot be loaded ({why}); its files may be cut short "
    "or damaged: save or fetch it again, or pick another model.": (
        "無法載入模型「{name}」的{source}{part}（{why}）；檔案可能不完整或損壞："
        "請重新儲存或下載，或選別的模型。"
    ),
    "tokenizer": "分詞器",
    "configuration": "設定檔",
    "weights": "權重",
    "architecture": "架構",
    "{file} of ": "{file}，",
    "Model '{name}' lacks {tensors}, which its config.json asks for; they would be random "
    "numbers, so save the model again or pick another.": (
        "模型「{name}」缺少 config.json 所要求的{tensors}；它們會變成亂數，請重新儲存模型，"
        "或選別的。"
    ),
    "Tensor '{tensor}' of model '{name}' is {in_file} in its weights and {in_config} by its "
    "config.json{more}; the two files do not belong together, so save the model again or pick "
    "another.": (
        "模型「{name}」的張量「{tensor}」在權重中是 {in_file}，依 config.json 則是 "
        "{in_config}{more}；兩個檔案並不相配，請重新儲存模型，或選別的。"
    ),
    " (and {count:d} more)": "（另有 {count} 個）",
    "max_seq_len is {value}; model '{name}' reads at most {most} tokens; lower it or pick "
    "another model.": (
        "max_seq_len 是 {value}；模型「{name}」最多讀 {most} 個詞元；請調低，或選別的模型。"
    ),
    "Tensor '{tensor}' has {count:d} weights that are NaN or infinite; pick another checkpoint.": (
        "張量「{tensor}」有 {count} 個權重是 NaN 或無限大；請選別的檢查點。"
    ),
    "Keep fewer layers.": "請少保留幾層。",
    "Pick another model.": "請選別的模型。",
    "No layer of this model can run in {precision}: {reasons}.": (
        "這個模型沒有任何一層能以 {precision} 執行：{reasons}。"
    ),
    "it has no Linear at all": "它完全沒有線性層",
    "its weight reaches {largest}, beyond {label}'s {most}": (
        "它的權重達到 {largest}，超出 {label} 的 {most}"
    ),
    "The model has no Linear with a weight, so there is nothing to train; its config.json may "
    "give a size of 0: mend it, or choose another model.": (
        "模型沒有帶權重的線性層，所以沒有可訓練的；可能是 config.json 有大小為 0：請修正，"
        "或選別的模型。"
    ),
    "keep_last_blocks is set, but this model has no list of blocks; name its layers in "
    "keep_layers, or set it to 0.": (
        "設定了 keep_last_blocks，但這個模型沒有區塊清單；請在 keep_layers 指定層，或設為 0。"
    ),
    "keep_last_blocks is {count:d}; this model has {blocks} blocks and at least one must be "
    "left to round, so choose at most {most}.": (
        "keep_last_blocks 是 {count}；這個模型有 {blocks} 個區塊，至少要留一個捨入，"
        "所以最多選 {most}。"
    ),
    "keep_layers names '{wanted}', which no layer of this model is called; choose from {known}.": (
        "keep_layers 指定了「{wanted}」，但這個模型沒有這樣的層；請從 {known} 選擇。"
    ),
    "Model '{name}' has '{key}' set to {value} in its configuration, far more than any model "
    "has; mend it, or pick another model.": (
        "模型「{name}」的設定檔把「{key}」設為 {value}，遠多於任何模型；請修正它，或選別的模型。"
    ),
    "Model '{name}' would have more than {most} modules by its configuration, far more than "
    "any model has; mend it, or pick another model.": (
        "依設定檔，模型「{name}」會有超過 {most} 個模組，遠多於任何模型；請修正它，或選別的模型。"
    ),
    "Model '{name}' would have {count:d} parameters by its configuration, far more than any "
    "model has; mend it, or pick another model.": (
        "依設定檔，模型「{name}」會有 {count} 個參數，遠多於任何模型；請修正它，或選別的模型。"
    ),
    "The adapter of this run cannot be read ({why}); train it again.": (
        "無法讀取這次執行的轉接器（{why}）；請重新訓練。"
    ),
    "its matrices are not those of this run's adapter": "它的矩陣不屬於這次執行的轉接器",
    "packing is true, but this model lets a packed row see the one before it; set packing to "
    "false.": "packing 是 true，但這個模型會讓合併的列看見前一列；請把 packing 設為 false。",
    "The tokenizer of model '{name}' writes token {highest}, and its embedding table knows "
    "{known} (0 to {last}); the two do not belong together, so save the model again with its "
    "own tokenizer, or pick another.": (
        "模型「{name}」的分詞器會寫出詞元 {highest}，而它的嵌入表只有 {known} 個（0 到 {last}）；"
        "兩者並不相配，請連同它自己的分詞器重新儲存模型，或選別的。"
    ),
    "The adapter cannot be put on this model ({why}); name layers that can have one in "
    "target_modules.": "無法在這個模型加上轉接器（{why}）；請在 target_modules 指定可以加的層。",
    "target_modules names '{wanted}', but the matrix of '{layer}' is the embedding's too, and "
    "an adapter would change only one of the two; choose from {known}.": (
        "target_modules 指定了「{wanted}」，但「{layer}」的矩陣也是嵌入層的，"
        "轉接器只會改變兩者之一；請從 {known} 選擇。"
    ),
    "target_modules names '{wanted}', which no layer of this model is called; choose from "
    "{known}.": "target_modules 指定了「{wanted}」，但這個模型沒有這樣的層；請從 {known} 選擇。",
}
ENDINGS = {
    "{when} the loss became {value}; {remedy}": "{when}的損失變成 {value}；{remedy}",
    "{when} the gradients became {value}; {remedy}": "{when}的梯度變成 {value}；{remedy}",
    "{when} no loss scale was small enough for finite gradients; {remedy}": (
        "{when}，再小的損失縮放也得不到有限的梯度；{remedy}"
    ),
    "After step {step:d} the held-out loss became {value}; {remedy}": (
        "第 {step} 步之後，保留資料損失變成 {value}；{remedy}"
    ),
    "At step {step:d}": "第 {step} 步",
    "lower the learning rate or pick a precision with a larger range.": (
        "請降低學習率，或選範圍較大的精度。"
    ),
    "{count:d} of {all} updates were skipped, because the gradients overflowed at every loss "
    "scale that was tried, so nothing was learned; set max_steps higher, so that the loss "
    "scale can fall further, or pick a precision with a larger range.": (
        "{all} 次更新中略過了 {count} 次，因為試過的每個損失縮放都讓梯度溢位，所以什麼都沒學到；"
        "請調高 max_steps 讓損失縮放能繼續下降，或選範圍較大的精度。"
    ),
    "The worker crashed with {name} in native code; the end of its log says where.": (
        "工作行程在原生程式碼中以 {name} 當掉；紀錄的結尾寫著位置。"
    ),
    "The worker was ended by {name} from outside; resume it.": (
        "工作行程被外部以 {name} 終止；請按「繼續」。"
    ),
    "The worker was ended by SIGKILL from outside, most often because memory ran out; resume "
    "it, or try a smaller model, micro_batch_size or max_seq_len.": (
        "工作行程被外部以 SIGKILL 終止，多半是因為記憶體用盡；請按「繼續」，或改用較小的模型、"
        "micro_batch_size 或 max_seq_len。"
    ),
    "The worker ended with exit code {code} before it said why; see the end of its log.": (
        "工作行程還沒說明原因就以結束碼 {code} 結束；請看紀錄的結尾。"
    ),
    "The worker was told to leave ({name}) {place}; resume the run.": (
        "工作行程{place}被要求離開（{name}）；請按「繼續」。"
    ),
    "{name} {place}: {why}. The log has the details.": "{place}發生 {name}：{why}。詳情在紀錄中。",
    "no message": "沒有訊息",
    "The worker could not be started: {why}.": "無法啟動工作行程：{why}。",
    "The server that would have started it is gone; resume it.": (
        "原本要啟動它的伺服器已經不在；請按「繼續」。"
    ),
    "The server was closed before its turn came; resume it.": (
        "還沒輪到它，伺服器就關閉了；請按「繼續」。"
    ),
    "Its process is gone and has not said why; its points are kept, so resume it.": (
        "它的行程消失了，沒有說明原因；已記錄的資料都保留著，請按「繼續」。"
    ),
    "The rows of dataset '{name}' are not those of the first {step:d} steps any more; put the "
    "old ones back, or start a new run.": (
        "資料集「{name}」的列已經和前 {step} 步時不同；請放回原本的，或開始新的執行。"
    ),
    "Checkpoint '{name}' cannot be read ({why}); remove it from the run's folder to resume "
    "from step 0.": (
        "無法讀取檢查點「{name}」（{why}）；把它從該次執行的資料夾移除，即可從第 0 步繼續。"
    ),
    "The checkpoint of step {step:d} was made in {was} and this run is in {now}; a run goes on "
    "in its own precision only, so start a new one.": (
        "第 {step} 步的檢查點是以 {was} 做的，而這次執行是 {now}；執行只能以自己的精度繼續，"
        "請開始新的。"
    ),
    "The checkpoint of step {step:d} was made with another {names}; a run goes on with its own "
    "settings only, so start a new one.": (
        "第 {step} 步的檢查點所用的 {names} 不同；執行只能以自己的設定繼續，請開始新的。"
    ),
}
MEMORY = {
    "Out of memory {place}: {remedies}.": "記憶體不足，{place}：{remedies}。",
    "Out of memory {place} (predicted: {mib} in all): {remedies}.": (
        "記憶體不足，{place}（預測共需 {mib}）：{remedies}。"
    ),
    "{place}, asking for {asked} more": "{place}，還要 {asked}",
    "in step {step:d}": "在第 {step} 步",
    "while {stage}": "在「{stage}」階段",
    "while {stage} after step {step:d}": "第 {step} 步之後，在「{stage}」階段",
    "set micro_batch_size to {micro} and grad_accum_steps to {passes}, which learns from the "
    "same {rows} rows a step": (
        "請把 micro_batch_size 設為 {micro}、grad_accum_steps 設為 {passes}，每步學的仍是 {rows} 列"
    ),
    "turn gradient_checkpointing on": "開啟 gradient_checkpointing",
    "lower max_seq_len from {most} to {shorter}": "把 max_seq_len 從 {most} 降到 {shorter}",
    "pick a precision that stores weights in fewer bits, such as nvfp4": (
        "改用權重位元數較少的精度，例如 nvfp4"
    ),
    "pick a smaller model": "改用較小的模型",
}
SAID = STAGES | SOURCES | MESSAGES | REFUSALS | ENDINGS | MEMORY
