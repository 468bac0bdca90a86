// Reading sessions on the Book page: the running session with its clock, and sessions that are added later or
// corrected.

import { attempt } from "./acts.js";
import { findClock, tick } from "./clock.js";
import { formatLocal } from "./fields.js";
import { isEnd, offerFinish } from "./finish.js";
import { refresh } from "./live.js";
import { toast, toastOutcome } from "./messages.js";
import { callAPI } from "./requests.js";
import { submitSheet } from "./sheets.js";
import { text } from "./texts.js";

const find = (id) => document.getElementById(id);

// The running session.

const stopSheet = find("stop-sheet"), stopForm = find("stop-form"), endPage = find("end-page"), endTime = find("end-time");
const endField = find("end-field"), force = find("force-session"), discard = find("discard-session");
/** The session for which the sheet was opened. Another session may be running by the time the person answers. */
let running = null;
/** The page count of its book; 0 if unknown. */
let count = 0;
/** The button of the status for which the session has to end; null if only the session ends. */
let leaving = null;

async function start(button) {
  const label = button.textContent, { copy } = document.querySelector("[data-copy]").dataset;
  button.disabled = true;
  button.textContent = text("saving");
  const succeeded = await attempt(async () => { await callAPI("POST", `/api/books/${copy}/sessions`, {}); await refresh(); });
  if (!succeeded) { button.disabled = false; button.textContent = label; }
  find("stop-session")?.focus();
}

function openStop(button, status = null) {
  ({ running } = button.dataset);
  count = Number(button.dataset.count);
  leaving = status;
  find("stop-sheet-title").textContent = status ? `${status.dataset.done} · ${stopForm.dataset.title}` : stopForm.dataset.title;
  endPage.value = "";
  endPage.min = button.dataset.page;
  endPage.placeholder = button.dataset.page;
  for (const element of [endField, force, discard, find("stop-wrong")]) element.hidden = true;
  stopSheet.showModal();
  endPage.focus();
  tick();
}

async function stop(isForced) {
  const body = { session: running, page: endPage.value === "" ? null : Number(endPage.value), force: isForced };
  if (!endField.hidden && endTime.value) body.end = new Date(endTime.value).toISOString();
  const [method, path] = leaving ? leaving.dataset.act.split(" ") : ["POST", "/api/session/stop"];
  let answer;
  const error = await submitSheet(stopForm, async () => {
    answer = await callAPI(method, path, leaving ? { ...JSON.parse(leaving.dataset.body), ...body } : body);
  });
  if (error) return offerWaysOut(error);
  stopSheet.close();
  toastOutcome(leaving ? leaving.dataset.done : stopForm.dataset.done, answer);
  await refresh();
  if (!leaving && isEnd(body, count)) await offerFinish(document.querySelector("[data-copy]").dataset.copy);
}

/**
 * Offers ways to end a session that could not be ended. A session of less than a minute can be saved as one minute, or
 * deleted. If the clock went backwards, only the reader knows when the session ended.
 */
function offerWaysOut(error) {
  force.hidden = discard.hidden = error.code !== "sessionTooShort";
  if (error.code !== "clockWentBackwards") return;
  endField.hidden = discard.hidden = false;
  const began = findClock()?.dataset.clock;
  // The suggestion is a minute after the start, because the field has no seconds and would otherwise lie before the
  // start.
  if (began) endTime.min = endTime.value = formatLocal(new Date(Date.parse(began) + 60000));
  endTime.focus();
}

stopForm.noValidate = true;
stopForm.addEventListener("submit", (event) => { event.preventDefault(); stop(false); });
force.addEventListener("click", () => stop(true));
discard.addEventListener("click", () => attempt(async () => {
  let answer = await callAPI("DELETE", `/api/sessions/${running}`), done = discard.dataset.done;
  if (leaving) {
    const [method, path] = leaving.dataset.act.split(" ");
    answer = await callAPI(method, path, JSON.parse(leaving.dataset.body));
    ({ done } = leaving.dataset);
  }
  stopSheet.close();
  toastOutcome(done, answer);
  await refresh();
}));

// A session runs only while its book is being read, so it ends together with that.
document.addEventListener("click", (event) => {
  const status = event.target.closest("button[id^=status-]"), stopper = document.querySelector("[data-stop]");
  if (!status || !stopper || status.id === "status-reading" || status.getAttribute("aria-pressed") === "true") return;
  event.stopImmediatePropagation();
  openStop(stopper, status);
}, { capture: true });

document.addEventListener("click", (event) => {
  const starter = event.target.closest("[data-start]"), stopper = event.target.closest("[data-stop]");
  if (starter) start(starter);
  if (stopper) openStop(stopper);
});
// Sessions that are added later or corrected. The sheet shows the person's local time, and the service gets instants.

const sheet = find("session-sheet"), form = find("session-form");
const [began, minutes, first, last, remove] = ["start", "minutes", "first", "last", "delete"].map((name) => find(`session-${name}`));
let edited = null, opener = null;

/** Opens the sheet for a session, or for a new session if none is given. */
function openSession(session, button) {
  [edited, opener] = [session, button];
  find("session-sheet-title").textContent = edited ? form.dataset.editTitle : form.dataset.add;
  began.value = formatLocal(edited ? new Date(edited.began) : new Date(Date.now() - 30 * 60000));
  minutes.value = edited?.minutes ?? 30;
  first.value = edited?.first ?? "";
  last.value = edited?.last ?? "";
  remove.hidden = !edited;
  form.querySelector(".wrong").hidden = true;
  sheet.showModal();
}

/**
 * Shows that a correction was made, and returns the focus to the button, or to the reading if the button no longer
 * exists.
 */
export async function finishCorrection(message, answer, button) {
  const fold = button?.closest("details")?.id;
  if (answer?.change) toast(message, { change: answer.change });
  await refresh();
  if (document.activeElement === document.body) document.querySelector(`#${fold} summary, #add-session`)?.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const readPage = (field) => field.value === "" ? null : Number(field.value);
  const body = { startPage: readPage(first), endPage: readPage(last) };
  // Times that were not changed keep their seconds.
  if (!edited || began.value !== formatLocal(new Date(edited.began)) || minutes.value !== edited.minutes) {
    body.start = new Date(began.value).toISOString();
    body.minutes = Number(minutes.value);
  }
  const [method, path] = edited ? ["PATCH", `/api/sessions/${edited.session}`] : ["POST", form.dataset.past];
  let answer;
  if (await submitSheet(form, async () => { answer = await callAPI(method, path, body); })) return;
  sheet.close();
  await finishCorrection(edited ? form.dataset.edited : form.dataset.added, answer, opener);
});
remove.addEventListener("click", async () => {
  let answer;
  if (await submitSheet(form, async () => { answer = await callAPI("DELETE", `/api/sessions/${edited.session}`); })) return;
  sheet.close();
  await finishCorrection(form.dataset.deleted, answer, opener);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-session]");
  if (button) openSession(button.dataset.session ? { ...button.dataset } : null, button);
});
