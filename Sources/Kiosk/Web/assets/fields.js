// Values in the form in which people read and type them, and drafts of text that is not saved yet.

import { text } from "./texts.js";

/**
 * Returns the body together with the values that were there when the person began to edit. The service then refuses to
 * replace a change that was made elsewhere in the meantime. These values are left out if the request would become too
 * large.
 */
export function addSeen(body, was) {
  const whole = { ...body, was };
  return new Blob([JSON.stringify(whole)]).size < 60000 ? whole : body;
}

/** Returns an instant in the form that a field for local date and time expects. */
export const formatLocal = (instant) => new Date(instant - instant.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

/** Returns the number in a field, or NaN if there is none. It may have a comma or a point, and a percent sign. */
export function parseNumber(field) {
  const digits = field.value.trim().replace(",", ".").replace(/\s*%$/, "");
  return digits === "" ? NaN : Number(digits);
}

/**
 * Returns what is wrong with the page or the percentage that a person has entered, in the page's language, and null if
 * nothing is.
 */
export function explainAmount(number, unit) {
  if (unit === "percent") return number >= 0 && number <= 100 ? null : text("badPercent");
  if (Number.isNaN(number)) return text("badPage");
  if (number < 0) return text("negativePage");
  return Number.isInteger(number) ? null : text("brokenPage");
}

/** Returns a number of seconds as "12:34", or as "1:02:34" from one hour on. */
export function formatElapsed(seconds) {
  const pad = (number) => String(number).padStart(2, "0");
  const tail = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
  return seconds < 3600 ? tail : `${Math.floor(seconds / 3600)}:${tail}`;
}

// Drafts. Text that is typed and not saved yet keeps the page from being left or reloaded. Searches do not count,
// because the text of a search is part of the address, and neither do fields with data-kept, whose text is kept.

const typed = new Set();
document.addEventListener("input", ({ target }) => {
  // Fields that are no longer on the page would keep their forms in memory.
  for (const field of typed) if (!field.isConnected) typed.delete(field);
  const others = "[type=checkbox], [type=radio], [type=file], [type=search], [type=range], [data-kept]";
  if (target.matches(`textarea, input:not(${others})`)) typed.add(target);
});
function isDraft(field) {
  const dialog = field.closest("dialog");
  // In a closed dialog, only a form with data-act can hold a draft, because such a form is emptied when it is saved.
  const isReachable = !dialog || dialog.open || field.form?.dataset.act;
  return field.isConnected && field.value !== field.defaultValue && field.value.trim() !== "" && isReachable;
}

addEventListener("beforeunload", (event) => {
  if ([...typed].some((field) => field.closest("dialog[open], .in-place") && isDraft(field))) event.preventDefault();
});
document.addEventListener("restarted", (event) => { if ([...typed].some(isDraft)) event.preventDefault(); });
