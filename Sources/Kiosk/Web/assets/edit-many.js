// The sheet in which a person edits many books at once. It is fetched when it is opened. Each field is left as it is until
// it is filled in, and the sheet shows how many books the edit would change.

import { attempt, describeFailure } from "./acts.js";
import { complete } from "./complete.js";
import { callAPI, fetchPage, Refusal } from "./requests.js";
import { countSelected, pageText, readSelection } from "./selection.js";
import { fillIn } from "./texts.js";

const sheet = document.getElementById("edit-sheet");
const isOne = (count) => document.documentElement.lang === "fr" ? count < 2 : count === 1;
let form, timer, latest = 0;

/** Returns a text of the form, in the form for the count. */
function formText(key, values) {
  const [one, many = one] = form.dataset[key].split("|");
  return fillIn(isOne(values.count) ? one : many, values);
}

/** Opens the sheet. makeChange is called with the edit as the API expects it. */
export function openEdit(makeChange) {
  return attempt(async () => {
    form = document.adoptNode((await fetchPage("/library/edit")).getElementById("edit-many"));
    sheet.replaceChildren(form);
    for (const box of form.querySelectorAll(".clearable")) addClear(box);
    const count = countSelected();
    document.getElementById("edit-title").textContent = count === null
      ? pageText("editall", { total: document.getElementById("total").textContent }) : pageText("edittitle", { count });
    form.querySelector(".primary").textContent = count === null ? form.dataset.applyall : formText("apply", { count });
    form.addEventListener("input", notice);
    form.addEventListener("taken", notice);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const edit = readEdit();
      if (Object.keys(edit).length === 0) return;
      sheet.close();
      makeChange(edit);
    });
    sheet.showModal();
    for (const field of form.querySelectorAll("[data-complete]")) complete(field);
    form.elements.status.focus();
  });
}

/** Adds the button with which a person empties a field of all books. */
function addClear(box) {
  const button = document.getElementById("clear-button").content.firstElementChild.cloneNode(true), field = box.querySelector("input");
  button.setAttribute("aria-label", fillIn(button.dataset.label, { field: labelOf(field) }));
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", isOn);
    field.disabled = isOn;
    field.value = "";
    notice();
  });
  box.append(button);
}
const labelOf = (field) => field.dataset.title ?? field.labels[0].textContent;
const isCleared = (field) => field.closest(".clearable")?.querySelector("[aria-pressed=true]") != null;

/** Returns the value of a field as JSON, or undefined if it is left as it is. */
function readField(field) {
  const text = field.value.trim();
  if (isCleared(field) || text === "null") return null;
  if (text === "") return undefined;
  switch (field.dataset.type) {
    case "bool": return text === "true";
    case "number": return Number(text);
    case "names": return text.split(",").map((name) => name.trim()).filter(Boolean);
    case "people": return [{ name: text, role: field.dataset.role }];
    default: return text;
  }
}

function readEdit() {
  const edit = {};
  for (const field of form.querySelectorAll("[name]")) {
    const value = readField(field);
    field.classList.toggle("is-set", value !== undefined);
    if (value === undefined) continue;
    edit[field.name] = field.dataset.type === "people" ? [...(edit[field.name] ?? []), ...value] : value;
  }
  return edit;
}

// The preview. It waits for a pause in typing, and only the answer to the newest request counts.

function notice() {
  const edit = readEdit(), isEmpty = Object.keys(edit).length === 0;
  form.querySelector(".primary").disabled = isEmpty;
  form.querySelector(".wrong").hidden = true;
  clearTimeout(timer);
  latest++;
  if (isEmpty) document.getElementById("edit-preview").replaceChildren();
  else timer = setTimeout(() => preview(edit), 250);
}

async function preview(edit) {
  const mine = ++latest, wrong = form.querySelector(".wrong");
  try {
    const answer = await callAPI("POST", "/api/books/edit", { ...readSelection(), ...edit, dryRun: true });
    if (mine !== latest) return;
    const lines = answer.fields.map((field) => describe(field, answer.books));
    if (answer.books < (countSelected() ?? Infinity)) lines.push(formText("sample", { count: answer.books }));
    document.getElementById("edit-preview").replaceChildren(...lines.map((text) => {
      const line = document.createElement("li");
      line.textContent = text;
      return line;
    }));
  } catch (error) {
    if (mine !== latest) return;
    document.getElementById("edit-preview").replaceChildren();
    wrong.textContent = describeFailure(error);
    wrong.hidden = false;
    form.querySelector(".primary").disabled = error instanceof Refusal;
  }
}

function describe({ field, changed, was, others }, total) {
  const input = form.querySelector(`[name="${field}"], [data-field="${field}"]`);
  const line = formText("line", { field: labelOf(input), count: changed, total });
  if (changed === 0) return line;
  const values = was.map(({ value, count }) => `${describeValue(input, value)} (${count})`);
  if (others > 0) values.push(formText("others", { count: others }));
  return `${line} · ${fillIn(form.dataset.before, { values: values.join(", ") })}`;
}

function describeValue(input, value) {
  if (value === null || value === "" || value.length === 0) return form.dataset.empty;
  if (typeof value === "boolean") return form.dataset[value ? "yes" : "no"];
  if (Array.isArray(value)) return value.map((item) => item.name ?? item).join(", ");
  const option = input.options && [...input.options].find((other) => other.value === String(value));
  return option ? option.textContent : String(value);
}
