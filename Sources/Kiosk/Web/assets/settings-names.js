// Tags, shelves and authors: renaming one, and making several one.

import { ask, Refusal, refresh, text, toast } from "./app.js";

const renaming = document.getElementById("rename-sheet"), merging = document.getElementById("merge-sheet");
const bar = document.querySelector(".selection"), words = bar.querySelector("[data-words]");
let name = "";

function selected() { return [...document.querySelectorAll("#names input:checked")].map((box) => box.value); }

function show() {
  const count = selected().length;
  bar.hidden = count < 2;
  // The bar is there from two on.
  words.textContent = words.dataset.words.split("|").at(-1).replace("{n}", count);
}

/** Does what a sheet is for; what is refused is said in it. */
async function send(dialog, method, path, body) {
  const wrong = dialog.querySelector(".wrong");
  try {
    const answer = await ask(method, path, body);
    dialog.close();
    toast(dialog.querySelector("form").dataset.told, { change: answer?.change });
    for (const box of document.querySelectorAll("#names input:checked")) box.checked = false;
    await refresh();
    show();
  } catch (error) {
    wrong.textContent = error instanceof Refusal ? error.message : text("lost");
    wrong.hidden = false;
  }
}

document.addEventListener("change", (event) => { if (event.target.closest("#names")) show(); });
document.addEventListener("renewed", show);

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

document.getElementById("merge").addEventListener("click", () => {
  const choices = merging.querySelector(".choices");
  choices.querySelectorAll("label").forEach((label) => label.remove());
  merging.querySelector(".wrong").hidden = true;
  selected().forEach((choice, index) => {
    const label = document.createElement("label"), radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: "into", value: choice, checked: index === 0 });
    label.append(radio, choice);
    choices.append(label);
  });
  merging.showModal();
});

merging.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target, into = form.elements.into.value;
  send(merging, "POST", `/api/${form.dataset.list}/merge`, { names: selected().filter((name) => name !== into), into });
});
