// Values as people read and type them, and drafts of what they type.

/**
 * Returns the body with the values that were there when the person began, so that a change made elsewhere meanwhile is
 * not replaced unseen. Leaves them out when both would not fit into one request.
 */
export function addSeen(body, was) {
  const whole = { ...body, was };
  return new Blob([JSON.stringify(whole)]).size < 60000 ? whole : body;
}

/** Returns an instant in the form of a field for local date and time. */
export const formatLocal = (instant) => new Date(instant - instant.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

/** Returns a number as people write it, with a comma or a point and perhaps a percent sign, or NaN for none. */
export function parseNumber(field) {
  const text = field.value.trim().replace(",", ".").replace(/\s*%$/, "");
  return text === "" ? NaN : Number(text);
}

/** Returns a number of seconds as "12:34", from an hour on as "1:02:34". */
export function formatElapsed(seconds) {
  const pad = (number) => String(number).padStart(2, "0");
  const tail = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return seconds < 3600 ? tail : `${Math.floor(seconds / 3600)}:${tail}`;
}

// Drafts: what is typed and not saved yet keeps the page from being left or reloaded. What is searched for is part of
// the address.

const typed = new Set();
document.addEventListener("input", ({ target }) => {
  // Fields that are no longer on the page would keep their forms in memory.
  for (const field of typed) if (!field.isConnected) typed.delete(field);
  const others = "[type=checkbox], [type=radio], [type=file], [type=search], [type=range]";
  if (target.matches(`textarea, input:not(${others})`)) typed.add(target);
});
function isDraft(field) {
  const dialog = field.closest("dialog");
  // In a closed dialog only a form with data-act can hold a draft: it is emptied when it is saved.
  const isReachable = !dialog || dialog.open || field.form?.dataset.act;
  return field.isConnected && field.value !== field.defaultValue && field.value.trim() !== "" && isReachable;
}

addEventListener("beforeunload", (event) => {
  if ([...typed].some((field) => field.closest("dialog[open], .in-place") && isDraft(field))) event.preventDefault();
});
document.addEventListener("restarted", (event) => { if ([...typed].some(isDraft)) event.preventDefault(); });
