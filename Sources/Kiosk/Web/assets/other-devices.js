// The section with which other devices are let in, on Settings and on the first visit.

// The section waits while a field in it has the focus. Once what was typed has been sent, there is nothing left to keep.
document.addEventListener("held", ({ target, detail: fresh }) => {
  if (target.id !== "other-devices" || target.querySelector("dialog[open]")) return;
  const field = document.activeElement, next = fresh.querySelector(`[id="${field.id}"]`);
  if (!next || next.value === field.value) field.blur();
});
