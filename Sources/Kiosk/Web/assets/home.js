// The Home page, with the sheet in which a person enters a page, its preview, and the running session.

import { tick } from "./clock.js";
import { explainAmount, formatLocal, parseNumber } from "./fields.js";
import { isEnd, offerFinish } from "./finish.js";
import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import { callAPI } from "./requests.js";
import { checkField, submitSheet } from "./sheets.js";
import { fillIn } from "./texts.js";

const sheet = document.getElementById("page-sheet"), stopSheet = document.getElementById("stop-sheet");

/** Returns a number with separators for thousands, as the service writes it. */
function group(number) { return number === null ? "" : new Intl.NumberFormat(document.documentElement.lang).format(number); }

/**
 * Sends the request of a sheet, and offers to finish a book whose end is reached. Returns the error, or null on success.
 */
async function send(dialog, path, body, copy, count) {
  let answer;
  const error = await submitSheet(dialog, async () => { answer = await callAPI("POST", path, body); });
  if (error) return error;
  dialog.close();
  toastOutcome(dialog.dataset.done, answer);
  await refresh();
  if (isEnd(body, Number(count))) await offerFinish(copy);
  return null;
}

// The page that a person has reached.

const number = sheet.querySelector("[name=number]");
let book = {};

const unit = () => sheet.querySelector("[name=unit]:checked").value;

/** Shows a preview of the progress bar. Only a book that has been read to the end is at 100 %. */
function preview() {
  const isEmpty = number.value.trim() === "", mistake = isEmpty ? null : explainAmount(parseNumber(number), unit());
  const typed = isEmpty || mistake !== null ? null : parseNumber(number), count = Number(book.count) || null;
  const part = typed === null ? 0 : unit() === "percent" ? typed / 100 : count ? typed / count : null;
  const percent = part === null ? null : part < 1 ? Math.min(99, Math.round(Math.max(0, part) * 100)) : 100;
  sheet.querySelector(".progress").hidden = part === null;
  sheet.querySelector("rect").setAttribute("width", Math.min(100, Math.max(0, (part ?? 0) * 100)));
  const pattern = unit() === "percent" ? sheet.dataset.amountPercent : count ? sheet.dataset.amount : sheet.dataset.amountPage;
  const label = typed === null ? "" : fillIn(pattern, { page: group(typed), count: group(count), percent });
  const isBeyond = unit() === "page" && count && typed > count;
  const line = sheet.querySelector(".preview");
  line.classList.toggle("state-attention", mistake !== null);
  line.textContent = mistake ?? (isBeyond ? `${label} · ${sheet.dataset.beyond}` : label);
}

function setUnit(name) {
  sheet.querySelector(`[name=unit][value=${name}]`).checked = true;
  number.inputMode = name === "percent" ? "decimal" : "numeric";
}

function openPage(button) {
  book = { ...button.dataset };
  sheet.querySelector(".booktitle").textContent = book.title;
  setUnit(book.percent ? "percent" : "page");
  number.value = book.percent || book.page || "";
  checkField(sheet, number, null);
  preview();
  sheet.showModal();
  number.select();
}

number.addEventListener("input", () => { checkField(sheet, number, null); preview(); });
for (const choice of sheet.querySelectorAll("[name=unit]")) {
  choice.addEventListener("change", () => {
    const count = Number(book.count), typed = parseNumber(number);
    // The number is converted into the other unit if the page count is known.
    if (Number.isFinite(typed) && count) {
      number.value = unit() === "percent" ? Math.round(typed / count * 1000) / 10 : Math.floor(typed * count / 100);
    }
    setUnit(unit());
    preview();
    number.focus();
  });
}
sheet.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const typed = parseNumber(number);
  if (!checkField(sheet, number, explainAmount(typed, unit()))) { sheet.querySelector(".preview").textContent = ""; return; }
  send(sheet, `/api/books/${book.update}/progress`, { [unit()]: typed }, book.update, book.count);
});

// The running session.

let stopping = null;
const force = stopSheet.querySelector(".forced"), time = stopSheet.querySelector("[name=end]");

function openStop(button) {
  stopping = { ...button.dataset };
  stopSheet.querySelector(".booktitle").textContent = stopping.title;
  stopSheet.querySelector("[name=page]").value = stopping.page || stopping.stop;
  stopSheet.querySelector("[name=page]").min = stopping.stop;
  force.hidden = time.closest(".field").hidden = true;
  stopSheet.querySelector(".wrong").hidden = true;
  stopSheet.showModal();
  tick();
  stopSheet.querySelector("[name=page]").select();
}

async function stop(isForced) {
  const page = stopSheet.querySelector("[name=page]").value;
  const body = { session: stopping.running, page: page === "" ? null : Number(page), force: isForced };
  if (!time.closest(".field").hidden && time.value) body.end = new Date(time.value).toISOString();
  const error = await send(stopSheet, "/api/session/stop", body, stopping.book, stopping.count);
  force.hidden = error?.code !== "sessionTooShort";
  if (error?.code !== "clockWentBackwards") return;
  // Only the reader knows when the session ended. The suggestion is a minute after the start, because the field has no
  // seconds and would otherwise lie before the start.
  time.closest(".field").hidden = false;
  time.min = time.value = formatLocal(new Date(Number(stopping.since) + 60000));
  time.focus();
}

stopSheet.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); stop(false); });
force.addEventListener("click", () => stop(true));

document.addEventListener("click", (event) => {
  const updater = event.target.closest("[data-update]"), stopper = event.target.closest("[data-stop]");
  if (updater) openPage(updater);
  if (stopper) openStop(stopper);
});
