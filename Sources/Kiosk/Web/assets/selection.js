// The books that are selected on the Library page. A person selects them with a long press, with the key x, or with the
// button.

import { areSingleKeysOn } from "./keys.js";
import { isTyping } from "./scanner.js";
import { fillIn } from "./texts.js";

const texts = document.getElementById("page-texts").dataset;
const isOne = (count) => document.documentElement.lang === "fr" ? count < 2 : count === 1;
/**
 * Returns a text of the page, with its {names} filled in. If the text has two forms with a bar between them, the count
 * determines the form.
 */
export function pageText(key, values = {}) {
  const [one, many = one] = texts[key].split("|");
  return fillIn(isOne(values.count) ? one : many, values);
}

const selected = new Set();
/**
 * If all results of a search are selected: the query of the search, and the ids of the results that are left out.
 * Otherwise null.
 */
let all = null;
let isSelecting = false;
export const bar = document.getElementById("bulk");

export const idOf = (hit) => hit.querySelector(".name").pathname.split("/").pop();
export function findHit(element) { return element?.closest?.(".hit"); }

const isSelected = (id) => all ? !all.except.has(id) : selected.has(id);
/** Returns the selection as the API expects it. */
export const readSelection = () => all ? { query: all.query, except: [...all.except] } : { ids: [...selected] };
export const isAllSelected = () => all?.except.size === 0;

/** Begins or ends selecting. Afterwards, all results of the search are selected if isAll is true, otherwise nothing. */
export function setSelecting(value, isAll = false) {
  isSelecting = value;
  selected.clear();
  [anchor, range] = [null, []];
  all = value && isAll ? { query: readQuery(), except: new Set() } : null;
  showSelection();
}

/** Returns the query whose books are shown, without the order, because an act may change the order. */
function readQuery() {
  const params = new URLSearchParams(location.search);
  for (const name of ["after", "before", "limit", "view", "sort", "reverse"]) params.delete(name);
  return params.toString();
}

/** Selects a book, or leaves it out. */
function set(hit, value) {
  if (all) all.except[value ? "delete" : "add"](idOf(hit)); else selected[value ? "add" : "delete"](idOf(hit));
}

/** The id of the book from which a range is selected, and the books that the last range has selected. */
let anchor = null, range = [];

function toggle(hit, value = !isSelected(idOf(hit))) {
  set(hit, value);
  [anchor, range, isSelecting] = [idOf(hit), [], true];
  showSelection();
}

/** Selects all books from the one that was selected last to this one. Another end replaces this end of the range. */
function selectTo(hit) {
  const hits = [...document.querySelectorAll(".hit")], start = hits.find((other) => idOf(other) === anchor) ?? hit;
  const [first, last] = [hits.indexOf(start), hits.indexOf(hit)].sort((a, b) => a - b);
  for (const other of range) set(other, false);
  range = hits.slice(first, last + 1).filter((other) => !isSelected(idOf(other)));
  for (const other of range) set(other, true);
  [anchor, isSelecting] = [idOf(start), true];
  showSelection();
}

/** Returns the number of selected books, or null if the service did not count all of them. */
export function countSelected() {
  if (!all) return selected.size;
  const { total } = document.getElementById("total").dataset;
  return total === "" ? null : Number(total) - all.except.size;
}

function describeSelection() {
  const count = countSelected(), total = document.getElementById("total").textContent;
  if (isAllSelected()) return pageText("all", { total });
  return count === null ? pageText("allbut", { count: all.except.size, total }) : pageText("chosen", { count });
}

/** Shows the selection in the rows and in the bar. New rows of selected books get a tick. */
export function showSelection() {
  // After another search, the old selection no longer applies.
  if (all && all.query !== readQuery()) all = null;
  document.getElementById("hits").classList.toggle("choosing", isSelecting);
  document.getElementById("choose").setAttribute("aria-pressed", isSelecting);
  for (const hit of document.querySelectorAll(".hit")) {
    let box = hit.querySelector(".pick");
    if (isSelecting && !box) {
      box = document.createElement("input");
      box.type = "checkbox";
      box.className = "pick";
      box.setAttribute("aria-label", pageText("pick", { title: hit.querySelector(".name").textContent }));
      hit.prepend(box);
    }
    if (box) box.checked = isSelected(idOf(hit));
  }
  bar.hidden = !isSelecting;
  const count = document.getElementById("chosenCount"), label = describeSelection();
  if (count.textContent !== label) count.textContent = label;
  for (const button of bar.querySelectorAll("[data-bulk]")) {
    if (button.dataset.bulk === "all") button.setAttribute("aria-pressed", isAllSelected());
    else if (button.dataset.bulk !== "none") button.disabled = countSelected() === 0;
  }
}
document.addEventListener("renewed", showSelection);

document.addEventListener("change", (event) => { if (event.target.matches(".pick")) toggle(findHit(event.target), event.target.checked); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("#choose");
  if (!button) return;
  // The key selects the focused book, or the first book if none has the focus. The button itself begins or ends
  // selecting.
  const isKey = document.activeElement !== button;
  const hit = isKey && (findHit(document.activeElement) ?? document.querySelector(".hit"));
  if (hit) { toggle(hit); hit.querySelector(".name").focus(); } else setSelecting(!isSelecting);
});

// A long press selects a book, and a second one all books up to this one, as does a click with Shift. The click that ends
// the long press does nothing. While a person is selecting, any other click on a row ticks it.

let timer, wasLong = false;
document.addEventListener("pointerdown", (event) => {
  const hit = findHit(event.target);
  wasLong = false;
  if (!hit || event.target.closest("button, input") || event.button !== 0) return;
  const [x, y] = [event.clientX, event.clientY], names = ["pointerup", "pointercancel", "pointermove", "scroll"];
  const end = () => { clearTimeout(timer); for (const name of names) removeEventListener(name, check, true); };
  const check = (later) => { if (later.type !== "pointermove" || Math.hypot(later.clientX - x, later.clientY - y) > 10) end(); };
  for (const name of names) addEventListener(name, check, true);
  timer = setTimeout(() => { end(); wasLong = true; if (isSelecting && anchor) selectTo(hit); else toggle(hit); }, 500);
});
document.addEventListener("contextmenu", (event) => { if (wasLong && findHit(event.target)) event.preventDefault(); });
document.addEventListener("dragstart", (event) => { if (findHit(event.target)) event.preventDefault(); });
document.addEventListener("click", (event) => {
  const hit = findHit(event.target);
  if (!hit || event.target.closest("button") || event.target.matches("input:not(.pick)")) return;
  if (event.shiftKey && !wasLong && isSelecting) {
    event.preventDefault();
    getSelection().removeAllRanges();
    // A box is ticked again after the click that was prevented, so the ticks are shown later.
    selectTo(hit);
    setTimeout(showSelection);
  } else if (event.target.matches(".pick")) return;
  else if (wasLong) { event.preventDefault(); wasLong = false; }
  else if (isSelecting && !event.ctrlKey && !event.metaKey) { event.preventDefault(); toggle(hit); }
});

// Keys: Shift+x or Control+a selects everything, arrow keys move from book to book and with Shift select the books between,
// Esc ends selecting.

document.addEventListener("keydown", (event) => {
  // While a person is selecting, Shift+x belongs to the button in the bar.
  const isAll = event.ctrlKey || event.metaKey ? event.key === "a" : event.key === "X" && !isSelecting && areSingleKeysOn();
  if (isAll && !event.altKey && !isTyping(event.target) && document.querySelector(".hit") && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    setSelecting(true, true);
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  const hit = findHit(event.target);
  if (!hit) {
    // With no focus, the arrow key moves to the first book.
    if (event.key !== "ArrowDown" || !event.target.matches("body, main")) return;
    event.preventDefault();
    document.querySelector(".hit .name")?.focus();
    return;
  }
  event.preventDefault();
  const next = event.key === "ArrowDown" ? hit.nextElementSibling : hit.previousElementSibling;
  if (event.shiftKey && next) {
    if (!anchor || !isSelecting) toggle(hit, true);
    selectTo(next);
  }
  if (next) next.querySelector(".name").focus(); else if (event.key === "ArrowUp") document.getElementById("q").focus();
});

// This listener runs before the one in keys.js, in which Esc means back.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !isSelecting || isTyping(event.target) || document.querySelector("dialog[open], :popover-open")) return;
  event.preventDefault();
  setSelecting(false);
}, { capture: true });

showSelection();
