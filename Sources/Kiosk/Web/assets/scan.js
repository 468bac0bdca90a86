// The Scan page: what was captured is on the screen at once, the service's own view of it a moment later.

import { act, during, load, on, refresh, text, toast } from "./app.js";
import { hushEnter } from "./scanner.js";
import { areReady, play, sounds } from "./sounds.js";
import "./scan-save.js";
import { hide as hideKeypad } from "./keypad.js";

const byID = (id) => document.getElementById(id);
const words = JSON.parse(byID("scan").dataset.words);
const flash = byID("flash"), said = byID("said"), refusal = byID("refusal");
const marks = { new: "✓", owned: "●", attention: "▲", done: "✓" };

// The answer.

/** A person is at the card's form: it stays, and the next capture is seen in flash and list. */
const isCardTaken = () => byID("card").querySelector("[data-busy]") !== null || (byID("card").contains(document.activeElement) && document.activeElement.matches("input"));

function fill(row) {
  const card = byID("card");
  if (isCardTaken()) return;
  const slot = (name, value) => { const element = card.querySelector(`[data-slot=${name}]`); if (element) element.textContent = value ?? ""; };
  card.className = `answer look-${row.look}`;
  card.dataset.row = row.id;
  slot("mark", marks[row.look]);
  slot("state", words[row.standing]);
  slot("time", new Date(row.captured).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", hour12: false }));
  slot("title", row.title ?? row.hyphenated);
  slot("by", [row.authors.join(", "), row.published].filter(Boolean).join(" · "));
  slot("line", row.title ? row.hyphenated : "");
  slot("message", row.standing === "lookingUp" ? words.asking : "");
  // What belongs to the book before: the service's own card brings the right ones.
  for (const part of card.querySelectorAll(".face, .subtitle, form.edit, .acts button, .acts a")) part.hidden = true;
}

let flashed = -Infinity;
/** Gives whether it is the first within a moment: six books of one photo light up once. */
function light(row) {
  flash.className = `look-${row.look}`;
  flash.firstElementChild.textContent = marks[row.look];
  flash.lastElementChild.textContent = row.hyphenated;
  // Never three times a second: that can hurt people (WCAG 2.3.1).
  if (performance.now() - flashed < 400) return false;
  flashed = performance.now();
  flash.getAnimations().forEach((animation) => animation.cancel());
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) flash.animate([{ opacity: 1 }, { opacity: 1, offset: 0.5 }, { opacity: 0 }], 500);
  return true;
}

let newest = null, cameAt = 0;
on("captured", (row) => {
  const isOther = row.look !== newest?.look, save = byID("card-save");
  // Enter that was on its way to another book's card must not save this one.
  if (save?.checkVisibility() && byID("card").dataset.row !== row.id) hushEnter();
  newest = row;
  cameAt = performance.now();
  refusal.hidden = true;
  if (light(row) || isOther) play(row.look);
  said.textContent = `${words[row.standing]}: ${row.title ?? row.hyphenated}`;
  // The newest is in the card, also after a reload; unless a person is at work there.
  if (!isCardTaken()) history.replaceState(null, "", keptAddress());
  fill(row);
});

on("known", (row) => {
  if (row.id === newest?.id) {
    if (row.look !== newest.look) {
      flash.className = `look-${row.look}`;
      flash.firstElementChild.textContent = marks[row.look];
      if (row.look !== "done") play(row.look);
    }
    newest = row;
    // Who saved it hears of that act.
    if (row.look !== "done") said.textContent = `${words[row.standing]}: ${row.title ?? row.hyphenated}`;
  }
  if (byID("card").dataset.row === row.id) fill(row);
});

// A card that was asked for before the last capture, or the last touch, came after it.
document.addEventListener("renewed", (event) => {
  if (event.target.id === "rows" && performance.now() - cameAt < 1500 && !isCardTaken()) event.target.parentElement.scrollTop = 0;
  if (event.target.id !== "card") return;
  const chosen = new URLSearchParams(location.search).get("row") ?? "";
  if (event.target.dataset.for !== chosen) setTimeout(refresh);
  if (chosen === "" && newest && event.target.dataset.row !== newest.id && performance.now() - cameAt < 1500) fill(newest);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("#card-undo")) return;
  newest = null;
  release();
});

let forgetting = 0;
function refuse(reason, code) {
  refusal.lastElementChild.textContent = `${code}: ${reason}`;
  refusal.hidden = false;
  clearTimeout(forgetting);
  forgetting = setTimeout(() => { refusal.hidden = true; }, 8000);
}
on("refused", ({ payload, reason }) => refuse(reason, payload));
document.addEventListener("scanned", (event) => {
  event.preventDefault();
  if (event.detail.refusal) refuse(event.detail.refusal, event.detail.code);
});
on("batch", () => refresh());

// The list: the arrows, or a touch, put another row into the card.

function keptAddress(row) {
  const address = new URL(location.href);
  address.searchParams.delete("row");
  if (row) address.searchParams.set("row", row);
  return address.pathname + address.search;
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#card-form")) history.replaceState(null, "", keptAddress(byID("card").dataset.row));
});

const rowOf = (element) => element.closest("li").id.slice("row-".length);

/** A person goes on to something else, or there is nothing left to answer; what was typed is kept for the row. */
function release() {
  delete byID("card-form")?.dataset.busy;
  if (byID("card").contains(document.activeElement)) document.activeElement.blur();
}
document.addEventListener("held", ({ target, detail }) => {
  if (target.id === "card" && (detail.dataset.row !== target.dataset.row || !detail.querySelector("#card-form"))) release();
});

async function choose(row) {
  release();
  history.replaceState(null, "", keptAddress(row));
  await refresh();
  byID(`row-${row}`)?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  const tick = event.target.closest(".tick");
  if (tick) return void act(tick, { ticked: tick.getAttribute("aria-checked") !== "true" }, ["POST", `/api/station/rows/${rowOf(tick)}/tick`]);
  const link = event.target.closest("#rows a, [data-more]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  if (!link.matches("[data-more]")) { hideKeypad(); choose(rowOf(link)); return; }
  history.replaceState(null, "", link.getAttribute("href"));
  refresh();
});

document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.defaultPrevented || event.target.closest("input, select, textarea, dialog, form")) return;
  const rows = [...document.querySelectorAll("#rows > li")];
  const at = rows.findIndex((row) => row.classList.contains("is-current"));
  const next = rows[at < 0 ? 0 : at + step];
  event.preventDefault();
  if (next) choose(rowOf(next));
});

// What the next books are saved with is a line on phones, that opens.

const fold = byID("preset-open");
fold.addEventListener("click", () => fold.setAttribute("aria-expanded", fold.getAttribute("aria-expanded") !== "true"));

// Parts that are loaded when somebody first turns to them. What is done until they are there is handed to them after it.

const turnings = ["focusin", "input", "change", "click", "submit"];
function later(name, selector) {
  let missed = [], isLoading = false;
  function want(event) {
    if (!event.target.closest(selector)) return;
    if (event.type === "submit") event.preventDefault();
    missed.push(event);
    bring();
  }
  async function bring() {
    if (isLoading) return;
    isLoading = true;
    try {
      const { take } = await during(() => load(`scan-${name}`));
      for (const turning of turnings) document.removeEventListener(turning, want);
      for (const one of missed) take(one);
    } catch {
      // What is typed and chosen stays on the page.
      if (missed.some(({ type }) => type !== "focusin" && type !== "input")) toast(text("lost"), { isTrouble: true });
    }
    isLoading = false;
    missed = [];
  }
  for (const turning of turnings) document.addEventListener(turning, want);
  return bring;
}
later("preset", "#preset");
const loadEdit = later("edit", "form.edit, [data-edits], [data-closes-form]");
// What was half typed before a reload.
if (Object.keys(sessionStorage).some((key) => key.startsWith("bookplate.draft."))) loadEdit();

// Photos that were chosen are kept here until the part that sends them is there.

const photos = byID("photos");
let chosen = [], givePhotos = null, isLate = false;
async function sendPhotos() {
  if (chosen.length === 0) return;
  try {
    givePhotos ??= (await during(() => load("scan-photos"))).give;
    const files = chosen.splice(0);
    // Another try may have been quicker.
    if (files.length > 0) givePhotos(files);
  } catch {
    if (!isLate) toast(text("photosWait", { count: chosen.length }), { isTrouble: true });
    isLate = true;
    setTimeout(sendPhotos, 10_000);
  }
}
photos.addEventListener("change", () => {
  chosen.push(...photos.files);
  photos.value = "";
  sendPhotos();
});
on("hello", sendPhotos);
document.addEventListener("restarted", (event) => { if (chosen.length > 0) event.preventDefault(); });
addEventListener("beforeunload", (event) => { if (chosen.length > 0) event.preventDefault(); });

// What an act came to, for those who hear the page.

const lastAct = () => byID("undo-act")?.dataset.change;
let undoable = lastAct(), actedAt = 0;
document.addEventListener("renewed", (event) => {
  if (event.target.id === "savebar" && lastAct() !== undoable) {
    undoable = lastAct();
    actedAt = performance.now();
    if (undoable && said.dataset.of !== undoable) said.textContent = byID("undo-act").title;
  }
  // The key takes back what was last: the capture in the card, or what was saved after it.
  const inCard = byID("card-undo");
  if (inCard) inCard.dataset.key = undoable && actedAt > cameAt ? "" : "u";
});

// Sound comes with the first touch where the browser wants it so; the page says so until then.

function showSound() { byID("no-sound").hidden = areReady() || !sounds().on; }
document.addEventListener("soundready", showSound);
showSound();

// The live picture, where there is a camera.

const showCamera = (camera) => load("scan-picture").then((picture) => picture.showCamera(camera)).catch(() => {});
on("camera", showCamera);
const lookOut = () => { if (byID("picture").dataset.state !== "none") showCamera(null); };
lookOut();
on("hello", lookOut);
