// The calendar sheet, in which a person chooses a day, a month or a year. In its grid, the arrow keys, Page Up, Page Down,
// Home and End move the cursor (ARIA Authoring Practices, Date Picker Dialog). A button with data-date saves the date as
// a value of a book. A button with data-picks only gets the event "picked" with the date, or null to clear it.

import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import { callAPI } from "./requests.js";
import { submitSheet } from "./sheets.js";
import { formatDate } from "./texts.js";

const sheet = document.getElementById("date-sheet"), grid = document.getElementById("date-grid");
const [month, year, summary, wrong] = ["month", "year", "text", "wrong"].map((name) => document.getElementById(`date-${name}`));
const precisions = [...sheet.querySelectorAll("[name=precision]")];

/** Returns a day as midnight in UTC, because UTC has no changes of the clock. */
const makeDay = (y, m, d) => { const date = new Date(0); date.setUTCFullYear(y, m - 1, d); return date; };
const pad = (number, length = 2) => String(number).padStart(length, "0");
const formatISO = (date) => `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
const format = (date, options) => formatDate(date, { timeZone: "UTC", ...options });
const countDays = (y, m) => makeDay(y, m + 1, 0).getUTCDate();

/** The day under the cursor, the precision of the date, and the button for which the sheet was opened. */
let at = makeDay(2000, 1, 1), precision = "day", button = null;

for (let m = 1; m <= 12; m++) month.append(new Option(format(makeDay(2001, m, 1), { month: "long" }), m));

/** Returns the date as the API expects it, without the parts that are not known. */
const readDate = () => formatISO(at).slice(0, { year: 4, month: 7, day: 10 }[precision]);

/**
 * Returns true if the service would accept the date. At least one of the days in the chosen month or year must lie
 * within the limits.
 */
function isOffered(date, how = precision) {
  const y = date.getUTCFullYear(), m = date.getUTCMonth() + 1;
  const [first, last] = {
    day: [date, date], month: [makeDay(y, m, 1), makeDay(y, m, countDays(y, m))], year: [makeDay(y, 1, 1), makeDay(y, 12, 31)],
  }[how];
  const { min, max } = button.dataset;
  return (!min || formatISO(last) >= min) && (!max || formatISO(first) <= max);
}

function draw(focus = false) {
  const y = at.getUTCFullYear(), m = at.getUTCMonth() + 1;
  for (const input of precisions) input.checked = input.value === precision;
  month.value = m;
  if (document.activeElement !== year) year.value = y;
  month.hidden = precision !== "day";
  grid.hidden = precision === "year";
  grid.replaceChildren(...(precision === "day" ? makeDays(y, m) : precision === "month" ? makeMonths(y) : []));
  const label = precision === "year" ? String(y)
    : format(at, precision === "day" ? { dateStyle: "full" } : { month: "long", year: "numeric" });
  const isRight = isOffered(at), { min, max } = button.dataset, limit = formatISO(at) < min ? min : max;
  const reason = limit === min ? sheet.dataset.notBefore : sheet.dataset.notAfter;
  summary.textContent = isRight ? label : reason.replace("{day}", format(new Date(limit), { dateStyle: "medium" }));
  summary.classList.toggle("state-attention", !isRight);
  document.getElementById("date-save").disabled = !isRight;
  if (focus) grid.querySelector("[tabindex='0']")?.focus();
}

function makeCell(label, spoken, date, isAt) {
  const place = document.createElement("td"), pick = document.createElement("button");
  pick.type = "button";
  pick.textContent = label;
  pick.setAttribute("aria-label", spoken);
  place.setAttribute("aria-selected", isAt);
  pick.tabIndex = isAt ? 0 : -1;
  pick.dataset.day = formatISO(date);
  if (!isOffered(date)) pick.setAttribute("aria-disabled", "true");
  if (formatISO(date) === formatISO(makeDay(...readToday())) && precision === "day") pick.setAttribute("aria-current", "date");
  place.append(pick);
  return place;
}

const readToday = () => { const now = new Date(); return [now.getFullYear(), now.getMonth() + 1, now.getDate()]; };

function makeRow(...cells) {
  const line = document.createElement("tr");
  line.append(...cells);
  return line;
}

function makeDays(y, m) {
  const head = makeRow(...Array.from({ length: 7 }, (_, index) => {
    const name = document.createElement("th");
    name.scope = "col";
    // The first of January 2001 was a Monday.
    name.textContent = format(makeDay(2001, 1, 1 + index), { weekday: "short" });
    name.abbr = format(makeDay(2001, 1, 1 + index), { weekday: "long" });
    return name;
  }));
  const cells = Array.from({ length: (makeDay(y, m, 1).getUTCDay() + 6) % 7 }, () => document.createElement("td"));
  for (let number = 1; number <= countDays(y, m); number++) {
    const date = makeDay(y, m, number);
    cells.push(makeCell(number, format(date, { dateStyle: "full" }), date, number === at.getUTCDate()));
  }
  const rows = [head];
  while (cells.length) rows.push(makeRow(...cells.splice(0, 7)));
  return rows;
}

function makeMonths(y) {
  const cells = Array.from({ length: 12 }, (_, index) => {
    const date = makeDay(y, index + 1, 1);
    const spoken = format(date, { month: "long", year: "numeric" });
    return makeCell(format(date, { month: "short" }), spoken, date, index === at.getUTCMonth());
  });
  const rows = [];
  while (cells.length) rows.push(makeRow(...cells.splice(0, 3)));
  return rows;
}

/** Moves the cursor by months, to the same day of the month or to the last day of a shorter month. */
function moveByMonths(count) {
  const months = at.getUTCFullYear() * 12 + at.getUTCMonth() + count;
  const y = Math.min(9999, Math.max(1, Math.floor(months / 12))), m = ((months % 12) + 12) % 12 + 1;
  at = makeDay(y, m, Math.min(at.getUTCDate(), countDays(y, m)));
}

function moveByDays(count) {
  const next = new Date(at.getTime() + count * 86400000);
  if (next.getUTCFullYear() >= 1 && next.getUTCFullYear() <= 9999) at = next;
}

grid.addEventListener("keydown", (event) => {
  const across = precision === "month" ? 3 : 7, move = precision === "month" ? moveByMonths : moveByDays;
  const weekday = (at.getUTCDay() + 6) % 7, column = at.getUTCMonth() % 3;
  const steps = {
    ArrowLeft: () => move(-1), ArrowRight: () => move(1), ArrowUp: () => move(-across), ArrowDown: () => move(across),
    Home: () => precision === "day" ? moveByDays(-weekday) : moveByMonths(-column),
    End: () => precision === "day" ? moveByDays(6 - weekday) : moveByMonths(2 - column),
    PageUp: () => moveByMonths(event.shiftKey || precision === "month" ? -12 : -1),
    PageDown: () => moveByMonths(event.shiftKey || precision === "month" ? 12 : 1),
  };
  if (!steps[event.key]) return;
  event.preventDefault();
  steps[event.key]();
  draw(true);
});

grid.addEventListener("click", (event) => {
  const pick = event.target.closest("[data-day]");
  if (!pick || pick.getAttribute("aria-disabled")) return;
  at = makeDay(...pick.dataset.day.split("-").map(Number));
  draw(true);
});

const step = (count) => { moveByMonths(precision === "day" ? count : count * 12); draw(); };
document.getElementById("date-back").addEventListener("click", () => step(-1));
document.getElementById("date-on").addEventListener("click", () => step(1));
month.addEventListener("change", () => { moveByMonths(Number(month.value) - 1 - at.getUTCMonth()); draw(); });
year.addEventListener("input", () => {
  const wanted = Number(year.value);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= 9999) { moveByMonths((wanted - at.getUTCFullYear()) * 12); draw(); }
});
year.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save(readDate()); } });
for (const input of precisions) input.addEventListener("change", () => { precision = input.value; draw(); });

/** Opens the calendar for a button that has data-date or data-picks. */
function open(opener) {
  button = opener;
  const [y, m, d] = (opener.dataset.value || "").split("-").map(Number);
  precision = d || !y ? "day" : m ? "month" : "year";
  at = y ? makeDay(y, m || 1, d || 1) : makeDay(...readToday());
  // If there is no date yet, the cursor begins at today or at the nearest day that can be chosen.
  const { min, max } = opener.dataset;
  if (!y && !isOffered(at)) at = new Date(`${max && formatISO(at) > max ? max : min}T00:00:00Z`);
  document.getElementById("date-title").textContent = opener.dataset.label;
  document.getElementById("date-clear").hidden = !opener.dataset.value;
  wrong.hidden = true;
  sheet.showModal();
  draw(true);
}

async function save(date) {
  if ("picks" in button.dataset) {
    sheet.close();
    button.dispatchEvent(new CustomEvent("picked", { bubbles: true, detail: date }));
    return;
  }
  let answer;
  const body = { [button.dataset.field]: date };
  if (await submitSheet(sheet, async () => { answer = await callAPI("PUT", button.dataset.date, body); })) return;
  sheet.close();
  toastOutcome(sheet.dataset.done, answer);
  const { date: address, field } = button.dataset;
  await refresh();
  // The page may have been refreshed while the sheet was open, with a new button.
  if (document.activeElement === document.body) {
    document.querySelector(`[data-date="${address}"][data-field="${field}"]`)?.focus();
  }
}
document.getElementById("date-save").addEventListener("click", () => save(readDate()));
document.getElementById("date-clear").addEventListener("click", () => save(null));
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-date], [data-picks]");
  if (opener) open(opener);
});
