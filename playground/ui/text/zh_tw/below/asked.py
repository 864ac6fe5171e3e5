"""向頁面要求的事：提問、匯出、估計記憶體、查看格式、保存與刪除。"""

from __future__ import annotations

from playground.ui.text.zh_tw import STATUS_WORDS

ANSWERS = {
    "{what} said nothing for {minutes} minutes and was ended; ask it for something smaller.": (
        "{what}有 {minutes} 分鐘沒有回應，已結束；請要求小一點的。"
    ),
    "{what} left no answer that can be read; try again.": "{what}沒有留下可讀的結果；請再試一次。",
    "{what} was ended to leave the machine to a run that started; ask again.": (
        "有執行開始，{what}為了讓出機器而結束；請再要求一次。"
    ),
    "{what} was ended by {signal}, which memory that runs out does; ask it for something "
    "smaller.": "{what}被 {signal} 終止，記憶體用盡時就會如此；請要求小一點的。",
    "{what} ended with exit code {code} ({why}); try again.": (
        "{what}以結束碼 {code} 結束（{why}）；請再試一次。"
    ),
    "The question takes {count:d} tokens and this model reads {most}; shorten it.": (
        "這個問題有 {count} 個詞元，而這個模型最多讀 {most} 個；請縮短。"
    ),
    "The question takes {count:d} tokens, what was said before it among them, and this model "
    "reads {most}; shorten it.": (
        "這個問題連同先前的對話有 {count} 個詞元，而這個模型最多讀 {most} 個；請縮短。"
    ),
    "This comparison has no finished run whose adapter could answer; pick another.": (
        "這個比較沒有完成的執行，所以沒有轉接器可以回答；請選別的。"
    ),
    "Another question is being answered, perhaps somebody else's; ask again when it has ended.": (
        "正在回答另一個問題，也許是別人的；請等它結束再問。"
    ),
    "“{title}” is running or waiting, and its memory and speed must be its own; ask when it "
    "has ended.": "「{title}」正在執行或等待，記憶體與速度必須專屬於它；請等它結束再問。",
    "a number from 0, which always takes the likeliest token, to 10": (
        "0 到 10 的數字，0 一律取最可能的詞元"
    ),
    "a number above 0 and at most 1": "大於 0、至多 1 的數字",
    "a whole number from 1 to 8192": "1 到 8192 的整數",
    "a whole number from 0": "0 以上的整數",
    "The question is empty; type one, or pick an example.": (
        "問題是空的；請輸入一個，或選一個例子。"
    ),
    "The question has {count:d} characters; ask in at most {most}.": (
        "問題有 {count} 個字元；請在 {most} 個之內提問。"
    ),
    "A run has started, so the models that answered were let go of to give it their memory; "
    "ask again when it has ended.": (
        "有執行開始，所以卸下了回答用的模型，把記憶體讓給它；請等它結束再問。"
    ),
    "The process that answers was killed, as happens when memory runs out; ask a comparison of "
    "a smaller model.": "回答用的行程被強制終止，記憶體用盡時就會如此；請改問較小模型的比較。",
    "The process that answers ended with exit code {code} ({why}); ask again.": (
        "回答用的行程以結束碼 {code} 結束（{why}）；請再問一次。"
    ),
    "The process that answers had been idle and was just ending; ask again.": (
        "回答用的行程閒置已久，正好結束；請再問一次。"
    ),
    "Somebody else has answered earlier in this conversation; start a new one.": (
        "這段對話先前是由別的模型回答的；請開始新的對話。"
    ),
    "The rows of this comparison are single questions without a chat template, so it knows no "
    "conversation; start a new one.": (
        "這個比較的資料列是單一問題，沒有對話範本，所以不懂接續的對話；請開始新的對話。"
    ),
    "It could not answer ({why}).": "它無法回答（{why}）。",
    "There is not enough memory for this model; ask a comparison of a smaller.": (
        "記憶體不足以放這個模型；請改問較小模型的比較。"
    ),
    "The process that answers was ended, and its memory is free; ask again.": (
        "回答用的行程已結束，記憶體已釋放；請再問一次。"
    ),
}
EXPORTS = {
    "Folder '{folder}' is there already, and nothing in it may be overwritten; name a new one.": (
        "資料夾「{folder}」已經存在，裡面的東西不能覆寫；請指定新的。"
    ),
    "Another export is being made; ask again when it has ended.": (
        "正在製作另一份匯出；請等它結束再要求。"
    ),
    "“{title}” is running or waiting, and its memory and speed must be its own; export when it "
    "has ended.": "「{title}」正在執行或等待，記憶體與速度必須專屬於它；請等它結束再匯出。",
    "Run {run} is {status}; only a finished run has an adapter to export.": (
        "執行 {run} 的狀態是「{status}」；只有完成的執行才有轉接器可以匯出。"
    ),
    "The adapter of run {run} is gone from its folder; train it again.": (
        "執行 {run} 的轉接器已不在它的資料夾中；請重新訓練。"
    ),
    "The export was ended, as a run that starts does to have the memory; ask again.": (
        "匯出已中止，執行開始時會這樣取得記憶體；請再要求一次。"
    ),
    "The export was killed, as happens when memory runs out; export on a machine with more.": (
        "匯出被強制終止，記憶體用盡時就會如此；請在記憶體較多的機器上匯出。"
    ),
    "The export ended with exit code {code} ({why}); ask again.": (
        "匯出以結束碼 {code} 結束（{why}）；請再要求一次。"
    ),
    "The merged model came back without its tied embeddings; export the adapter instead.": (
        "合併後的模型重新載入時，嵌入層與輸出層不再共用；請改為匯出轉接器。"
    ),
    "What was written does not say what the run's model says (logits {off} off, {most} "
    "allowed), so it was removed; the run's own adapter is untouched.": (
        "寫出的模型與該次執行的模型回答不一致（logits 相差 {off}，容許 {most}），所以已移除；"
        "該次執行自己的轉接器沒有變動。"
    ),
    "Rounding the merged weights takes away what the adapter has learned: the logits are {off} "
    "off, and all of the adapter's effect is {effect}; export the adapter instead.": (
        "捨入合併後的權重會抹去轉接器學到的東西：logits 相差 {off}，而轉接器的全部作用是 {effect}"
        "；請改為匯出轉接器。"
    ),
    "'{tensor}' has numbers beyond what {dtype} holds; export in bf16 instead.": (
        "「{tensor}」有超出 {dtype} 範圍的數字；請改以 bf16 匯出。"
    ),
    "The disk is full, so nothing was kept of the export; make room, and ask again.": (
        "磁碟已滿，匯出沒有留下任何東西；請騰出空間，再要求一次。"
    ),
    "The export is whole and checked in the run's folder, but the one file to download could not "
    "be written ({why}); make room, and ask again.": (
        "匯出已完整檢查並放在該次執行的資料夾，但無法寫入供下載的單一檔案（{why}）；"
        "請騰出空間，再要求一次。"
    ),
    "The run was deleted while it was exported, so nothing was kept of the export.": (
        "匯出途中該次執行被刪除，所以沒有留下任何匯出。"
    ),
    "The folder cannot be written ({why}); name another one.": (
        "資料夾無法寫入（{why}）；請指定別的。"
    ),
    "There is not enough memory to export this model; do it on a machine with more.": (
        "記憶體不足以匯出這個模型；請在記憶體較多的機器上進行。"
    ),
    "asking the run's own model": "詢問該次執行自己的模型",
    "writing the adapter": "寫出轉接器",
    "writing the merged model": "寫出合併後的模型",
    "Loaded again through peft on a base in {label} and asked held-out rows ({count:d} "
    "positions)": "透過 peft 重新載入到 {label} 的基底，並詢問保留資料（{count} 個位置）",
    "its logits are those of the run's own model, bit for bit.": (
        "logits 與該次執行自己的模型逐位元相同。"
    ),
    "its logits differ from the run's own by at most {most}.": (
        "logits 與該次執行自己的模型最多相差 {most}。"
    ),
    "Loaded again and asked held-out rows ({count:d} positions).": (
        "重新載入，並詢問保留資料（{count} 個位置）。"
    ),
    "Against the adapter on the published weights its logits differ by at most {most}, "
    "{relative} of their size, and the likeliest token is the same at {agreement}.": (
        "與放在原始權重上的轉接器相比，logits 最多相差 {most}，是其大小的 {relative}，"
        "最可能的詞元有 {agreement} 相同。"
    ),
    "{tolerance} are allowed: each merged weight is rounded once more, and over {layers} "
    "layers such errors add up like a random walk.": (
        "容許 {tolerance}：每個合併的權重多捨入一次，經過 {layers} 層，這些誤差如隨機漫步般累積。"
    ),
    "Against the run as it was trained, on a base in {label}, they differ by at most {most}, "
    "and the likeliest token is the same at {agreement}.": (
        "與訓練當時、{label} 基底上的執行相比，最多相差 {most}，最可能的詞元有 {agreement} 相同。"
    ),
    "loading it again": "重新載入",
    "asking the adapter on the published weights": "詢問放在原始權重上的轉接器",
    "merging": "合併",
}
FIT = {
    "The estimate did not end within {minutes} minutes; this model's architecture cannot be "
    "told beforehand, so start the run to see.": (
        "估計在 {minutes} 分鐘內沒有結束；這個模型的架構無法事先得知，請直接開始執行來看。"
    ),
    "The memory of this model cannot be told beforehand ({why}); start the run to see.": (
        "無法事先得知這個模型所需的記憶體（{why}）；請直接開始執行來看。"
    ),
    "code {code}": "結束碼 {code}",
    "The estimate failed ({why}); try again.": "估計失敗（{why}）；請再試一次。",
}
FORMATS = {
    "The text is {count:d} characters long; give at most {most} numbers.": (
        "文字長達 {count} 個字元；請最多給 {most} 個數字。"
    ),
    "Number {place} is '{word}', which is not a number; write it as 0.5 or 5e-1.": (
        "第 {place} 個是「{word}」，不是數字；請寫成 0.5 或 5e-1 的樣子。"
    ),
    "Number {place} is '{word}', and 4 bits hold neither NaN nor infinity; give a finite "
    "number.": "第 {place} 個是「{word}」，而 4 位元放不下 NaN 與無限大；請給有限的數字。",
    "Number {place} is '{word}', beyond fp32, which all formats start from; give one up to "
    "3.4e38.": (
        "第 {place} 個是「{word}」，超出 fp32，而所有格式都由它開始；請給 3.4e38 以內的數字。"
    ),
    "Number {place} is '{word}', below the normal numbers of fp32, which all formats start "
    "from; give 0, or 1.2e-38 and more.": (
        "第 {place} 個是「{word}」，小於 fp32 的正規數，而所有格式都由它開始；請給 0，"
        "或 1.2e-38 以上的數字。"
    ),
    "There are {count:d} numbers, and at most {most} are shown; take some away.": (
        "共有 {count} 個數字，最多顯示 {most} 個；請拿掉一些。"
    ),
    "There {_is} {count} number{_s}, but a block has {block}: add {more}.": (
        "共有 {count} 個數字，但一個區塊有 {block} 個：請再加 {more} 個。"
    ),
    "There {_is} {count} number{_s}, but a block has {block}: add {more}, or take {less} away.": (
        "共有 {count} 個數字，但一個區塊有 {block} 個：請再加 {more} 個，或拿掉 {less} 個。"
    ),
    "no": "0",
    "Layer '{name}' has rows of {count:d} values, which blocks of {block:d} do not divide, so "
    "a run keeps it in 16 bits; pick another layer.": (
        "「{name}」這一層每列有 {count} 個值，無法以 {block} 個為一區塊整除，"
        "所以執行時維持 16 位元；請選別的層。"
    ),
    "Layer '{name}' has {count:d} values that are NaN or infinite; pick another one.": (
        "「{name}」這一層有 {count} 個值是 NaN 或無限大；請選別的層。"
    ),
    "Row {row:d}, column {column} is outside this layer; it has rows 0 to {rows} and columns 0 "
    "to {columns}.": (
        "第 {row} 列、第 {column} 行在這一層之外；它有第 0 到 {rows} 列、第 0 到 {columns} 行。"
    ),
    "Model '{name}' has no safetensors weights on this machine; pick another.": (
        "模型「{name}」在這台機器上沒有 safetensors 權重；請選別的。"
    ),
    "Layer '{name}' may be any of {count:d} ({some}, …); write more of its name.": (
        "「{name}」可能是 {count} 層中的任一層（{some}…）；請把名稱寫完整些。"
    ),
    "Layer '{name}' is not in this model; its matrices are called like {example}.": (
        "這個模型沒有「{name}」這一層；它的矩陣名稱像 {example} 這樣。"
    ),
    "Model '{name}' has not been fetched to this machine; run it once, or pick one that is "
    "here.": "模型「{name}」還沒有下載到這台機器；請先執行一次，或選這裡已有的。",
    "'{file}' of model '{name}' cannot be read ({why}); it may be cut short: save or fetch it "
    "again.": "無法讀取模型「{name}」的「{file}」（{why}）；它可能不完整：請重新儲存或下載。",
    "Model '{name}' holds no matrix of 16- or 32-bit floats; pick its original checkpoint.": (
        "模型「{name}」沒有 16 或 32 位元浮點數的矩陣；請選它原本的檢查點。"
    ),
}
PAST = {
    "{first}, {second} or another": "{first}、{second} 或另一個",
    "Id '{prefix}' could be {which}; give more of it.": (
        "id「{prefix}」可能是 {which}；請寫完整些。"
    ),
    "Id '{name}' is unknown; `{command}` shows those there are.": (
        "沒有 id「{name}」；`{command}` 會列出現有的。"
    ),
    "Name is {count:d} characters long; give it 1 to {most}.": (
        "名稱有 {count} 個字元；請取 1 到 {most} 個字元的名稱。"
    ),
    "Note is {count:d} characters long; keep it to {most}.": (
        "備註有 {count} 個字元；請控制在 {most} 個之內。"
    ),
    "Comparison '{title}' is still running or waiting; stop it first.": (
        "比較「{title}」還在執行或等待；請先停止它。"
    ),
    "A process of comparison '{title}' is still leaving; delete it in a moment.": (
        "比較「{title}」還有行程正在結束；請稍後再刪除。"
    ),
    "Run {run} ({label})": "執行 {run}（{label}）",
    "{run} is finished; there is nothing left to resume.": "{run}已完成；沒有可繼續的。",
    "{run} diverged and would again; start it anew with a lower learning rate, or in a "
    "precision with a larger range.": (
        "{run}發散了，再跑也會一樣；請降低學習率重新開始，或改用範圍較大的精度。"
    ),
    "{run} is {status} already; it needs no resuming.": "{run}已在{status}；不需要繼續。",
    "{run} was refused for its settings and would be again; start it anew with others.": (
        "{run}因設定而被拒絕，再跑也會一樣；請改用別的設定重新開始。"
    ),
    "The process of run {run} is still leaving; resume it in a moment.": (
        "執行 {run} 的行程正在結束；請稍後再繼續。"
    ),
    **STATUS_WORDS,
    "Home folder '{folder}' cannot be used: {why}; choose another one.": (
        "無法使用主資料夾「{folder}」：{why}；請選別的。"
    ),
    "The run database in '{folder}' cannot be opened: {why}; move playground.db away, or "
    "choose another home folder.": (
        "無法開啟「{folder}」中的執行資料庫：{why}；請把 playground.db 移開，或選別的主資料夾。"
    ),
    "The run database has schema {found} and this program knows {known}; update the program, "
    "or choose another home folder.": (
        "執行資料庫的結構是第 {found} 版，而這個程式只認得到第 {known} 版；請更新程式，"
        "或選別的主資料夾。"
    ),
}
SAID = ANSWERS | EXPORTS | FIT | FORMATS | PAST
