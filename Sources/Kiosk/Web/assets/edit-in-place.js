// Editing in place on the Book page. A button with data-edit becomes a field when it is pressed. The button's id says
// which value the field changes, unless data-edit contains another request. Enter saves (Control-Enter in fields with
// several lines), and Esc leaves the value as it was.

import { addSeen } from "./fields.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { callAPI } from "./requests.js";
import { submitSheet } from "./sheets.js";

const copy = document.querySelector("[data-copy]").dataset.copy, texts = document.getElementById("page-texts").dataset;

function makeElement(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function makeField(button) {
  const { kind, options } = button.dataset;
  const raw = button.dataset.from ? document.getElementById(button.dataset.from)?.textContent ?? "" : button.dataset.raw ?? "";
  let field;
  if (["long", "lines", "people"].includes(kind)) {
    field = makeElement("textarea", { rows: kind === "long" ? 8 : Math.max(3, raw.split("\n").length + 1) });
  } else if (kind === "select") {
    field = makeElement("select");
    for (const [value, label] of JSON.parse(options)) field.add(new Option(label, value));
  } else {
    field = makeElement("input", { autocomplete: "off" });
    if (kind === "number") { field.type = "number"; field.inputMode = "numeric"; field.min = 1; }
    if (kind === "tag" || kind === "shelf") suggestNames(field, kind, `names-of-${button.id}`);
  }
  field.value = raw;
  return field;
}

/** Returns a field's value as the API expects it. */
function readField(field, kind) {
  const readLines = () => field.value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (kind === "lines") return readLines();
  if (kind === "people") return readLines().map((line) => {
    const [, name, role] = line.match(/^(.+):(author|translator|editor|illustrator|narrator|other)$/) ?? [null, line, "author"];
    return { name: name.trim(), role };
  });
  if (field.value.trim() === "") return null;
  return kind === "number" ? Number(field.value) : field.value;
}

function labelOf(button) {
  return button.dataset.label ?? button.closest(".fact")?.querySelector("dt").textContent ?? button.textContent.replace("+ ", "");
}

function edit(button) {
  const { kind, hint } = button.dataset;
  const field = makeField(button);
  // Several fields may be open at the same time.
  field.id = `field-of-${button.id}`;
  const wrong = makeElement("p", { className: "wrong small", role: "alert", hidden: true });
  const save = makeElement("button", { className: "primary" }, texts.save);
  const cancel = makeElement("button", { type: "button" }, texts.cancel);
  const label = makeElement("label", { htmlFor: field.id }, labelOf(button));
  const form = makeElement("form", { className: "in-place", noValidate: true }, label, field);
  form.dataset.busy = "";
  if (hint) {
    const line = makeElement("p", { className: "small faint", id: `hint-of-${button.id}` }, hint);
    form.append(line);
    field.setAttribute("aria-describedby", line.id);
  }
  form.append(wrong, makeElement("div", { className: "row" }, save, cancel));

  const hidden = [button, button.dataset.from ? document.getElementById(button.dataset.from) : null].filter(Boolean);
  // The field replaces the whole title or line.
  const place = button.closest("h1, h3, p, dd") ?? button;
  if (place.matches("h1, p")) hidden.push(place);
  if (place.matches("dd")) { hidden.push(...place.children); place.append(form); } else place.after(form);
  for (const element of hidden) element.hidden = true;
  const close = () => {
    form.remove();
    for (const element of hidden) element.hidden = false;
    document.getElementById(button.id)?.focus();
  };
  cancel.addEventListener("click", close);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  let was = readField(field, kind);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [method, path] = (button.dataset.edit || `PATCH /api/books/${copy}`).split(" ");
    const name = button.dataset.field ?? button.id.slice("edit-".length), body = { [name]: readField(field, kind) };
    const whole = method === "PATCH" ? addSeen(body, { [name]: was }) : body;
    let answer;
    const error = await submitSheet(form, async () => { answer = await callAPI(method, path, whole); });
    if (error) {
      // After the person has seen the current value, saving again replaces it.
      if (error.code?.startsWith("changed.")) was = error.now;
      return field.focus();
    }
    close();
    if (answer?.change) toast(texts.saved, { change: answer.change });
    await refresh();
  });
  field.focus();
  form.scrollIntoView({ block: "nearest" });
  if (field.matches("input")) field.select();
}

/** Suggests existing names while a person types. */
function suggestNames(field, kind, id) {
  const list = makeElement("datalist", { id });
  document.getElementById(id)?.remove();
  document.body.append(list);
  field.setAttribute("list", list.id);
  let latest = 0;
  field.addEventListener("input", async () => {
    const mine = ++latest;
    try {
      const query = `kind=${kind}&limit=8&beginning=${encodeURIComponent(field.value)}`;
      const { suggestions } = await callAPI("GET", `/api/suggestions?${query}`);
      if (mine === latest) list.replaceChildren(...suggestions.map(({ name }) => new Option("", name)));
    } catch { /* Without suggestions, the person types the whole name. */ }
  });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit]");
  if (button) edit(button);
});
