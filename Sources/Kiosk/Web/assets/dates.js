// The calendar sheet: a day, a month or a year. A grid for arrows, Page Up and Page Down, Home and End (ARIA Authoring Practices, Date Picker Dialog).

import { ask, refresh, Refusal, text, toast } from "./app.js";

const sheet = document.getElementById("date-sheet"), grid = document.getElementById("date-grid");
const [month, year, told, wrong] = ["month", "year", "words", "wrong"].map((name) => document.getElementById(`date-${name}`));
const precisions = [...sheet.querySelectorAll("[name=precision]")];
// English is written as in Britain, day before month, as the rest of the page is.
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const two = (number) => String(number).padStart(2, "0");

/** Days are UTC's midnights here, so that no change of the clocks moves one. */
const day = (y, m, d) => { const date = new Date(0); date.setUTCFullYear(y, m - 1, d); return date; };
const iso = (date) => `${String(date.getUTCFullYear()).padStart(4, "0")}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
const format = (date, options) => new Intl.DateTimeFormat(language, { timeZone: "UTC", ...options }).format(date);
const daysIn = (y, m) => day(y, m + 1, 0).getUTCDate();

/** Where the sheet stands: the day under the cursor, how much of it is meant, and the button it is for. */
let at = day(2000, 1, 1), precision = "day", button = null;

month.append(...Array.from({ length: 12 }, (_, index) => new Option(format(day(2001, index + 1, 1), { month: "long" }), index + 1)));

/** The text for the service, cut where no more is known. */
const value = () => iso(at).slice(0, { year: 4, month: 7, day: 10 }[precision]);

/** Whether the service would take it: what can be meant must not all lie outside. */
function isOffered(date, how = precision) {
  const y = date.getUTCFullYear(), m = date.getUTCMonth() + 1;
  const [first, last] = how === "day" ? [date, date] : how === "month" ? [day(y, m, 1), day(y, m, daysIn(y, m))] : [day(y, 1, 1), day(y, 12, 31)];
  const { min, max } = button.dataset;
  return (!min || iso(last) >= min) && (!max || iso(first) <= max);
}

function draw(focus = false) {
  const y = at.getUTCFullYear(), m = at.getUTCMonth() + 1;
  for (const input of precisions) input.checked = input.value === precision;
  month.value = m;
  if (document.activeElement !== year) year.value = y;
  month.hidden = precision !== "day";
  grid.hidden = precision === "year";
  grid.replaceChildren(...(precision === "day" ? days(y, m) : precision === "month" ? months(y) : []));
  const words = precision === "day" ? format(at, { dateStyle: "full" }) : precision === "month" ? format(at, { month: "long", year: "numeric" }) : String(y);
  const isRight = isOffered(at), { min, max } = button.dataset, limit = iso(at) < min ? min : max;
  const reason = limit === min ? sheet.dataset.notBefore : sheet.dataset.notAfter;
  told.textContent = isRight ? words : reason.replace("{day}", format(new Date(limit), { dateStyle: "medium" }));
  told.classList.toggle("state-attention", !isRight);
  document.getElementById("date-save").disabled = !isRight;
  if (focus) grid.querySelector("[tabindex='0']")?.focus();
}

function cell(label, spoken, date, isAt) {
  const place = document.createElement("td"), pick = document.createElement("button");
  pick.type = "button";
  pick.textContent = label;
  pick.setAttribute("aria-label", spoken);
  place.setAttribute("aria-selected", isAt);
  pick.tabIndex = isAt ? 0 : -1;
  pick.dataset.day = iso(date);
  if (!isOffered(date)) pick.setAttribute("aria-disabled", "true");
  if (iso(date) === iso(day(...today())) && precision === "day") pick.setAttribute("aria-current", "date");
  place.append(pick);
  return place;
}

const today = () => { const now = new Date(); return [now.getFullYear(), now.getMonth() + 1, now.getDate()]; };

function row(...cells) {
  const line = document.createElement("tr");
  line.append(...cells);
  return line;
}

function days(y, m) {
  const head = row(...Array.from({ length: 7 }, (_, index) => {
    const name = document.createElement("th");
    name.scope = "col";
    // The first of January 2001 was a Monday.
    name.textContent = format(day(2001, 1, 1 + index), { weekday: "short" });
    name.abbr = format(day(2001, 1, 1 + index), { weekday: "long" });
    return name;
  }));
  const cells = Array.from({ length: (day(y, m, 1).getUTCDay() + 6) % 7 }, () => document.createElement("td"));
  for (let number = 1; number <= daysIn(y, m); number++) {
    const date = day(y, m, number);
    cells.push(cell(number, format(date, { dateStyle: "full" }), date, number === at.getUTCDate()));
  }
  const rows = [head];
  while (cells.length) rows.push(row(...cells.splice(0, 7)));
  return rows;
}

function months(y) {
  const cells = Array.from({ length: 12 }, (_, index) => {
    const date = day(y, index + 1, 1);
    return cell(format(date, { month: "short" }), format(date, { month: "long", year: "numeric" }), date, index === at.getUTCMonth());
  });
  const rows = [];
  while (cells.length) rows.push(row(...cells.splice(0, 3)));
  return rows;
}

/** Moves by months; the day stays as far as the month has it. */
function byMonths(count) {
  const months = at.getUTCFullYear() * 12 + at.getUTCMonth() + count;
  const y = Math.min(9999, Math.max(1, Math.floor(months / 12))), m = ((months % 12) + 12) % 12 + 1;
  at = day(y, m, Math.min(at.getUTCDate(), daysIn(y, m)));
}

function byDays(count) {
  const next = new Date(at.getTime() + count * 86400000);
  if (next.getUTCFullYear() >= 1 && next.getUTCFullYear() <= 9999) at = next;
}

grid.addEventListener("keydown", (event) => {
  const across = precision === "month" ? 3 : 7, move = precision === "month" ? byMonths : byDays;
  const weekday = (at.getUTCDay() + 6) % 7, column = at.getUTCMonth() % 3;
  const steps = {
    ArrowLeft: () => move(-1), ArrowRight: () => move(1), ArrowUp: () => move(-across), ArrowDown: () => move(across),
    Home: () => precision === "day" ? byDays(-weekday) : byMonths(-column),
    End: () => precision === "day" ? byDays(6 - weekday) : byMonths(2 - column),
    PageUp: () => byMonths(event.shiftKey || precision === "month" ? -12 : -1),
    PageDown: () => byMonths(event.shiftKey || precision === "month" ? 12 : 1),
  };
  if (!steps[event.key]) return;
  event.preventDefault();
  steps[event.key]();
  draw(true);
});

grid.addEventListener("click", (event) => {
  const pick = event.target.closest("[data-day]");
  if (!pick || pick.getAttribute("aria-disabled")) return;
  at = day(...pick.dataset.day.split("-").map(Number));
  draw(true);
});

const step = (count) => { byMonths(precision === "day" ? count : count * 12); draw(); };
document.getElementById("date-back").addEventListener("click", () => step(-1));
document.getElementById("date-on").addEventListener("click", () => step(1));
month.addEventListener("change", () => { byMonths(Number(month.value) - 1 - at.getUTCMonth()); draw(); });
year.addEventListener("input", () => {
  const wanted = Number(year.value);
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= 9999) { byMonths((wanted - at.getUTCFullYear()) * 12); draw(); }
});
year.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); save(value()); } });
for (const input of precisions) input.addEventListener("change", () => { precision = input.value; draw(); });

/** Opens the calendar for what a button with data-date says. */
export function open(opener) {
  button = opener;
  const [y, m, d] = (opener.dataset.value || "").split("-").map(Number);
  precision = d || !y ? "day" : m ? "month" : "year";
  at = y ? day(y, m || 1, d || 1) : day(...today());
  // A day that is not offered is no place to begin.
  if (!y && !isOffered(at)) at = new Date(`${opener.dataset.max && iso(at) > opener.dataset.max ? opener.dataset.max : opener.dataset.min}T00:00:00Z`);
  document.getElementById("date-title").textContent = opener.dataset.label;
  document.getElementById("date-clear").hidden = !opener.dataset.value;
  wrong.hidden = true;
  sheet.showModal();
  draw(true);
}

async function save(date) {
  wrong.hidden = true;
  sheet.setAttribute("aria-busy", "true");
  try {
    const answer = await ask("PUT", button.dataset.date, { [button.dataset.field]: date });
    sheet.close();
    toast(sheet.dataset.told, { change: answer.change });
    await refresh();
  } catch (error) {
    wrong.textContent = error instanceof Refusal ? error.message : text("lost");
    wrong.hidden = false;
  }
  sheet.removeAttribute("aria-busy");
}
document.getElementById("date-save").addEventListener("click", () => save(value()));
document.getElementById("date-clear").addEventListener("click", () => save(null));
