// Books that are chosen on the Library page. What is done with them comes with the first act.
import { attempt, load } from "./app.js";
import { singleKeys } from "./keys.js";
import { isTyping } from "./scanner.js";

const words = document.getElementById("words").dataset;
const isOne = (count) => document.documentElement.lang === "fr" ? count < 2 : count === 1;
/** A text of the page, its {names} filled in; of two forms with a bar between them the one for so many. */
export function pageText(key, values = {}) {
  const [one, many = one] = words[key].split("|");
  return (isOne(values.count) ? one : many).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// What is chosen: by long press, by x, with the button. Rows that come anew keep their tick.

const chosen = new Set();
/** All that the search shows, however much that is: its query and the rows that are spared; else null. */
let all = null;
let isChoosing = false;
export const bulk = document.getElementById("bulk");

export const idOf = (hit) => hit.querySelector(".name").pathname.split("/").pop();
export function row(element) { return element?.closest?.(".hit"); }

const isChosen = (id) => all ? !all.except.has(id) : chosen.has(id);
/** What is chosen, as acts are told it. */
export const about = () => all ? { query: all.query, except: [...all.except] } : { ids: [...chosen] };

export function setChoosing(value, isAll = false) {
  isChoosing = value;
  chosen.clear();
  all = value && isAll ? { query: shown(), except: new Set() } : null;
  renewed();
}

/** What chooses the books that are shown; in the order of acts, which is none that acts change. */
function shown() {
  const params = new URLSearchParams(location.search);
  for (const name of ["after", "limit", "view", "sort", "reverse"]) params.delete(name);
  return params.toString();
}

function toggle(hit, value = !isChosen(idOf(hit))) {
  if (all) all.except[value ? "delete" : "add"](idOf(hit)); else chosen[value ? "add" : "delete"](idOf(hit));
  isChoosing = true;
  renewed();
}

/** How many are chosen; null where nobody counted them all. */
export function chosenCount() {
  if (!all) return chosen.size;
  const { total } = document.getElementById("total").dataset;
  return total === "" ? null : Number(total) - all.except.size;
}

function chosenWords() {
  const count = chosenCount(), total = document.getElementById("total").textContent;
  if (all?.except.size === 0) return pageText("all", { total });
  return count === null ? pageText("allbut", { count: all.except.size, total }) : pageText("chosen", { count });
}

/** Brings what scripts add to the rows in line with what is chosen. */
export function renewed() {
  // Another search shows other books.
  if (all && all.query !== shown()) all = null;
  document.getElementById("hits").classList.toggle("choosing", isChoosing);
  document.getElementById("choose").setAttribute("aria-pressed", isChoosing);
  for (const hit of document.querySelectorAll(".hit")) {
    let box = hit.querySelector(".pick");
    if (isChoosing && !box) {
      box = document.createElement("input");
      box.type = "checkbox";
      box.className = "pick";
      box.setAttribute("aria-label", pageText("pick", { title: hit.querySelector(".name").textContent }));
      hit.prepend(box);
    }
    if (box) box.checked = isChosen(idOf(hit));
  }
  bulk.hidden = !isChoosing;
  const told = document.getElementById("chosenCount"), words = chosenWords();
  if (told.textContent !== words) told.textContent = words;
  for (const button of bulk.querySelectorAll("[data-bulk]")) {
    if (button.dataset.bulk === "all") button.setAttribute("aria-pressed", all?.except.size === 0);
    else if (button.dataset.bulk !== "none") button.disabled = chosenCount() === 0;
  }
}
document.addEventListener("renewed", renewed);

document.addEventListener("change", (event) => { if (event.target.matches(".pick")) toggle(row(event.target), event.target.checked); });
document.addEventListener("click", (event) => {
  if (event.target.closest("#choose")) {
    // The key chooses the book that has the focus, else the first; the button itself begins or ends it.
    const isKey = document.activeElement !== event.target.closest("#choose");
    const hit = isKey && (row(document.activeElement) ?? document.querySelector(".hit"));
    if (hit) { toggle(hit); hit.querySelector(".name").focus(); } else setChoosing(!isChoosing);
  }
});

let pressed, wasLong = false;
document.addEventListener("pointerdown", (event) => {
  const hit = row(event.target);
  wasLong = false;
  if (!hit || event.target.closest("button, input") || event.button !== 0) return;
  const [x, y] = [event.clientX, event.clientY];
  const end = () => { clearTimeout(pressed); for (const name of ["pointerup", "pointercancel", "pointermove", "scroll"]) removeEventListener(name, check, true); };
  const check = (later) => { if (later.type !== "pointermove" || Math.hypot(later.clientX - x, later.clientY - y) > 10) end(); };
  for (const name of ["pointerup", "pointercancel", "pointermove", "scroll"]) addEventListener(name, check, true);
  pressed = setTimeout(() => { end(); wasLong = true; toggle(hit); }, 500);
});
document.addEventListener("contextmenu", (event) => { if (wasLong && row(event.target)) event.preventDefault(); });
document.addEventListener("dragstart", (event) => { if (row(event.target)) event.preventDefault(); });
document.addEventListener("click", (event) => {
  const hit = row(event.target);
  if (!hit || event.target.closest("button, input")) return;
  // The click that ends a long press; and while choosing a row is ticked by touching it.
  if (wasLong) { event.preventDefault(); wasLong = false; } else if (isChoosing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); toggle(hit); }
});

// Arrows go from book to book; Esc ends choosing.
document.addEventListener("keydown", (event) => {
  // All of them: from nowhere by Shift and x, which later is the button's; and as in other lists.
  const isAll = event.ctrlKey || event.metaKey ? event.key === "a" : event.key === "X" && !isChoosing && singleKeys();
  if (isAll && !event.altKey && !isTyping(event.target) && document.querySelector(".hit") && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    setChoosing(true, true);
    return;
  }
  if (event.key === "Escape" && isChoosing && !document.querySelector("dialog[open], :popover-open")) { setChoosing(false); return; }
  const hit = row(event.target);
  if (event.altKey || event.ctrlKey || event.metaKey || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  if (!hit) {
    // From nowhere the first arrow comes to the first book.
    if (event.key !== "ArrowDown" || !event.target.matches("body, main")) return;
    event.preventDefault();
    document.querySelector(".hit .name")?.focus();
    return;
  }
  event.preventDefault();
  const next = event.key === "ArrowDown" ? hit.nextElementSibling : hit.previousElementSibling;
  if (next) next.querySelector(".name").focus(); else if (event.key === "ArrowUp") document.getElementById("q").focus();
});

document.addEventListener("click", (event) => {
  const button = event.target.closest(".hit .status, .hit .restore, #empty-trash, [data-bulk]"), what = button?.dataset.bulk;
  if (what === "none") setChoosing(false);
  else if (what === "all") setChoosing(true, all?.except.size !== 0);
  else if (button) attempt(async () => { (await load("library-acts")).press(button); });
});

renewed();
