// Books that are chosen on the Library page, and what is done with them or with one.
import { ask, attempt, refresh, toast } from "./app.js";
import { completeAll } from "./complete.js";

const words = document.getElementById("words").dataset;
const isOne = (count) => document.documentElement.lang === "fr" ? count < 2 : count === 1;
/** A text of the page, its {names} filled in; of two forms with a bar between them the one for so many. */
function text(key, values = {}) {
  const [one, many = one] = words[key].split("|");
  return (isOne(values.count) ? one : many).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

// What is chosen: by long press, by x, with the button. Rows that come anew keep their tick.

const chosen = new Set();
let isChoosing = false;
const bulk = document.getElementById("bulk");

const idOf = (hit) => hit.querySelector(".name").id.slice(2);
function row(element) { return element?.closest?.(".hit"); }

function setChoosing(value) {
  isChoosing = value;
  if (!value) chosen.clear();
  renewed();
}

function toggle(hit, value = !chosen.has(idOf(hit))) {
  chosen[value ? "add" : "delete"](idOf(hit));
  if (!isChoosing) isChoosing = true;
  renewed();
}

/** Brings what scripts add to the rows in line with what is chosen. */
export function renewed() {
  document.getElementById("hits").classList.toggle("choosing", isChoosing);
  document.getElementById("choose").setAttribute("aria-pressed", isChoosing);
  for (const hit of document.querySelectorAll(".hit")) {
    let box = hit.querySelector(".pick");
    if (isChoosing && !box) {
      box = document.createElement("input");
      box.type = "checkbox";
      box.className = "pick";
      box.setAttribute("aria-label", text("pick", { title: hit.querySelector(".name").textContent }));
      hit.prepend(box);
    }
    if (box) box.checked = chosen.has(idOf(hit));
  }
  bulk.hidden = !isChoosing;
  document.getElementById("chosenCount").textContent = text("chosen", { count: chosen.size });
  for (const button of bulk.querySelectorAll("[data-bulk]")) if (button.dataset.bulk !== "none") button.disabled = chosen.size === 0;
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

// Acts. One request is one change, whatever it is about; its toast takes it back.

async function act(what, ids, body, words) {
  await attempt(async () => {
    const answer = await ask("POST", `/api/books/${what}`, { ids, ...body });
    if (answer.change) toast(words(answer.changed), { change: answer.change }); else toast(text("nochange"));
    document.activeElement?.blur();
    setChoosing(false);
    delete document.getElementById("hits").dataset.busy;
    await refresh();
    // The rows are new ones: who works by keyboard goes on where they were.
    if (document.activeElement === document.body) (ids.length === 1 && document.getElementById("b-" + ids[0]) || document.getElementById("choose")).focus({ preventScroll: true });
  });
}
const told = (key, values) => (count) => text(key, { ...values, count });

const menu = document.getElementById("statuses");
let menuIds = [], menuFrom;
function openMenu(from, ids, current) {
  [menuIds, menuFrom] = [ids, from];
  for (const item of menu.children) item.setAttribute("aria-checked", item.dataset.status === current);
  menu.showPopover();
  const [at, size] = [from.getBoundingClientRect(), menu.getBoundingClientRect()];
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  menu.style.top = `${at.bottom + size.height + 8 < innerHeight ? at.bottom + 4 : Math.max(8, at.top - size.height - 4)}px`;
  (menu.querySelector("[aria-checked=true]") ?? menu.firstElementChild).focus();
}
menu.addEventListener("keydown", (event) => {
  const items = [...menu.children], at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (event.key === "Tab") menu.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  items[to % items.length].focus();
});
menu.addEventListener("toggle", (event) => { if (event.newState === "closed" && menuFrom?.isConnected && menu.contains(document.activeElement)) menuFrom.focus(); });
menu.addEventListener("click", (event) => {
  const item = event.target.closest("[data-status]");
  if (!item) return;
  menu.hidePopover();
  act("status", menuIds, { status: item.dataset.status }, told("status", { status: item.textContent }));
});

const label = document.getElementById("label"), labelName = document.getElementById("labelName");
let labelKind;
function openLabel(kind) {
  labelKind = kind;
  document.getElementById("labelTitle").textContent = text(kind + "title");
  labelName.value = "";
  labelName.dataset.complete = kind;
  label.showModal();
  labelName.focus();
}
document.getElementById("labelForm").addEventListener("submit", (event) => {
  const isOn = event.submitter?.value !== "off", name = labelName.value.trim();
  if (!name && (isOn || labelKind === "tag")) { event.preventDefault(); labelName.focus(); return; }
  const values = { name };
  if (labelKind === "tag") act(isOn ? "tag" : "untag", [...chosen], { name }, told(isOn ? "tag" : "untag", values));
  else act("shelf", [...chosen], { name: isOn ? name : null }, told(isOn ? "shelf" : "unshelf", values));
});

document.addEventListener("click", (event) => {
  const hit = row(event.target);
  if (event.target.closest(".hit .status")) openMenu(event.target.closest(".status"), [idOf(hit)], hit.dataset.status);
  if (event.target.closest(".hit .restore")) act("restore", [idOf(hit)], {}, told("restore"));
  const what = event.target.closest("[data-bulk]")?.dataset.bulk;
  if (what === "none") setChoosing(false);
  else if (what === "status") openMenu(event.target.closest("button"), [...chosen]);
  else if (what === "tag" || what === "shelf") openLabel(what);
  else if (what) act(what, [...chosen], {}, told(what));
});

completeAll();
renewed();
