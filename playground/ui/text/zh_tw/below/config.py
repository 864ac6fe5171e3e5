"""設定、預設組合與裝置名稱：用不了的值。"""

from __future__ import annotations

SAID = {
    # errors
    "Did you mean '{name}'?": "你要的是「{name}」嗎？",
    "'{path}' begins with the name of a user that this machine does not have; write the folder "
    "out.": "「{path}」開頭的使用者不在這台機器上；請寫出完整的資料夾路徑。",
    # run
    "Setting '{key}' is unknown.": "沒有「{key}」這項設定。",
    "Known are {known}.": "可用的有 {known}。",
    "Setting '{leaf}' is unknown; remove it.": "沒有「{leaf}」這項設定；請拿掉它。",
    "Setting '{leaf}' is missing; give it a value.": "缺少「{leaf}」這項設定；請給它一個值。",
    "heal_to is '{to}', which holds no more than {own} ({bits} bits a weight and {own_bits}); "
    "choose a wider precision such as bf16, or set heal_after to 1.": (
        "heal_to 是「{to}」，並不比 {own} 寬（每個權重 {bits} 位元對 {own_bits} 位元）；"
        "請選較寬的精度，例如 bf16，或把 heal_after 設為 1。"
    ),
    "{leaf} is {value}; {remedy}.": "{leaf} 是 {value}；{remedy}。",
    "{leaf} is {value}: {cause}.": "{leaf} 是 {value}：{cause}。",
    "{start}… ({count:d} characters)": "{start}…（{count} 個字元）",
    "it must be above {least}": "必須大於 {least}",
    "it must be at least {least}": "最小為 {least}",
    "it must be below {most}": "必須小於 {most}",
    "it must be at most {most}": "最大為 {most}",
    "it must be a finite number": "必須是有限的數字",
    "it must be {expected}": "必須是 {expected}",
    "it must be a whole number of ordinary size": "必須是一般大小的整數",
    "it must be a whole number, written with digits only": "必須是整數，只用數字書寫",
    "it must be a whole number": "必須是整數",
    "it must be a number": "必須是數字",
    "it must be a number with a point, such as 0.0002 or 2e-4": (
        "必須是數字，小數點用句點，例如 0.0002 或 2e-4"
    ),
    "it must be true or false": "必須是 true 或 false",
    "it must not be empty": "不能留空",
    "a yes/no value is not a number": "是或否的值不是數字",
    "write {word}, or a list of {what}": "請寫 {word}，或一份清單：{what}",
    "layer names such as {example}": "層的名稱，例如 {example}",
    "precisions such as {example}": "精度，例如 {example}",
    # columns
    "columns is '{written}'": "「欄位」是「{written}」",
    "Columns is '{written}'": "「欄位」是「{written}」",
    "a row is text, or messages, or a prompt and its answer; {example}.": (
        "一列可以是 text，或 messages，或 prompt 加 answer；{example}。"
    ),
    "'{piece}' names no column; {example}.": "「{piece}」沒有指出欄位；{example}。",
    "write it such as prompt=Question, answer=Reply": "請寫成 prompt=Question, answer=Reply 的樣子",
    "'{name}' is no part of a row; choose from {known}.": (
        "「{name}」不是一列的組成部分；請從 {known} 選擇。"
    ),
    "it names two columns for the {part}; keep one.": "{part} 指定了兩個欄位；請只留一個。",
    # precisions, devices
    "Precision '{name}' is unknown; choose from {known}.": (
        "沒有「{name}」這種精度；請從 {known} 選擇。"
    ),
    "Device '{name}' is unknown; choose from {known}.": "不認得裝置「{name}」；請從 {known} 選擇。",
    # presets
    "Preset file '{path}' does not exist; check the path.": (
        "找不到預設組合檔案「{path}」；請檢查路徑。"
    ),
    "Preset '{name}' is unknown; choose from {known}, or give the path of a .yaml file.": (
        "沒有預設組合「{name}」；請從 {known} 選擇，或給 .yaml 檔案的路徑。"
    ),
    "Preset '{path}' is over {most} bytes; a preset is short text.": (
        "預設組合「{path}」超過 {most} 位元組；預設組合應是簡短的文字。"
    ),
    "Preset '{path}' cannot be read: {error}.": "無法讀取預設組合「{path}」：{error}。",
    "Preset '{path}' has a mistake{where}: {problem}.": (
        "預設組合「{path}」{where}有錯：{problem}。"
    ),
    " in line {line:d}": "第 {line} 行",
    "it is not YAML": "不是 YAML",
    "Preset '{path}' is nested too deeply; a preset is flat.": (
        "預設組合「{path}」的巢狀結構太深；預設組合應是扁平的。"
    ),
    "Preset '{path}' holds no settings; write them as 'name: value'.": (
        "預設組合「{path}」沒有設定；請寫成「name: value」的樣子。"
    ),
    "'{key}' in preset '{path}' is {value}; write settings under it.": (
        "預設組合「{path}」的「{key}」是 {value}；請在它之下寫設定。"
    ),
    "'{key}' in preset '{path}' belongs under '{home}:'; move it.": (
        "預設組合「{path}」的「{key}」應放在「{home}」之下；請移過去。"
    ),
    "'{key}' in preset '{path}' is unknown; remove it.": (
        "預設組合「{path}」有不認得的「{key}」；請拿掉它。"
    ),
    "'machine' is {value}; write any or gpu.": "「machine」是 {value}；請寫 any 或 gpu。",
    "'seeds' is {value}; give how often each precision is repeated, 1 to {most}.": (
        "「seeds」是 {value}；請給每種精度重複的次數，1 到 {most}。"
    ),
    "'precisions' is {names}; give at least one, such as [fp16, nvfp4] in a preset or "
    "precisions=fp16,nvfp4.": (
        "「precisions」是 {names}；請至少給一種，在預設組合裡例如 [fp16, nvfp4]，"
        "或 precisions=fp16,nvfp4。"
    ),
    "Precision '{name}' is given twice; a comparison needs it once.": (
        "精度「{name}」出現兩次；一個比較只需要一次。"
    ),
    # own presets
    "Preset name '{name}' is taken by one of yours; delete that, or choose another.": (
        "你已有名為「{name}」的預設組合；請刪除它，或換個名稱。"
    ),
    "Preset '{name}' cannot be written: {why}; see that '{folder}' is a folder with room.": (
        "無法寫入預設組合「{name}」：{why}；請確認「{folder}」是有空間的資料夾。"
    ),
    "Preset '{name}' cannot be read; mend or delete its file.": (
        "無法讀取預設組合「{name}」；請修正或刪除它的檔案。"
    ),
    "Preset '{name}' is none of yours; there is nothing to rename.": (
        "「{name}」不是你自己的預設組合；沒有東西可改名。"
    ),
    "Preset name '{name}' is taken by one of yours; choose another.": (
        "你已有名為「{name}」的預設組合；請換個名稱。"
    ),
    "Preset '{name}' is none of yours; there is nothing to delete.": (
        "「{name}」不是你自己的預設組合；沒有東西可刪除。"
    ),
    "Preset name {name} cannot be used; take 1 to 40 small letters, digits and hyphens, such "
    "as my-first.": (
        "預設組合不能叫做 {name}；請用 1 到 40 個小寫英文字母、數字與連字號，例如 my-first。"
    ),
    "Preset name '{name}' is taken by one that comes with the project; choose another.": (
        "「{name}」已是專案內附預設組合的名稱；請換一個。"
    ),
}
