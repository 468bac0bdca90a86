// The Book page: every value edited in its place, the progress sheet with its preview, sessions told afterwards, the cover photo.

import { ask, attempt, load, refresh, toast } from "./app.js";
import "./fields.js";
import { acting, number, words } from "./book-acts.js";

const copy = document.querySelector("[data-copy]").dataset.copy;

// Editing in place, and sheets that most visits do without, come when they are opened.

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit]");
  if (button) attempt(async () => (await load("book-edit")).edit(button));
});

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
