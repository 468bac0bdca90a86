// The fields of the form, which are people in rows, names as chips, stars and dates. This file also reads their values
// as JSON, and shows errors beside them.

import { complete, completeAll } from "./complete.js";
import { fillIn } from "./texts.js";

export const form = document.getElementById("form");
const texts = document.getElementById("page-texts").dataset;
/** Returns a text of the page, with its {names} filled in. */
export const pageText = (key, values) => fillIn(texts[key], values);

/** Notifies the form of a change that does not send an event. */
export function notifyChange() { form.dispatchEvent(new Event("change")); }

// People, one in each row. The last row is emptied rather than removed.

export function addPerson(name = "", role = "author") {
  const row = document.getElementById("person").content.firstElementChild.cloneNode(true);
  row.querySelector("input").value = name;
  row.querySelector("select").value = role;
  document.getElementById("addPerson").before(row);
  complete(row.querySelector("input"));
  return row;
}
document.getElementById("addPerson").addEventListener("click", () => addPerson().querySelector("input").focus());
export function readPeople() {
  const readRow = (row) => ({ name: row.querySelector("input").value.trim(), role: row.querySelector("select").value });
  return [...document.querySelectorAll(".person")].map(readRow).filter(({ name }) => name);
}

// Tags and genres, which are chips with a field that adds more.

export function addName(box, name) {
  name = name.trim();
  if (!name || readNames(box).some((other) => other.toLowerCase() === name.toLowerCase())) return;
  const chip = document.createElement("span"), button = document.createElement("button");
  chip.className = "chip";
  chip.dataset.name = chip.textContent = name;
  chip.dir = "auto";
  button.type = "button";
  button.className = "quiet";
  button.dataset.remove = "";
  button.textContent = "✕";
  button.setAttribute("aria-label", `${texts.remove} ${name}`);
  chip.append(button);
  box.querySelector(".picked").append(chip);
  notifyChange();
}
export function readNames(box) { return [...box.querySelectorAll(".picked > [data-name]")].map((chip) => chip.dataset.name); }
/** Adds the names that are typed in the field, as if Enter had been pressed. */
export function addTyped(box) {
  const field = box.querySelector("input");
  for (const name of field.value.split(",")) addName(box, name);
  field.value = "";
}
for (const box of document.querySelectorAll(".names-field")) {
  const field = box.querySelector("input");
  field.addEventListener("taken", () => addTyped(box));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === ",") { event.preventDefault(); addTyped(box); }
    if (event.key === "Backspace" && field.value === "") { box.querySelector(".picked").lastElementChild?.remove(); notifyChange(); }
  });
}
completeAll();

form.addEventListener("click", (event) => {
  const remove = event.target.closest("[data-remove]");
  if (!remove) return;
  const row = remove.closest(".person"), box = remove.closest(".names-field");
  if (box) { remove.closest(".chip").remove(); box.querySelector("input").focus(); }
  else if (document.querySelectorAll(".person").length > 1) { row.remove(); document.querySelector(".person input").focus(); }
  else { row.querySelector("input").value = ""; row.querySelector("input").focus(); }
  notifyChange();
});

// Stars. A tap sets whole stars, and a second tap on the same star clears the rating. The field accepts quarter stars.

const rating = form.elements.rating;
function showStars() {
  for (const star of document.querySelectorAll("[data-star]")) {
    const is = Number(star.dataset.star) <= Number(rating.value || 0);
    star.textContent = is ? "★" : "☆";
    star.setAttribute("aria-pressed", is);
  }
}
form.addEventListener("click", (event) => {
  const star = event.target.closest("[data-star]");
  if (!star) return;
  rating.value = rating.value === star.dataset.star ? "" : star.dataset.star;
  showStars();
  notifyChange();
});
rating.addEventListener("input", showStars);
showStars();

// Only the dates that fit the status are shown.

const status = form.elements.status;
function showDays() {
  for (const field of document.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(status.value);
}
status.addEventListener("change", showDays);
showDays();

// A book with a goal category counts towards the goal, and one that does not count has no category.

const category = form.elements.culturalGoalCategory, goal = form.elements.culturalGoal;
category.addEventListener("input", () => { if (category.value.trim()) goal.checked = true; });
goal.addEventListener("change", () => { if (!goal.checked) category.value = ""; });

// The form as JSON.

/** Returns the form's values under the API's keys of a book. */
export function readForm() {
  const result = {};
  for (const field of form.elements) {
    if (!field.name || field.name === "anotherCopy") continue;
    const text = field.value.trim();
    if (field.closest("[data-for]")?.hidden) result[field.name] = null;
    else if (field.type === "checkbox") result[field.name] = field.checked;
    else if (field.type === "number") result[field.name] = text === "" ? null : Number(text);
    else if (field.name === "wouldRecommend") result[field.name] = text === "" ? null : text === "true";
    else result[field.name] = text === "" ? null : text;
  }
  result.authors = readPeople();
  for (const box of document.querySelectorAll(".names-field")) result[box.dataset.names] = readNames(box);
  return result;
}
/** Returns everything that is entered in the form, as a value for restoreDraft. */
export function readDraft() {
  const fields = {};
  for (const field of form.elements) if (field.name) fields[field.name] = field.type === "checkbox" ? field.checked : field.value;
  const boxes = Object.fromEntries([...document.querySelectorAll(".names-field")].map((box) => [box.dataset.names, readNames(box)]));
  return { fields, people: readPeople(), boxes };
}
export function restoreDraft({ fields, people, boxes }) {
  for (const [name, value] of Object.entries(fields)) {
    const field = form.elements[name];
    if (!field) continue;
    if (field.type === "checkbox") field.checked = value; else field.value = value;
    const folded = field.closest("details");
    if (folded && value && value !== field.defaultValue && field.type !== "checkbox") folded.open = true;
  }
  for (const row of document.querySelectorAll(".person")) row.remove();
  for (const { name, role } of people.length > 0 ? people : [{}]) addPerson(name, role);
  for (const [name, list] of Object.entries(boxes)) {
    const box = document.querySelector(`[data-names="${CSS.escape(name)}"]`);
    for (const one of list) addName(box, one);
  }
  showStars();
  showDays();
  notifyChange();
}
export const dates = ["started", "finished", "stopped"];

// Errors, which are shown beside their fields.

const formError = document.getElementById("form-error");
export function clearError(field) {
  const box = field.closest(".field");
  box?.querySelector(":scope > .wrong")?.remove();
  field.removeAttribute("aria-invalid");
}
export function showError(name, message) {
  const others = { authors: ".person input", tags: "#tag", subjects: "#subject" };
  const field = others[name] ? document.querySelector(others[name]) : form.elements[name];
  if (!field) {
    formError.textContent = message;
    formError.hidden = false;
    formError.scrollIntoView({ block: "center" });
    return null;
  }
  clearError(field);
  const line = document.createElement("p");
  line.className = "wrong";
  line.id = `wrong-${name}`;
  line.setAttribute("role", "alert");
  line.textContent = message;
  field.closest(".field").append(line);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", line.id);
  const folded = field.closest("details");
  if (folded) folded.open = true;
  return field;
}
