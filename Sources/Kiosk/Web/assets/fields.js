// What people type into pages: what is lost when it is left, what it replaces.

/** What is sent, with what was there when the person began: what another screen has said meanwhile is not replaced unseen. Both must fit into one request. */
export function withSeen(body, was) {
  const whole = { ...body, was };
  return new Blob([JSON.stringify(whole)]).size < 60000 ? whole : body;
}

/** An instant as a field of local date and time shows it. */
export const local = (instant) => new Date(instant - instant.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

// What is typed, and no page has saved yet. Fields that are searched with are part of the address.

const typed = new Set();
document.addEventListener("input", ({ target }) => {
  // Of an afternoon's cards only the one that is there: fields that are gone would keep their forms in memory.
  for (const field of typed) if (!field.isConnected) typed.delete(field);
  if (target.matches("textarea, input:not([type=checkbox], [type=radio], [type=file], [type=search], [type=range])")) typed.add(target);
});
function isDraft(field) {
  const dialog = field.closest("dialog");
  // A sheet that is shut has a draft only where its form empties itself when it is saved.
  return field.isConnected && field.value !== field.defaultValue && field.value.trim() !== "" && (!dialog || dialog.open || field.form?.dataset.act);
}

addEventListener("beforeunload", (event) => { if ([...typed].some((field) => field.closest("dialog[open], .in-place") && isDraft(field))) event.preventDefault(); });
document.addEventListener("restarted", (event) => { if ([...typed].some(isDraft)) event.preventDefault(); });
