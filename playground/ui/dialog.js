// Opens the dialog that a handler has put here, and tells Python what was decided.
// The browser's own dialog: it keeps the keyboard inside, closes by Escape, and gives focus back.

function open() {
  const dialog = element.querySelector("dialog");
  if (!dialog || dialog.open) return;
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "yes") trigger("delete");
    props.value = "";
  });
  dialog.showModal();
}

watch("value", open);
