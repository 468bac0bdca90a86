// The section with which other devices are let in, on Settings.

// A new code ends all sign-ins, also that of this page if it has one.
document.addEventListener("close", ({ target }) => {
  if (target.matches("#change-code[data-signs-out]") && target.returnValue === "done") location.reload();
}, { capture: true });

// The section waits while a field in it has the focus. Once what was typed has been sent, there is nothing left to keep.
document.addEventListener("held", ({ target, detail: fresh }) => {
  if (target.id !== "other-devices" || target.querySelector("dialog[open]")) return;
  const field = document.activeElement, next = fresh.querySelector(`[id="${field.id}"]`);
  if (!next || next.value === field.value) field.blur();
});
