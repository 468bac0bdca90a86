// The page on which a person tidies the library. Before books are merged, a sheet shows what the merge does. Books that
// are not the same are set aside.

import { attempt } from "./acts.js";
import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import { callAPI, Refusal } from "./requests.js";
import { submitSheet } from "./sheets.js";

const find = (id) => document.getElementById(id);
const sheet = find("merge-sheet"), warning = find("merge-warning"), names = find("field-names").dataset;
let body = null;

const merge = (more) => callAPI("POST", "/api/books/merge", { ...body, ...more });

/** Returns what the merge would do. Editions that differ are joined only after the person has read the warning. */
async function preview() {
  warning.hidden = true;
  try {
    return await merge({ dryRun: true });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "merge") throw error;
    body.joinsEditions = true;
    const result = await merge({ dryRun: true });
    warning.textContent = `▲ ${error.message}`;
    warning.hidden = false;
    return result;
  }
}

/** Fills in a line of the sheet, or hides the line if there is nothing to list. */
function showLine(id, items) {
  const line = find(id);
  line.hidden = items.length === 0;
  line.textContent = line.dataset.text.replace("{list}", items.join(", "));
}

/** Returns the book of a group that is kept, and the others that are chosen. */
function choice(group) {
  const kept = new FormData(group).get("keep");
  const radios = [...group.querySelectorAll("[name=keep]")].map(({ value }) => value);
  const boxes = [...group.querySelectorAll("[name=merged]")];
  const chosen = boxes.length ? boxes.filter(({ checked }) => checked).map(({ value }) => value) : radios;
  return { keep: kept, others: chosen.filter((id) => id !== kept) };
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-distinct]");
  if (!button) return;
  const { keep, others } = choice(button.form);
  attempt(async () => {
    toastOutcome(button.dataset.distinct, await callAPI("POST", "/api/books/distinct", { books: [keep, ...others] }));
    await refresh();
  });
});

document.addEventListener("submit", (event) => {
  const group = event.target.closest(".group");
  if (!group) return;
  event.preventDefault();
  body = choice(group);
  attempt(async () => {
    const { filled, lost } = await preview();
    const title = find("merge-title");
    title.textContent = title.dataset.question.replace("{title}", group.dataset.title);
    showLine("merge-filled", filled.map((field) => names[field.toLowerCase()] ?? field));
    showLine("merge-lost", lost.map(({ value }) => `“${value}”`));
    sheet.querySelector(".wrong").hidden = true;
    sheet.showModal();
  });
});

sheet.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  let answer;
  if (await submitSheet(sheet, async () => { answer = await merge(); })) return;
  sheet.close();
  toastOutcome(sheet.querySelector(".primary").dataset.done, answer);
  await refresh();
});
