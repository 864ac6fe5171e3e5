// Opens the dialog that a handler has put here, and tells Python what was decided.
// The browser's own dialog: it keeps the keyboard inside, closes by Escape, and gives focus back.

function open() {
  const dialog = element.querySelector("dialog");
  if (!dialog || dialog.open) return;
  dialog.addEventListener("close", () => {
    const typed = dialog.querySelector("input")?.value;
    if (dialog.returnValue === "yes") trigger("delete", typed === undefined ? undefined : { typed });
    props.value = "";
  });
  dialog.showModal();
  dialog.querySelector("input")?.select();
}

watch("value", open);
