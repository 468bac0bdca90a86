// Home: the sheet that updates a page, with its preview, and the session that runs.

import { local } from "./fields.js";
import { ask, Refusal, refresh, text, toast } from "./app.js";

const sheet = document.getElementById("page-sheet"), stop = document.getElementById("stop-sheet");

function filled(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all); }

/** A number with its thousands apart, as the service writes them. */
function grouped(number) { return number === null ? "" : new Intl.NumberFormat(document.documentElement.lang).format(number); }

function complain(dialog, words) {
  const line = dialog.querySelector(".wrong");
  line.hidden = !words;
  line.textContent = words ?? "";
}

/** Does what a sheet is for; what is refused is said in it, and nothing typed is lost. Gives the refusal's code. */
async function send(dialog, method, path, body) {
  const buttons = dialog.querySelectorAll("button"), primary = dialog.querySelector(".primary"), label = primary.textContent;
  for (const button of buttons) button.disabled = true;
  complain(dialog);
  primary.textContent = dialog.dataset.saving;
  try {
    const answer = await ask(method, path, body);
    dialog.close();
    toast(dialog.dataset.told, { change: answer?.change });
    await refresh();
  } catch (error) {
    complain(dialog, error instanceof Refusal ? error.message : text("lost"));
    return error.code ?? "lost";
  } finally {
    primary.textContent = label;
    for (const button of buttons) button.disabled = false;
  }
}

// The page that one is on.

const number = sheet.querySelector("[name=number]");
let book = {};

function unit() { return sheet.querySelector("[name=unit]:checked").value; }

/** What the bar will show. Only what is read to the end is 100 %. */
function preview() {
  const typed = number.value === "" ? null : Number(number.value), count = Number(book.count) || null;
  const part = typed === null ? 0 : unit() === "percent" ? typed / 100 : count ? typed / count : null;
  const percent = part === null ? null : part < 1 ? Math.min(99, Math.round(Math.max(0, part) * 100)) : 100;
  sheet.querySelector(".progress").hidden = part === null;
  sheet.querySelector("rect").setAttribute("width", Math.min(100, Math.max(0, (part ?? 0) * 100)));
  const pattern = unit() === "percent" ? sheet.dataset.amountPercent : count ? sheet.dataset.amount : sheet.dataset.amountPage;
  const words = typed === null ? "" : filled(pattern, { page: grouped(typed), count: grouped(count), percent });
  const isBeyond = unit() === "page" && count && typed > count;
  sheet.querySelector(".preview").textContent = isBeyond ? `${words} · ${sheet.dataset.beyond}` : words;
}

function setUnit(name) {
  sheet.querySelector(`[name=unit][value=${name}]`).checked = true;
  if (name === "percent") number.max = 100; else number.removeAttribute("max");
  number.step = name === "percent" ? "any" : 1;
}

function openPage(button) {
  book = { ...button.dataset };
  sheet.querySelector(".booktitle").textContent = book.title;
  setUnit(book.percent ? "percent" : "page");
  number.value = book.percent || book.page || "";
  complain(sheet);
  preview();
  sheet.showModal();
  number.select();
}

number.addEventListener("input", preview);
for (const choice of sheet.querySelectorAll("[name=unit]")) {
  choice.addEventListener("change", () => {
    const count = Number(book.count), typed = Number(number.value);
    // The same place in the other unit, where it is known.
    if (number.value !== "" && count) number.value = unit() === "percent" ? Math.round(typed / count * 1000) / 10 : Math.floor(typed * count / 100);
    setUnit(unit());
    preview();
    number.focus();
  });
}
sheet.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  send(sheet, "POST", `/api/books/${book.update}/progress`, { [unit()]: Number(number.value) });
});

// The session that runs. The service's clock counts, not this device's.

const offset = new WeakMap();

function seconds(button) {
  if (!offset.has(button)) offset.set(button, Number(button.dataset.now) - Date.now());
  return Math.max(0, Math.floor((Date.now() + offset.get(button) - Number(button.dataset.since)) / 1000));
}

function clock(seconds) {
  const two = (part) => String(part).padStart(2, "0");
  const tail = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? tail : `${Math.floor(seconds / 3600)}:${tail}`;
}

let stopping = null;
function tick() {
  const button = document.querySelector("[data-since]");
  if (!button) return;
  const words = clock(seconds(button));
  button.querySelector(".clock").textContent = words;
  if (stop.open) stop.querySelector(".clock").textContent = words;
}
setInterval(tick, 1000);
document.addEventListener("renewed", tick);
tick();

const force = stop.querySelector(".forced"), time = stop.querySelector("[name=end]");

function openStop(button) {
  stopping = { ...button.dataset };
  stop.querySelector(".booktitle").textContent = stopping.title;
  stop.querySelector("[name=page]").value = stopping.page || stopping.stop;
  stop.querySelector("[name=page]").min = stopping.stop;
  force.hidden = time.closest(".field").hidden = true;
  complain(stop);
  stop.showModal();
  tick();
  stop.querySelector("[name=page]").select();
}

async function end(isForced) {
  const page = stop.querySelector("[name=page]").value;
  const body = { session: stopping.running, page: page === "" ? null : Number(page), force: isForced };
  if (!time.closest(".field").hidden && time.value) body.end = new Date(time.value).toISOString();
  const code = await send(stop, "POST", "/api/session/stop", body);
  force.hidden = code !== "sessionTooShort";
  if (code !== "clockWentBackwards") return;
  // Only the reader knows when it ended. A minute on: the field knows no seconds, and would else lie before the start.
  time.closest(".field").hidden = false;
  time.min = time.value = local(new Date(Number(stopping.since) + 60000));
  time.focus();
}

stop.querySelector("form").addEventListener("submit", (event) => { event.preventDefault(); end(false); });
force.addEventListener("click", () => end(true));

document.addEventListener("click", (event) => {
  const update = event.target.closest("[data-update]"), ending = event.target.closest("[data-stop]");
  if (update) openPage(update);
  if (ending) openStop(ending);
});
