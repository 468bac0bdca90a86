// The Scan page. A capture is shown on the screen at once, and the service's own view of it follows a moment later.

import { act, attempt } from "./acts.js";
import "./candidates.js";
import { on } from "./events.js";
import { hideKeypad } from "./keypad.js";
import { refresh, refreshSoon } from "./live.js";
import "./preview.js";
import { callAPI } from "./requests.js";
import { blockEnter } from "./scanner.js";
import { areSoundsReady, play, readSounds } from "./sounds.js";
import "./unread.js";

const find = (id) => document.getElementById(id);
const texts = JSON.parse(find("scan").dataset.texts);
const flash = find("flash"), announcement = find("announcement"), refusal = find("refusal");
const marks = { new: "✓", owned: "●", attention: "▲", done: "✓" };

// The card, which shows the result of the last capture.

/**
 * Returns true if a person is using the card's form. The form then stays, and a capture is shown in the flash and the
 * list.
 */
const isCardInUse = () => find("card").querySelector("[data-busy]") !== null
  || (find("card").contains(document.activeElement) && document.activeElement.matches("input"));

function fillCard(row) {
  const card = find("card");
  if (isCardInUse()) return;
  const setSlot = (name, value) => {
    const element = card.querySelector(`[data-slot=${name}]`);
    if (element) element.textContent = value ?? "";
  };
  card.className = `answer look-${row.look}`;
  card.dataset.row = row.id;
  setSlot("mark", marks[row.look]);
  setSlot("state", texts[row.standing]);
  const clock = { hour: "2-digit", minute: "2-digit", hour12: false };
  setSlot("time", new Date(row.captured).toLocaleTimeString(document.documentElement.lang, clock));
  setSlot("title", row.title ?? row.hyphenated);
  setSlot("by", [row.authors.join(", "), row.published].filter(Boolean).join(" · "));
  setSlot("line", row.title ? row.hyphenated : "");
  setSlot("message", row.standing === "lookingUp" ? texts.asking : "");
  // These parts belong to the previous book. The service's own card has the right ones.
  for (const part of card.querySelectorAll(".face, .subtitle, form.edit, .acts button, .acts a")) part.hidden = true;
}

function showFlash(row) {
  flash.className = `look-${row.look}`;
  flash.firstElementChild.textContent = marks[row.look];
}

let flashedAt = -Infinity;
/**
 * Lights up the screen. Returns false if the screen was lit a moment ago, so that six books on one photo light it only
 * once.
 */
function light(row) {
  showFlash(row);
  flash.lastElementChild.textContent = row.hyphenated;
  // More than three flashes per second can hurt people (WCAG 2.3.1).
  if (performance.now() - flashedAt < 400) return false;
  flashedAt = performance.now();
  flash.getAnimations().forEach((animation) => animation.cancel());
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
    flash.animate([{ opacity: 1 }, { opacity: 1, offset: 0.5 }, { opacity: 0 }], 500);
  }
  return true;
}

const speak = (row) => { announcement.textContent = `${texts[row.standing]}: ${row.title ?? row.hyphenated}`; };

/** The browser on another device, which announces only its own captures; "" for the station's own screen. */
const { browser } = find("scan").dataset;

let newest = null, capturedAt = 0;
on("captured", (row) => {
  if (browser && row.browser !== browser) return;
  const isOtherLook = row.look !== newest?.look, save = find("card-save");
  // If a person presses Enter for the previous book, it must not save this one.
  if (save?.checkVisibility() && find("card").dataset.row !== row.id) blockEnter();
  newest = row;
  capturedAt = performance.now();
  refusal.hidden = true;
  if (light(row) || isOtherLook) play(row.look);
  speak(row);
  // The newest book is in the card, even after a reload, unless a person is working there.
  if (!isCardInUse()) history.replaceState(null, "", makeAddress());
  fillCard(row);
});

on("known", (row) => {
  if (row.id === newest?.id) {
    if (row.look !== newest.look) {
      showFlash(row);
      if (row.look !== "done") play(row.look);
    }
    newest = row;
    // Saving is announced elsewhere.
    if (row.look !== "done") speak(row);
  }
  if (find("card").dataset.row === row.id) fillCard(row);
});

// The card that arrives may have been requested before the last capture or the last touch.
document.addEventListener("renewed", (event) => {
  const { target } = event, isRecent = performance.now() - capturedAt < 1500;
  if (target.id === "rows" && isRecent && !isCardInUse()) target.parentElement.scrollTop = 0;
  if (target.id !== "card") return;
  const chosen = new URLSearchParams(location.search).get("row") ?? "";
  if (target.dataset.for !== chosen) setTimeout(refresh);
  if (chosen === "" && newest && target.dataset.row !== newest.id && isRecent) fillCard(newest);
});

document.addEventListener("click", (event) => {
  if (!event.target.closest("#card-skip")) return;
  newest = null;
  releaseCard();
});

let refusalTimer = 0;
function showRefusal(reason, code) {
  refusal.lastElementChild.textContent = `${code}: ${reason}`;
  refusal.hidden = false;
  clearTimeout(refusalTimer);
  refusalTimer = setTimeout(() => { refusal.hidden = true; }, 8000);
}
on("refused", ({ payload, reason }) => { if (!browser) showRefusal(reason, payload); });
document.addEventListener("scanned", (event) => {
  event.preventDefault();
  if (event.detail.refusal) showRefusal(event.detail.refusal, event.detail.code);
});
on("batch", refreshSoon);

// The list. The arrow keys, or a touch, put another row into the card.

/** Returns the page's address with this row in the card. */
function makeAddress(row) {
  const address = new URL(location.href);
  address.searchParams.delete("row");
  if (row) address.searchParams.set("row", row);
  return address.pathname + address.search;
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#card-form")) history.replaceState(null, "", makeAddress(find("card").dataset.row));
});

const rowOf = (element) => element.closest("li").id.slice("row-".length);

/** Releases the card for another row. Text that was typed is kept for its own row. */
function releaseCard() {
  delete find("card-form")?.dataset.busy;
  if (find("card").contains(document.activeElement)) document.activeElement.blur();
}
document.addEventListener("held", ({ target, detail }) => {
  if (target.id === "card" && (detail.dataset.row !== target.dataset.row || !detail.querySelector("#card-form"))) releaseCard();
});

async function choose(row) {
  releaseCard();
  history.replaceState(null, "", makeAddress(row));
  await refresh();
  find(`row-${row}`)?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  const tick = event.target.closest(".tick");
  if (tick) {
    const ticked = tick.getAttribute("aria-checked") !== "true";
    return void act(tick, { ticked }, ["POST", `/api/station/rows/${rowOf(tick)}/tick`]);
  }
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
  const rows = [...document.querySelectorAll("#rows > li[id]")];
  const at = rows.findIndex((row) => row.classList.contains("is-current"));
  const next = rows[at < 0 ? 0 : at + step];
  event.preventDefault();
  if (next) choose(rowOf(next));
});

// The preset: the values with which the next books are saved. On phones, it is folded up to one line. A typed tag is
// added when the field loses the focus, even if Enter was not pressed.

const fold = find("preset-open");
fold.addEventListener("click", () => fold.setAttribute("aria-expanded", fold.getAttribute("aria-expanded") !== "true"));

async function sendPreset(form, tags) {
  const fields = form.elements;
  const body = { shelf: fields.shelf.value.trim() || null, tags, status: fields.status.value, wishlist: fields.wishlist.checked };
  form.dataset.tags = JSON.stringify(tags);
  // The form is not replaced while a person types the next tag, so the new tag is added here.
  if (fields.tag.value.trim() !== "") {
    const chip = document.createElement("button");
    [chip.type, chip.className, chip.dataset.untag, chip.textContent] = ["button", "chip", tags.at(-1), `${tags.at(-1)} ✕`];
    fields.tag.before(chip);
    fields.tag.value = "";
  }
  await attempt(() => callAPI("PUT", "/api/station/preset", body));
  await refresh();
}

const tagsOf = (form) => JSON.parse(form.dataset.tags);
function withTyped(form) {
  const tag = form.elements.tag.value.trim(), tags = tagsOf(form);
  return tag === "" ? tags : [...tags.filter((other) => other.toLowerCase() !== tag.toLowerCase()), tag];
}

let suggestions = 0;
async function suggestNames(field) {
  const isShelf = field.name === "shelf", mine = ++suggestions;
  const query = `kind=${isShelf ? "shelf" : "tag"}&limit=12&beginning=${encodeURIComponent(field.value.trim())}`;
  const answer = await fetch(`/api/suggestions?${query}`);
  // Without suggestions, the person types the whole name.
  if (!answer.ok || mine !== suggestions) return;
  const names = (await answer.json()).suggestions;
  find(isShelf ? "shelf-names" : "tag-names").replaceChildren(...names.map(({ name }) => new Option("", name)));
}

function handlePreset(event) {
  const { target, type } = event, form = target.closest("#preset");
  if (!form) return;
  if (type === "submit") event.preventDefault();
  if (type === "change") sendPreset(form, withTyped(form));
  // After a person chooses a suggestion, no key follows, so the preset is sent at once.
  const isSuggestion = target.hasAttribute("list") && (!event.inputType || event.inputType === "insertReplacementText");
  if (type === "input" && isSuggestion) sendPreset(form, withTyped(form));
  const chip = type === "click" && target.closest("[data-untag]");
  if (chip) sendPreset(form, tagsOf(form).filter((tag) => tag !== chip.dataset.untag));
  if (["input", "focusin"].includes(type) && target.matches("#preset-shelf, #preset-tag")) suggestNames(target).catch(() => {});
}
for (const name of ["focusin", "input", "change", "click", "submit"]) document.addEventListener(name, handlePreset);

// The result of an act, for people who listen to the page.

const lastAct = () => find("undo-act")?.dataset.change;
let undoable = lastAct();
document.addEventListener("renewed", (event) => {
  if (event.target.id !== "savebar" || lastAct() === undoable) return;
  undoable = lastAct();
  if (undoable && announcement.dataset.of !== undoable) announcement.textContent = find("undo-act").title;
});

// If the browser allows sound only after the first touch, the page says so until then.

function showSound() { find("no-sound").hidden = areSoundsReady() || !readSounds().on; }
document.addEventListener("soundready", showSound);
showSound();
