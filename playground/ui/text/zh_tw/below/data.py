"""資料列：讀不了的檔案與列，以及讀取時要知道的事。"""

from __future__ import annotations

PLACES = {
    "Line {line:d} of '{file}'": "「{file}」第 {line} 行",
    "line {line:d} of '{file}'": "「{file}」第 {line} 行",
    "Row {row:d} of '{file}'": "「{file}」第 {row} 列",
    "Row {row:d} of '{file}' (line {line:d})": "「{file}」第 {row} 列（第 {line} 行）",
    "A row": "某一列",
}
FILES = {
    "Dataset file '{file}' has no rows; add some or pick another.": (
        "資料集檔案「{file}」沒有資料列；請加一些，或選別的檔案。"
    ),
    "Dataset file '{file}' is of an unknown kind; use {known}.": (
        "資料集檔案「{file}」的類型不明；請用 {known}。"
    ),
    "Dataset '{name}' has no rows; pick another.": "資料集「{name}」沒有資料列；請選別的。",
    "Dataset '{name}' could not be loaded from the hub ({why}); check that it has a split "
    "'{split}', name its part as in {example}:config[split], or use a file.": (
        "無法從 hub 載入資料集「{name}」（{why}）；請確認它有「{split}」這個 split，"
        "以 `{example}:config[split]` 的形式指定部分，或改用檔案。"
    ),
    '{place} is {kind}, not an object with named columns; write it as {{"prompt": ..., '
    '"completion": ...}}{hint}.': (
        '{place}是 {kind}，不是有欄位名稱的物件；請寫成 {{"prompt": ..., "completion": ...}} 的樣'
        "子{hint}。"
    ),
    " (one list of all rows belongs in a .json file)": (
        "（把所有列放進一份清單的，請用 .json 檔案）"
    ),
    "Dataset file '{file}' could not be read as parquet ({why}); write it again, unpacked, or "
    "as .jsonl.": (
        "無法以 parquet 讀取資料集檔案「{file}」（{why}）；請不壓縮重新寫出，或寫成 .jsonl。"
    ),
    "{place} is not UTF-8 text ({why}); save the file again as UTF-8.": (
        "{place}不是 UTF-8 文字（{why}）；請把檔案重新存成 UTF-8。"
    ),
    "byte {byte} has no place there": "那裡不該有位元組 {byte}",
    "it holds NUL bytes, as UTF-16 does": "它含有 NUL 位元組，如同 UTF-16",
    "it is not {encoding}": "它不是 {encoding}",
    "{place} is longer than {most} million characters; divide it into rows, or check its "
    "quotes.": "{place}超過 {most} 百萬個字元；請分成多列，或檢查引號。",
    "Dataset file '{file}' is a zip archive, as an Excel workbook is too; unpack it, or save "
    "its table as .csv.": (
        "資料集檔案「{file}」是 zip 壓縮檔，Excel 活頁簿也是；請解壓縮，或把表格存成 .csv。"
    ),
    "Dataset file '{file}' unpacks to over {most} MiB, far more than text does; unpack it "
    "yourself and look what it holds.": (
        "資料集檔案「{file}」解壓縮後超過 {most} MiB，遠比文字該有的多；請自行解壓縮，"
        "看看裡面是什麼。"
    ),
    "Dataset file '{file}' could not be read ({why}); {remedy}.": (
        "無法讀取資料集檔案「{file}」（{why}）；{remedy}。"
    ),
    "it is damaged or incomplete, so pack it again": "它損壞或不完整，請重新壓縮",
    "check the file, and that you may read it": "請檢查檔案，以及自己是否有讀取權限",
    "'{file}' is UTF-16, as its first bytes say, and was read as that.": (
        "「{file}」開頭的位元組表明它是 UTF-16，所以照此讀取。"
    ),
}
JSON = {
    "Dataset file '{file}' is not JSON ({why} at line {line:d}, column {column}); mend or "
    "remove it.": (
        "資料集檔案「{file}」不是 JSON（第 {line} 行第 {column} 個字元：{why}）；請修正或移除。"
    ),
    "{place} is not JSON ({why}); {remedy}.": "{place}不是 JSON（{why}）；{remedy}。",
    "{why} at column {column}": "第 {column} 個字元：{why}",
    "name the file .json, if it is one document": "若整個檔案是一份 JSON，請把它命名為 .json",
    "mend or remove it": "請修正或移除",
    "it is nested too deeply": "巢狀結構太深",
    "Expecting ',' delimiter": "應有逗號「,」",
    "Expecting ',' delimiter or ']'": "應有逗號「,」或「]」",
    "Extra data": "後面有多餘的內容",
    "{place} has the key '{key}' twice; remove one of them.": (
        "{place}有兩個「{key}」鍵；請移除其中一個。"
    ),
    "{place} holds {code}, which is half of a character; write the whole character or remove "
    "it.": "{place}含有 {code}，只是半個字元；請寫出完整的字元，或移除它。",
}
TABLES = {
    '{place} is not a row of a table ({why}); check its quotes: a " within a quoted cell is '
    'written "".': '{place}不是表格的一列（{why}）；請檢查引號：引號內儲存格裡的 " 要寫成 ""。',
    "{place} has {count:d} cell{_s} and the header {columns}; mend the line: a cell that holds "
    "a {separator} must be quoted.": (
        "{place}有 {count} 個儲存格，標題列則有 {columns} 個；請修正這一行：含有{separator}的儲存"
        "格必須加引號。"
    ),
    "{place} names the column '{name}' twice; rename one of them.": (
        "{place}有兩個「{name}」欄位；請為其中一個改名。"
    ),
    "The cells of '{file}' are parted by a {chosen}, not a {separator}, and were read so.": (
        "「{file}」的儲存格以{chosen}分隔，而不是{separator}，已照此讀取。"
    ),
    "comma": "逗號",
    "semicolon": "分號",
    "tab": "定位字元",
    "vertical bar": "直線符號",
}
FORMATS = {
    "The columns {columns} are not a known format; rename them to one of: {known}; or say "
    "which is what {where}.": (
        "欄位（{columns}）不是已知的格式；請改名為下列之一：{known}；或說明哪一欄是什麼{where}。"
    ),
    "in the setting columns, such as prompt=Question, answer=Reply": (
        "（用 columns 設定，例如 prompt=Question, answer=Reply）"
    ),
    "{names} and {count:d} more": "{names}，另有 {count} 個",
    "{start} … and {count:d} more characters": "{start} … 還有 {count} 個字元",
    "(no name)": "（沒有名稱）",
    "(none)": "（無）",
    "columns takes the {part} from '{column}', and the columns are {there}; name one of these.": (
        "欄位的設定要從「{column}」取 {part}，但現有的欄位是 {there}；請從中指定一個。"
    ),
    "columns takes the {parts} from '{column}'; name another column for one.": (
        "欄位的設定中，{parts} 都取自「{column}」；請為其中一個指定別的欄位。"
    ),
    "{one} and the {other}": "{one} 與 {other}",
    "{place} has the columns {columns}, which differ only in capitals and blanks; rename one "
    "of them.": "{place}的欄位 {columns} 只有大小寫與空白不同；請為其中一個改名。",
    "it lacks the column '{column}' that the first row has; add it or remove the row.": (
        "缺少第一列所有的欄位「{column}」；請補上，或移除這一列。"
    ),
    "column '{column}' is {kind}, not text; write it as a string.": (
        "欄位「{column}」是 {kind}，不是文字；請寫成字串。"
    ),
    "{place}: column '{column}' is {kind} here and {before} before; each was read as the text "
    "that stands there.": (
        "{place}：欄位「{column}」在這裡是{kind}，之前是{before}；都照所寫的文字讀取。"
    ),
    "column '{column}' is text, not a list of turns; write the list itself, not as text in "
    "quotes, in a .jsonl file.": (
        "欄位「{column}」是文字，不是一串對話；請在 .jsonl 檔案裡直接寫清單，不要寫成引號裡的文字。"
    ),
    'column \'{column}\' is no list of turns; write each as {{"role": ..., "content": ...}}.': (
        '欄位「{column}」不是一串對話；請把每一句寫成 {{"role": ..., "content": ...}} 的樣子。'
    ),
    "a turn in '{column}' is from {speaker}; use human, gpt or system.": (
        "「{column}」有一句的發言者是 {speaker}；請用 human、gpt 或 system。"
    ),
    "a turn in '{column}' lacks a role or a content that is text; add it.": (
        "「{column}」有一句缺少 role，或 content 不是文字；請補上。"
    ),
    "a turn in '{column}' has a part that is no text ({kind}); only text can be learned here, "
    "so remove the row.": (
        "「{column}」有一句含有不是文字的部分（{kind}）；這裡只能學文字，請移除這一列。"
    ),
    "text": "文字",
    "number": "數字",
}
SPLIT = {
    "Every evaluation row of dataset '{name}' is also a training row; give it held-out rows of "
    "its own.": "資料集「{name}」用於評估的列全都也在訓練列中；請給它另外的保留資料。",
    "None of {count:d} rows of dataset '{name}' ({place} is the first) holds anything to "
    "learn; fill its columns {columns}.": (
        "資料集「{name}」的 {count} 列（第一列是{place}）都沒有可學的內容；請填寫欄位 {columns}。"
    ),
    "None of {count:d} rows of dataset '{name}' holds anything to learn: in {calls} of them a "
    "reply only calls a tool; give rows in which each says something.": (
        "資料集「{name}」的 {count} 列都沒有可學的內容：其中 {calls} 列的回覆只呼叫工具；"
        "請給每句回覆都有內容的列。"
    ),
    "Dataset '{name}' has {count:d} different row; at least 2 are needed, one to learn from "
    "and one to hold out.": (
        "資料集「{name}」只有 {count} 列不同的內容；至少要 2 列，一列訓練，一列保留。"
    ),
    "Not read, since others are named for training or holding out: {names}.": (
        "沒有讀取，因為已有其他檔案標明用於訓練或保留：{names}。"
    ),
    "Only the first {count:d} rows were read here; the run reads on.": (
        "這裡只讀了前 {count} 列；執行時會繼續讀下去。"
    ),
    "Only the first {count:d} rows were read, which is all that this run needs; shuffle the "
    "rows if they are sorted.": "只讀了前 {count} 列，這次執行夠用了；若各列經過排序，請先打亂。",
    "Columns that are not used: {columns}.": "沒有用到的欄位：{columns}。",
    "In {count:d} of the rows read a reply only calls a tool and says nothing; they were left "
    "out, and count among those without an answer.": (
        "讀取的列中，有 {count} 列的回覆只呼叫工具而沒有內容；已略去，並計入沒有答案的列。"
    ),
    "In {count:d} of the rows read a cell says None, NA, NaN or null; it was kept as that word.": (
        "讀取的列中，有 {count} 列的儲存格寫著 None、NA、NaN 或 null；照字面保留。"
    ),
}
TOKENS = {
    "{place}: a turn holds words that are a mark of this model, and its chat template acts on "
    "them; write them another way, or remove the row.": (
        "{place}：有一句含有這個模型的標記文字，而對話範本會對它起作用；請換個寫法，或移除這一列。"
    ),
    "{place}: this model's chat template rewrites earlier turns, so its replies cannot be told "
    "apart; set learn_from to everything.": (
        "{place}：這個模型的對話範本會改寫先前的對話，所以分不出哪些是回覆；請把 learn_from 設為 "
        "everything。"
    ),
    "{place}: this model's chat template refuses the conversation ({why}); {remedy}, or pick "
    "another model.": (
        "{place}：這個模型的對話範本拒絕這段對話（{why}）；請{remedy}，或選別的模型。"
    ),
    "{place}: this model's chat template leaves out words of the role '{role}'; {remedy}, or "
    "pick another model.": (
        "{place}：這個模型的對話範本會略去「{role}」角色的內容；請{remedy}，或選別的模型。"
    ),
    "put the system turn's words into the first user turn": "把 system 的內容併入第一句 user",
    "remove the turns of the role '{role}'": "移除「{role}」角色的對話",
    "let user and assistant take turns, the user first": (
        "讓 user 與 assistant 輪流發言，由 user 開始"
    ),
    "This model's tokenizer cannot say which characters a token covers; pick a model with a "
    "fast tokenizer (tokenizer.json).": (
        "這個模型的分詞器無法指出每個詞元涵蓋哪些字元；請選有快速分詞器（tokenizer.json）的模型。"
    ),
    "This model has the chat templates {names} and no default one; pick another model, or name "
    "one of them default in its files.": (
        "這個模型有對話範本 {names}，但沒有預設的；請選別的模型，或在它的檔案中把其中一個命名為 "
        "default。"
    ),
    "{count:d} of {rows} rows of {what} are longer than {most} tokens, and nothing is left "
    "without them; raise max_seq_len, or set too_long to cut.": (
        "{what}的 {rows} 列中有 {count} 列超過 {most} 個詞元，略去後就什麼都不剩；"
        "請調高 max_seq_len，或把 too_long 設為 cut。"
    ),
    "{count:d} of {rows} rows of {what} have nothing to learn from within {most} tokens; raise "
    "max_seq_len, or set learn_from to everything.": (
        "{what}的 {rows} 列中有 {count} 列在 {most} 個詞元之內沒有可學的內容；請調高 max_seq_len"
        "，或把 learn_from 設為 everything。"
    ),
    "This model's tokenizer cannot write the rows from {place} on ({why}); its vocabulary may "
    "lack what they hold, so pick another model.": (
        "這個模型的分詞器無法寫出從{place}開始的列（{why}）；它的詞彙可能缺少其中的內容，"
        "請選別的模型。"
    ),
    "{rows} words that are a mark of this model, such as its end of a turn; they were read as "
    "words, letter by letter.": (
        "{rows}這個模型的標記文字，例如一句話的結尾標記；都逐字當成文字讀取。"
    ),
    "{rows} a mark of this model, such as its end of a text; no template is written around "
    "these rows, so it was read as the mark.": (
        "{rows}這個模型的標記，例如文章的結尾標記；這些列不套用範本，所以當成標記讀取。"
    ),
    "{count:d} row{_s} hold{_s2}": "有 {count} 列含有",
}
UPLOADS = {
    "'{file}' could not be stored ({why}); make room in the home folder, or name the file by "
    "its path.": "無法存放「{file}」（{why}）；請在主資料夾騰出空間，或以路徑指定檔案。",
    "'{file}' is empty; choose a file with rows in it.": "「{file}」是空的；請選有資料列的檔案。",
    "'{file}' unpacks to more than {most} GiB; divide it, or name it by its path on the "
    "machine that runs this page.": (
        "「{file}」解壓縮後超過 {most} GiB；請分割它，或放在執行這個頁面的機器上，以路徑指定。"
    ),
    "'{file}' could not be unpacked ({why}); it is damaged or incomplete, so pack it again.": (
        "無法解壓縮「{file}」（{why}）；它損壞或不完整，請重新壓縮。"
    ),
    "'{file}' is of a kind that cannot be read; choose one of {types}, which may be packed as "
    "{packed}.": "無法讀取「{file}」這類檔案；請選 {types} 之一，可壓縮成 {packed}。",
    "'{file}' is larger than {most} MiB, which is the most that can be uploaded; put it on the "
    "machine that runs this page and name it by its path.": (
        "「{file}」超過可上傳的上限 {most} MiB；請放在執行這個頁面的機器上，以路徑指定。"
    ),
    "'{file}' needs more than {most} GiB to be read, far more than rows do; look what it "
    "holds, and divide it.": (
        "讀取「{file}」需要超過 {most} GiB，遠比資料列該有的多；請看看裡面是什麼，並分割它。"
    ),
    "No answer that can be read came of the rows ({why}); try again.": (
        "讀取資料列後沒有得到可用的結果（{why}）；請再試一次。"
    ),
    "Reading the rows took more than {minutes} minutes and was ended; try it with fewer or "
    "shorter rows.": "讀取資料列超過 {minutes} 分鐘，已中止；請用較少或較短的列再試。",
    "Reading the rows was ended by {signal}, which memory that runs out does; try it with "
    "fewer or shorter rows.": (
        "讀取資料列被 {signal} 終止，記憶體用盡時就會如此；請用較少或較短的列再試。"
    ),
    "Reading the rows ended with exit code {code} ({why}); try other rows.": (
        "讀取資料列以結束碼 {code} 結束（{why}）；請試試別的資料列。"
    ),
    "it said nothing": "沒有說明",
}
SAID = PLACES | FILES | JSON | TABLES | FORMATS | SPLIT | TOKENS | UPLOADS
