// The Book page: every value edited in its place, the progress sheet with its preview, sessions told afterwards, the cover photo.

import { ask, attempt, load, refresh, toast } from "./app.js";
import { withSeen } from "./fields.js";
import { acting, number, words } from "./book-acts.js";

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

function edit(button) {
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

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit]");
  if (button) edit(button);
});

// Sheets that most visits do without come when they are opened.

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-date], [data-session], [data-entry]");
  if (button) attempt(async () => (await load("date" in button.dataset ? "dates" : "book-history")).open(button));
  const start = event.target.closest("[data-start]"), stop = event.target.closest("[data-stop]");
  if (start || stop) attempt(async () => { const timer = await load("timer"); await (start ? timer.start(start) : timer.stop(stop)); });
});

/** The clock comes with a session. Should it not come now, the next change asks for it again, and Stop says so. */
const clock = () => { if (document.querySelector("[data-clock]")) load("timer").catch(() => {}); };
document.addEventListener("renewed", clock);
clock();

// Stars in quarters: the slider tells while it moves and saves when it is let go.

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-rating]")) return;
  const rating = Number(event.target.value) || null;
  attempt(async () => {
    const answer = await ask("PATCH", `/api/books/${copy}`, { rating });
    toast(`${words.rated}: ${rating ?? "–"}`, { change: answer.change });
    event.target.blur();
    await refresh();
  });
});

// The progress sheet.

const sheet = document.getElementById("progress-sheet"), progress = document.getElementById("progress-form");
const amount = document.getElementById("amount");
let count = 0, standing = {};

const unit = () => progress.elements.unit.value;
/** As the service says it: only what is read to the end is 100. */
const whole = (part) => part < 1 ? Math.min(99, Math.round(Math.max(0, part) * 100)) : 100;

function preview() {
  const said = number(amount), told = document.getElementById("preview-words");
  const part = unit() === "percent" ? said / 100 : count > 0 ? said / count : NaN;
  const known = Number.isFinite(part) && part >= 0;
  document.getElementById("preview").setAttribute("width", `${known ? Math.min(100, part * 100) : 0}%`);
  const isBeyond = unit() === "page" && count > 0 && said > count;
  told.classList.toggle("state-attention", isBeyond);
  const percent = `${whole(part)}\u00a0%`;
  if (!known) told.textContent = "";
  else if (isBeyond) told.textContent = `▲ ${progress.dataset.beyond.replace("{count}", count)}`;
  else if (count > 0) told.textContent = progress.dataset.of.replace("{percent} %", percent).replace("{left}", Math.max(0, count - (unit() === "page" ? said : Math.floor(part * count))));
  else told.textContent = percent;
}

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-progress]");
  if (!opener) return;
  count = Number(opener.dataset.count);
  standing = opener.dataset;
  // In the unit that was used last; without a page count percents are what can be shown.
  progress.elements.unit.value = standing.percent || (!standing.page && count === 0) ? "percent" : "page";
  amount.value = standing.page || standing.percent;
  document.getElementById("progress-wrong").hidden = true;
  sheet.showModal();
  amount.focus();
  amount.select();
  preview();
});
amount.addEventListener("input", preview);
progress.addEventListener("change", (event) => {
  if (event.target.name !== "unit") return;
  amount.inputMode = unit() === "page" ? "numeric" : "decimal";
  const said = number(amount);
  // What was typed goes over into the other unit.
  if (count > 0 && Number.isFinite(said)) amount.value = unit() === "page" ? Math.floor(said * count / 100) : Math.round(said / count * 1000) / 10;
  preview();
});
progress.addEventListener("submit", async (event) => {
  event.preventDefault();
  let answer;
  if (!await acting(progress, async () => { answer = await ask("POST", progress.dataset.path, { [unit()]: number(amount) }); })) return;
  sheet.close();
  toast(progress.dataset.told, { change: answer.change });
  await refresh();
});

// The cover photo: made small here, so that a phone's twelve megapixels do not travel, and without what a camera writes beside it.

const photo = document.getElementById("photo"), state = document.getElementById("photo-state");
const longest = 1200;

async function smaller(file) {
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
  const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * scale)));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((done) => canvas.toBlob(done, "image/jpeg", .85));
}

photo.addEventListener("change", async () => {
  const file = photo.files[0];
  if (!file) return;
  state.textContent = state.dataset.saving;
  let small;
  try { small = await smaller(file); } catch { small = null; }
  if (!small) { state.textContent = photo.dataset.unreadable; return; }
  const worked = await attempt(async () => {
    await ask("PUT", photo.dataset.path, small);
    photo.closest("dialog").close();
    toast(photo.dataset.told);
  });
  state.textContent = "";
  photo.value = "";
  if (worked) await refresh();
});

// For good, out of the trash: the one act that asks first.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-for-good]");
  let question;
  if (!button || !await attempt(async () => { question = await load("for-good"); }) || !await question.askForGood()) return;
  await attempt(async () => {
    await ask("POST", "/api/books/delete-for-good", { ids: [button.dataset.forGood] });
    location.assign("/library?trash=1");
  });
});

// What is folded open stays so while live regions change.
const folds = new Map();
document.addEventListener("toggle", ({ target }) => { if (target.id && target.matches("details")) folds.set(target.id, target.open); }, true);
document.addEventListener("renewed", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) if (folds.has(fold.id)) fold.open = folds.get(fold.id);
});
