// Every value of the Book page edited in its place.

import { ask, refresh, toast } from "./app.js";
import { acting, words } from "./book-acts.js";
import { withSeen } from "./fields.js";

const copy = document.querySelector("[data-copy]").dataset.copy;

// Editing in place: a button with data-edit becomes a field. Unless it says otherwise, the act is to change what its id names of the book. Enter saves (Control-Enter where there are lines), Escape leaves it as it was.

function field(button) {
  const { kind, options } = button.dataset;
  const raw = button.dataset.from ? document.getElementById(button.dataset.from)?.textContent ?? "" : button.dataset.raw ?? "";
  let input;
  if (["long", "lines", "people"].includes(kind)) {
    input = document.createElement("textarea");
    input.rows = kind === "long" ? 8 : Math.max(3, raw.split("\n").length + 1);
  } else if (kind === "select") {
    input = document.createElement("select");
    for (const [value, label] of JSON.parse(options)) input.add(new Option(label, value));
  } else {
    input = document.createElement("input");
    if (kind === "number") { input.type = "number"; input.inputMode = "numeric"; input.min = 1; }
    if (kind === "tag" || kind === "shelf") complete(input, kind);
    input.autocomplete = "off";
  }
  input.value = raw;
  return input;
}

/** What a field says, as the API takes it. */
function value(input, kind) {
  const lines = () => input.value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (kind === "lines") return lines();
  if (kind === "people") return lines().map((line) => {
    const [, name, role] = line.match(/^(.+):(author|translator|editor|illustrator|narrator|other)$/) ?? [null, line, "author"];
    return { name: name.trim(), role };
  });
  if (input.value.trim() === "") return null;
  return kind === "number" ? Number(input.value) : input.value;
}

export function edit(button) {
  const { kind, hint } = button.dataset;
  const form = document.createElement("form");
  form.className = "in-place";
  form.dataset.busy = "";
  form.noValidate = true;
  const input = field(button);
  input.id = "in-place";
  const name = document.createElement("label");
  name.htmlFor = input.id;
  name.textContent = button.dataset.label ?? button.closest(".fact")?.querySelector("dt").textContent ?? button.textContent.replace("+ ", "");
  const wrong = document.createElement("p");
  wrong.className = "wrong small";
  wrong.role = "alert";
  wrong.hidden = true;
  const row = document.createElement("div");
  row.className = "row";
  const save = document.createElement("button");
  save.className = "primary";
  save.textContent = words.save;
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = words.cancel;
  row.append(save, cancel);
  form.append(name, input);
  if (hint) {
    const small = document.createElement("p");
    small.className = "small faint";
    small.id = "in-place-hint";
    small.textContent = hint;
    input.setAttribute("aria-describedby", small.id);
    form.append(small);
  }
  form.append(wrong, row);

  const hidden = [button, button.dataset.from ? document.getElementById(button.dataset.from) : null].filter(Boolean);
  // A field is no part of a title's or a line's words: it takes their place.
  const place = button.closest("h1, h3, p, dd") ?? button;
  if (place.matches("h1, p")) hidden.push(place);
  if (place.matches("dd")) { hidden.push(...place.children); place.append(form); } else place.after(form);
  for (const element of hidden) element.hidden = true;
  const leave = () => {
    form.remove();
    for (const element of hidden) element.hidden = false;
    document.getElementById(button.id)?.focus();
  };
  cancel.addEventListener("click", leave);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); leave(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); form.requestSubmit(); }
  });
  let was = value(input, kind);
  // What the person was told of is meant to be replaced.
  form.addEventListener("refused", ({ detail }) => { if (detail.code?.startsWith("changed.")) was = detail.now; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [method, path] = (button.dataset.edit || `PATCH /api/books/${copy}`).split(" ");
    const name = button.dataset.field ?? button.id.slice("edit-".length), body = { [name]: value(input, kind) };
    const whole = method === "PATCH" ? withSeen(body, { [name]: was }) : body;
    let answer;
    if (!await acting(form, async () => { answer = await ask(method, path, whole); })) return input.focus();
    leave();
    if (answer?.change) toast(words.saved, { change: answer.change });
    await refresh();
  });
  input.focus();
  if (input.matches("input")) input.select();
}

/** Names that there are already, as one types. */
function complete(input, kind) {
  const list = document.createElement("datalist");
  list.id = "names";
  document.getElementById("names")?.remove();
  document.body.append(list);
  input.setAttribute("list", list.id);
  let latest = 0;
  input.addEventListener("input", async () => {
    const turn = ++latest;
    try {
      const answer = await ask("GET", `/api/suggestions?kind=${kind}&limit=8&beginning=${encodeURIComponent(input.value)}`);
      const names = Array.isArray(answer) ? answer : Object.values(answer ?? {}).find(Array.isArray) ?? [];
      if (turn === latest) list.replaceChildren(...names.map((name) => new Option("", name.name ?? name)));
    } catch { /* Without suggestions one types the whole name. */ }
  });
}
