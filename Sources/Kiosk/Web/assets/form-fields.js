// The fields of the form: rows of people, names as chips, stars, dates; their values as JSON, and what is wrong at one of them.
import { complete, completeAll } from "./complete.js";

export const form = document.getElementById("form");
const words = document.getElementById("words").dataset;
export const fill = (key, values) => words[key].replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

/** Tells the form that something in it changed that sends no event by itself. */
export function changed() { form.dispatchEvent(new Event("change")); }

// People: a row each. The last one cannot go, only become empty.

export function addPerson(name = "", role = "author") {
  const row = document.getElementById("person").content.firstElementChild.cloneNode(true);
  row.querySelector("input").value = name;
  row.querySelector("select").value = role;
  document.getElementById("addPerson").before(row);
  complete(row.querySelector("input"));
  return row;
}
document.getElementById("addPerson").addEventListener("click", () => addPerson().querySelector("input").focus());
export function people() {
  return [...document.querySelectorAll(".person")].map((row) => ({ name: row.querySelector("input").value.trim(), role: row.querySelector("select").value })).filter(({ name }) => name);
}

// Tags and genres: chips before a field that makes more of them.

export function addName(box, name) {
  name = name.trim();
  if (!name || names(box).some((other) => other.toLowerCase() === name.toLowerCase())) return;
  const chip = document.createElement("span"), button = document.createElement("button");
  chip.className = "chip";
  chip.dataset.name = chip.textContent = name;
  button.type = "button";
  button.className = "quiet";
  button.dataset.remove = "";
  button.textContent = "✕";
  button.setAttribute("aria-label", `${words.remove} ${name}`);
  chip.append(button);
  box.querySelector(".picked").append(chip);
  changed();
}
export function names(box) { return [...box.querySelectorAll(".picked > [data-name]")].map((chip) => chip.dataset.name); }
/** What stands in the field is a name, too, though nobody pressed Enter. */
export function takeTyped(box) {
  const field = box.querySelector("input");
  for (const name of field.value.split(",")) addName(box, name);
  field.value = "";
}
for (const box of document.querySelectorAll(".names-field")) {
  const field = box.querySelector("input");
  field.addEventListener("taken", () => takeTyped(box));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === ",") { event.preventDefault(); takeTyped(box); }
    if (event.key === "Backspace" && field.value === "") { box.querySelector(".picked").lastElementChild?.remove(); changed(); }
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
  changed();
});

// Stars: whole ones by a tap, the same again clears; quarters in the field.

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
  changed();
});
rating.addEventListener("input", showStars);
showStars();

// Dates show only where the status gives them sense.

const status = form.elements.status;
function showDays() {
  for (const field of document.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(status.value);
}
status.addEventListener("change", showDays);
showDays();

// Who names a category means it to count, and what counts for no goal has none.

const category = form.elements.culturalGoalCategory, goal = form.elements.culturalGoal;
category.addEventListener("input", () => { if (category.value.trim()) goal.checked = true; });
goal.addEventListener("change", () => { if (!goal.checked) category.value = ""; });

// The form as JSON, in the keys of a book.

export function values() {
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
  result.authors = people();
  for (const box of document.querySelectorAll(".names-field")) result[box.dataset.names] = names(box);
  return result;
}
/** All that stands in the form, to be put back by `putBack`. */
export function draft() {
  const fields = {};
  for (const field of form.elements) if (field.name) fields[field.name] = field.type === "checkbox" ? field.checked : field.value;
  const boxes = Object.fromEntries([...document.querySelectorAll(".names-field")].map((box) => [box.dataset.names, names(box)]));
  return { fields, people: people(), boxes };
}
export function putBack({ fields, people, boxes }) {
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
  changed();
}
export const days = ["started", "finished", "stopped"];

// What cannot be is said at its field.

const trouble = document.getElementById("trouble");
export function clearWrong(field) {
  const box = field.closest(".field");
  box?.querySelector(":scope > .wrong")?.remove();
  field.removeAttribute("aria-invalid");
}
export function wrong(name, message) {
  const field = { authors: document.querySelector(".person input"), tags: document.getElementById("tag"), subjects: document.getElementById("subject") }[name] ?? form.elements[name];
  if (!field) { trouble.textContent = message; trouble.hidden = false; trouble.scrollIntoView({ block: "center" }); return null; }
  clearWrong(field);
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
