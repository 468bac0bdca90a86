// The pages for tags, shelves and authors in the settings, on which a person renames one name,
// merges several, or corrects the sort name of an author.

import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import { callAPI } from "./requests.js";
import { submitSheet } from "./sheets.js";

const renaming = document.getElementById("rename-sheet"), merging = document.getElementById("merge-sheet");
const bar = document.querySelector(".selection"), label = bar.querySelector("[data-texts]");
let name = "";

function listSelected() { return [...document.querySelectorAll("#names input:checked")].map((box) => box.value); }

function showBar() {
  const count = listSelected().length;
  bar.hidden = count < 2;
  // The bar is shown only if at least two names are selected, so the plural is always right.
  label.textContent = label.dataset.texts.split("|").at(-1).replace("{n}", count);
}

/** Sends the request of a sheet. */
async function send(dialog, method, path, body) {
  let answer;
  if (await submitSheet(dialog, async () => { answer = await callAPI(method, path, body); })) return;
  dialog.close();
  toastOutcome(dialog.querySelector("form").dataset.done, answer);
  for (const box of document.querySelectorAll("#names input:checked")) box.checked = false;
  await refresh();
  showBar();
}

document.addEventListener("change", (event) => { if (event.target.closest("#names")) showBar(); });
document.addEventListener("renewed", showBar);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-rename]");
  if (!button) return;
  name = button.dataset.rename;
  renaming.querySelector(".wrong").hidden = true;
  renaming.querySelector("[name=newName]").value = name;
  renaming.showModal();
  renaming.querySelector("[name=newName]").select();
});

renaming.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  send(renaming, "PATCH", `/api/${form.dataset.list}`, { name, newName: form.elements.newName.value });
});

// The sort name of an author, which is filled in as it is now. An empty one is the one of the rule.
const sorting = document.getElementById("sort-sheet");
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-sort]");
  if (!button) return;
  name = button.dataset.sort;
  const field = sorting.querySelector("[name=sortName]");
  sorting.querySelector(".wrong").hidden = true;
  field.value = button.dataset.value;
  field.placeholder = button.dataset.rule;
  sorting.showModal();
  field.select();
});
sorting?.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(sorting, "PUT", "/api/authors/sort-name", { name, sortName: event.target.elements.sortName.value });
});

document.getElementById("merge").addEventListener("click", () => {
  const choices = merging.querySelector(".choices");
  choices.querySelectorAll("label").forEach((label) => label.remove());
  merging.querySelector(".wrong").hidden = true;
  listSelected().forEach((choice, index) => {
    const label = document.createElement("label"), radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: "into", value: choice, checked: index === 0 });
    label.append(radio, choice);
    label.dir = "auto";
    choices.append(label);
  });
  merging.showModal();
});

merging.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target, into = form.elements.into.value;
  send(merging, "POST", `/api/${form.dataset.list}/merge`, { names: listSelected().filter((name) => name !== into), into });
});
