// The session's clock: counts from the session's start by the service's clock, so it goes on after a reload and on every screen alike.

import { ask, attempt, refresh, toast } from "./app.js";
import { local } from "./fields.js";
import { acting } from "./book-acts.js";

const copy = document.querySelector("[data-copy]").dataset.copy;
const clockNow = () => document.querySelector("[data-clock]");

/** Milliseconds that the service's clock is ahead of this one; null until it was asked. */
let ahead = null;

async function listen() {
  if (!clockNow()) return;
  const asked = Date.now();
  try {
    const { now } = await ask("GET", "/api/session");
    // The answer was written about half way between.
    ahead = Date.parse(now) - (asked + Date.now()) / 2;
  } catch { /* The page's own instant does until the service answers again. */ }
}

/** "12:34", from an hour on "1:02:34". */
function elapsed(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const tail = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? tail : `${Math.floor(seconds / 3600)}:${tail}`;
}

function tick() {
  const clock = clockNow();
  if (!clock) return;
  ahead ??= Date.parse(clock.dataset.now) - Date.now();
  const seconds = Math.max(0, Math.floor((Date.now() + ahead - Date.parse(clock.dataset.clock)) / 1000));
  const shown = elapsed(seconds);
  if (clock.textContent !== shown) clock.textContent = shown;
  if (sheet.open) document.getElementById("stop-clock").textContent = shown;
}

const sheet = document.getElementById("stop-sheet"), form = document.getElementById("stop-form");
const page = document.getElementById("end-page"), time = document.getElementById("end-time");
const timeField = document.getElementById("end-field"), force = document.getElementById("force-session");
const discard = document.getElementById("discard-session");
/** The session that the sheet is about: another may run by the time it is answered. */
let running = null;

/** @param button: that starts the session. */
export async function start(button) {
  const label = button.textContent;
  button.disabled = true;
  button.textContent = button.dataset.saving;
  const worked = await attempt(async () => { await ask("POST", `/api/books/${copy}/sessions`, {}); await refresh(); });
  if (!worked) { button.disabled = false; button.textContent = label; }
  document.getElementById("stop-session")?.focus();
}

/** @param button: that stops the session. */
export function stop(button) {
  ({ running } = button.dataset);
  page.value = "";
  page.min = button.dataset.page;
  page.placeholder = button.dataset.page;
  for (const element of [timeField, force, discard, form.querySelector(".wrong")]) element.hidden = true;
  sheet.showModal();
  page.focus();
  tick();
}

async function end(forced) {
  const body = { session: running, page: page.value === "" ? null : Number(page.value), force: forced };
  if (!timeField.hidden && time.value) body.end = new Date(time.value).toISOString();
  let answer;
  if (!await acting(form, async () => { answer = await ask("POST", "/api/session/stop", body); })) return;
  sheet.close();
  toast(form.dataset.told, { change: answer.change });
  await refresh();
}

form.noValidate = true;
form.addEventListener("submit", (event) => { event.preventDefault(); end(false); });
force.addEventListener("click", () => end(true));
discard.addEventListener("click", () => attempt(async () => {
  const answer = await ask("DELETE", `/api/sessions/${running}`);
  sheet.close();
  toast(discard.dataset.told, { change: answer.change });
  await refresh();
}));

// What the service refuses leaves a choice: a session of under a minute is kept as one of a minute, or discarded; where the clock went
// backwards, only the reader knows when it ended.
form.addEventListener("refused", async ({ detail }) => {
  force.hidden = discard.hidden = detail.code !== "sessionTooShort";
  if (detail.code !== "clockWentBackwards") return;
  timeField.hidden = discard.hidden = false;
  const start = clockNow()?.dataset.clock;
  // A minute on: the field knows no seconds, and would else lie before the start.
  if (start) time.min = time.value = local(new Date(Date.parse(start) + 60000));
  time.focus();
});

document.addEventListener("renewed", () => { if (clockNow() && ahead === null) listen(); tick(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) listen().then(tick); });
listen().then(tick);
setInterval(tick, 1000);
