// The sheet that is offered when a person has reached the end of a book. Nothing is saved until the person says so.

import { attempt } from "./acts.js";
import { parseNumber } from "./fields.js";
import { refresh } from "./live.js";
import { keepMessage, toastOutcome } from "./messages.js";
import { callAPI, fetchPage } from "./requests.js";
import { submitSheet } from "./sheets.js";

const find = (id) => document.getElementById(id);

/** Returns true if a page or a percentage is the end of a book with this page count, which may be unknown. */
export function isEnd({ page, percent }, count) { return percent >= 100 || (count > 0 && page >= count); }

/** Opens the sheet for a book. */
export function offerFinish(copy) {
  return attempt(async () => {
    const fresh = await fetchPage(`/books/${copy}/finish`);
    await loadStyle();
    const sheet = document.createElement("dialog");
    sheet.id = "finish-sheet";
    sheet.setAttribute("aria-labelledby", "finish-title");
    sheet.append(document.adoptNode(fresh.getElementById("finish-form")));
    find("finish-sheet")?.remove();
    document.body.append(sheet);
    const opener = document.activeElement.closest?.("[id]")?.id;
    sheet.addEventListener("close", () => { sheet.remove(); if (opener) find(opener)?.focus(); });
    showStars();
    sheet.showModal();
    sheet.querySelector(".primary").focus();
  });
}

/** The style of the sheet is loaded when it is first needed. */
function loadStyle() {
  const href = "/assets/finish.css";
  if (document.querySelector(`link[href="${href}"]`)) return null;
  return new Promise((resolve) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: resolve, onerror: resolve });
    document.head.append(link);
  });
}

function showStars() {
  const rating = Number(find("finish-rating").value), output = find("finish-stars");
  for (const star of document.querySelectorAll("#finish-form [data-stars]")) {
    const part = Math.min(1, Math.max(0, rating - star.dataset.stars + 1));
    // The star is drawn from 2.5 to 21.5 of 24 units.
    star.querySelector("svg svg").setAttribute("width", part > 0 ? 2.5 + part * 19 : 0);
    star.setAttribute("aria-pressed", rating === Number(star.dataset.stars));
  }
  output.textContent = rating > 0 ? `★ ${Math.floor(rating) || ""}${["", "¼", "½", "¾"][(rating * 4) % 4]}` : output.dataset.unrated;
}

document.addEventListener("input", (event) => { if (event.target.id === "finish-rating") showStars(); });
document.addEventListener("click", (event) => {
  const star = event.target.closest("#finish-form [data-stars]");
  if (star) { find("finish-rating").value = star.dataset.stars; showStars(); }
  if (event.target.closest("#not-yet")) leave();
});

function leave() {
  const sheet = find("finish-sheet");
  if (sheet) sheet.close(); else location.assign(find("finish-form").dataset.book);
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("#finish-form");
  if (!form) return;
  event.preventDefault();
  const body = { status: "read", on: find("finish-day").value, rating: parseNumber(find("finish-rating")) || null };
  const note = find("finish-note").value.trim(), next = form.querySelector("[name=next]:checked")?.value;
  if (note) body.note = note;
  if (next) Object.assign(body, { next: find("finish-next").value, nextStatus: next });
  let answer;
  if (await submitSheet(form, async () => { answer = await callAPI("PUT", form.dataset.path, body); })) return;
  if (find("finish-sheet")) {
    leave();
    toastOutcome(form.dataset.done, answer);
    await refresh();
  } else {
    keepMessage(form.dataset.done, answer.change);
    leave();
  }
});

if (find("finish-form")) showStars();
