// Progress on the Book page, with the sheet in which a person enters the page reached, and the sheet that corrects an
// entry of the history.

import { explainAmount, formatLocal, parseNumber } from "./fields.js";
import { isEnd, offerFinish } from "./finish.js";
import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import { callAPI } from "./requests.js";
import { finishCorrection } from "./sessions.js";
import { checkField, submitSheet } from "./sheets.js";

const find = (id) => document.getElementById(id);

// The progress sheet, with a preview of the bar.

const sheet = find("progress-sheet"), form = find("progress-form"), amount = find("amount");
let count = 0;

const unit = () => form.elements.unit.value;
/** Returns the percentage, rounded as the service rounds it. Only a book that has been read to the end is at 100. */
const roundPercent = (part) => part < 1 ? Math.min(99, Math.round(Math.max(0, part) * 100)) : 100;

function preview() {
  const number = parseNumber(amount), line = find("preview-text");
  const part = unit() === "percent" ? number / 100 : count > 0 ? number / count : NaN;
  const isKnown = Number.isFinite(part) && part >= 0;
  find("preview").setAttribute("width", `${isKnown ? Math.min(100, part * 100) : 0}%`);
  const isBeyond = unit() === "page" && count > 0 && number > count;
  const mistake = amount.value.trim() === "" ? null : explainAmount(number, unit());
  line.classList.toggle("state-attention", isBeyond || mistake !== null);
  const percent = `${roundPercent(part)}${document.documentElement.lang === "en" ? "" : "\u00a0"}%`;
  if (mistake !== null) line.textContent = mistake;
  else if (!isKnown) line.textContent = "";
  else if (isBeyond) line.textContent = `▲ ${form.dataset.beyond.replace("{count}", count)}`;
  else if (count > 0) {
    const left = Math.max(0, count - (unit() === "page" ? number : Math.floor(part * count)));
    line.textContent = form.dataset.of.replace("{percent}", percent).replace("{left}", left);
  } else line.textContent = percent;
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-progress]");
  if (!opener) return;
  const { page, percent } = opener.dataset;
  count = Number(opener.dataset.count);
  // The amount is in the unit that was used last. If the page count is unknown, only percent can be shown.
  form.elements.unit.value = percent || (!page && count === 0) ? "percent" : "page";
  amount.value = page || percent;
  checkField(form, amount, null);
  sheet.showModal();
  amount.focus();
  amount.select();
  preview();
});
amount.addEventListener("input", () => { checkField(form, amount, null); preview(); });
form.addEventListener("change", (event) => {
  if (event.target.name !== "unit") return;
  amount.inputMode = unit() === "page" ? "numeric" : "decimal";
  const number = parseNumber(amount);
  // The number is converted into the other unit.
  if (count > 0 && Number.isFinite(number)) {
    amount.value = unit() === "page" ? Math.floor(number * count / 100) : Math.round(number / count * 1000) / 10;
  }
  preview();
});
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!checkField(form, amount, explainAmount(parseNumber(amount), unit()))) { find("preview-text").textContent = ""; return; }
  let answer;
  const body = { [unit()]: parseNumber(amount) };
  if (await submitSheet(form, async () => { answer = await callAPI("POST", form.dataset.path, body); })) return;
  sheet.close();
  toastOutcome(form.dataset.done, answer);
  await refresh();
  if (isEnd(body, count)) await offerFinish(form.dataset.copy);
});

// The sheet for an entry. The entries of sessions are corrected in the sessions.

const entrySheet = find("entry-sheet"), entryForm = find("entry-form");
const entryAmount = find("entry-amount"), entryTime = find("entry-at");
const entryUnit = () => entryForm.elements.unit.value;
let entry = null, entryOpener = null;

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-entry]");
  if (!button) return;
  entryOpener = button;
  entry = { ...button.dataset };
  entryForm.elements.unit.value = entry.percent ? "percent" : "page";
  entryAmount.value = entry.page || entry.percent;
  entryTime.value = formatLocal(new Date(entry.at));
  // The time may not be later than now, unless the entry's own time is later.
  entryTime.max = formatLocal(new Date(Math.max(Date.now() + 60000, Date.parse(entry.at))));
  checkField(entryForm, entryAmount, null);
  entrySheet.showModal();
  entryAmount.focus();
  entryAmount.select();
});

entryForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = {}, number = parseNumber(entryAmount);
  if (!checkField(entryForm, entryAmount, explainAmount(number, entryUnit()))) return;
  const isSameUnit = entryUnit() === (entry.percent ? "percent" : "page");
  if (!isSameUnit || number !== Number(entry.page || entry.percent)) body[entryUnit()] = number;
  // A time that was not changed keeps its seconds.
  if (!entryTime.reportValidity()) return;
  if (entryTime.value !== formatLocal(new Date(entry.at))) body.at = new Date(entryTime.value).toISOString();
  let answer;
  const path = entryForm.dataset.path + entry.entry;
  if (await submitSheet(entryForm, async () => { answer = await callAPI("PATCH", path, body); })) return;
  entrySheet.close();
  await finishCorrection(entryForm.dataset.edited, answer, entryOpener);
});
find("entry-delete").addEventListener("click", async () => {
  let answer;
  if (await submitSheet(entryForm, async () => { answer = await callAPI("DELETE", entryForm.dataset.path + entry.entry); })) return;
  entrySheet.close();
  await finishCorrection(entryForm.dataset.deleted, answer, entryOpener);
});
