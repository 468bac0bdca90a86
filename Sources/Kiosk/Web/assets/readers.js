// The readers in the head of every page. One tap shows them, and one chooses the reader of this browser.

import { attempt } from "./acts.js";
import { callAPI } from "./requests.js";
import { submitSheet } from "./sheets.js";

const sheet = document.getElementById("pin-sheet"), title = document.getElementById("pin-title");
let wanted = "";

function choose(body) { return callAPI("POST", `/api/readers/${wanted}/choose`, body); }

document.addEventListener("click", (event) => {
  const menu = document.getElementById("readers"), button = event.target.closest("[data-choose]");
  if (!button) {
    if (menu?.open && !event.target.closest("#readers")) menu.open = false;
    return;
  }
  wanted = button.dataset.choose;
  attempt(async () => {
    try {
      await choose({});
    } catch (error) {
      if (error.code !== "readerLocked") throw error;
      title.textContent = title.dataset.title.replace("{name}", button.dataset.name);
      sheet.querySelector("form").reset();
      sheet.querySelector(".wrong").hidden = true;
      sheet.showModal();
      return;
    }
    location.reload();
  });
});

document.addEventListener("keydown", (event) => {
  const menu = document.getElementById("readers");
  if (event.key !== "Escape" || !menu?.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

sheet.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.pin;
  if (await submitSheet(sheet, () => choose({ pin: field.value }))) field.select();
  else location.reload();
});
