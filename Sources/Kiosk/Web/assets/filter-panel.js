// The filters of the Library page. On a wide screen they are in a rail beside the books, on others in a sheet. The panel
// is fetched when it is opened, and again after each change of the list, so that its counts are right.

import { attempt } from "./acts.js";
import { complete } from "./complete.js";
import "./dates.js";
import { leave } from "./leave.js";
import { fetchPage } from "./requests.js";

const store = "bookplate.filters";
const find = (id) => document.getElementById(id);
const columns = find("columns"), rail = find("rail"), sheet = find("filter-panel");
const isWide = matchMedia("(min-width: 80rem)");
const isOpen = () => isWide.matches ? "rail" in columns.dataset : sheet.open;

/** Shows the list for the parameters of an address. */
let show;
/** Returns the parameters of the list that was asked for last, which may not be there yet. */
let readWanted;

// The panel. Only the answer to the newest request counts.

/** The field in which a person is typing: its text is not applied yet, so the panel is not replaced until it is left. */
let typed = null, isHeld = false;

let latest = 0, timer;
function fill() {
  clearTimeout(timer);
  const mine = ++latest;
  return attempt(async () => {
    const page = await fetchPage(find("found").dataset.panel);
    if (mine !== latest || !isOpen()) return;
    if (isHeld = typed && typed === document.activeElement) return;
    const fresh = document.adoptNode(page.getElementById("facets")), old = find("facets");
    const focused = document.activeElement, findFocus = old?.contains(focused) ? rememberField(focused) : null;
    if (old) keepState(old, fresh);
    const host = isWide.matches ? rail : sheet;
    if (old) old.replaceWith(fresh);
    if (fresh.parentElement !== host) host.append(fresh);
    for (const field of fresh.querySelectorAll("[data-complete]")) complete(field);
    findFocus?.(fresh)?.focus({ preventScroll: true });
    for (const group of fresh.querySelectorAll("[data-later][open]")) fillLater(group);
  });
}

/** Opens the groups of the new panel that were open in the old one, with the values that were fetched for them. */
function keepState(old, fresh) {
  for (const group of fresh.querySelectorAll("details")) {
    const before = old.querySelector(`details[data-name="${group.dataset.name}"]`);
    if (!before) continue;
    group.open = before.open;
    // A closed group is fetched again when it is opened.
    if (before.open && "filled" in before.dataset) {
      group.querySelector(".values").replaceWith(before.querySelector(".values"));
      group.dataset.filled = "";
    }
  }
}

/** Returns a function that finds the successor of a field, a button or the head of a group. */
function rememberField(field) {
  const group = field.closest("details")?.dataset.name;
  if (field.matches("summary")) return (fresh) => fresh.querySelector(`details[data-name="${group}"] > summary`);
  if (field.id && !field.dataset.complete) return (fresh) => fresh.querySelector(`#${CSS.escape(field.id)}`);
  const { name, value } = field, { end, adds } = field.dataset;
  return (fresh) => [...fresh.elements].find((other) => other.type !== "hidden" && other.closest("details")?.dataset.name.startsWith(group.split(" ")[0])
    && (end || adds ? other.dataset.end === end && other.dataset.adds === adds : other.name === name && other.value === value));
}

/** Fetches the values of a group that are not counted before it is opened. */
function fillLater(group) {
  const mine = latest;
  return attempt(async () => {
    const page = await fetchPage(group.dataset.later);
    const fresh = page.querySelector(`details[data-name="${group.dataset.name}"] .values`);
    if (mine !== latest || !group.isConnected) return;
    const focused = document.activeElement, findFocus = group.contains(focused) ? rememberField(focused) : null;
    if (fresh) group.querySelector(".values").replaceWith(document.adoptNode(fresh)); else group.querySelector(".later")?.remove();
    group.dataset.filled = "";
    for (const field of group.querySelectorAll("[data-complete]")) complete(field);
    findFocus?.(group.closest("form"))?.focus({ preventScroll: true });
  });
}
document.addEventListener("toggle", (event) => {
  if (event.target.matches("[data-later][open]:not([data-filled])")) fillLater(event.target);
}, { capture: true });

/** Fetches the panel again, if it is open, after the list has changed. While a person types, it waits for a pause. */
export function renewFilters() {
  showState();
  clearTimeout(timer);
  if (isOpen()) timer = setTimeout(fill, document.activeElement.id === "q" ? 300 : 0);
}

// Choosing. Every change of the panel shows the list at once.

/**
 * Shows the list with the values that the panel has for this parameter. All others are as they were last wanted: the panel may be
 * older than that, for instance after the filters were cleared.
 */
function apply(name) {
  typed = null;
  const params = readWanted();
  params.delete(name);
  for (const value of new FormData(find("facets")).getAll(name)) params.append(name, value);
  show(params);
}

function change(event) {
  const field = event.target, form = field.form;
  if (form?.id !== "facets") return;
  const range = field.closest("[data-range]");
  if (range && "end" in field.dataset) setRange(range, (which) => range.querySelector(`[data-end=${which}]`).value);
  // A period replaces the days that were chosen in the calendar.
  else if (field.type === "radio") field.closest("details").querySelector("[data-range] > input").value = "";
  else if (!field.name) return;
  if (form.reportValidity()) apply(field.name || range.dataset.range);
}

function setRange(range, read) {
  const [from, to] = ["from", "to"].map(read);
  range.querySelector("input[type=hidden]").value = from || to ? `${from}..${to}` : "";
}

function pick(event) {
  const button = event.target, range = button.closest("[data-range]");
  if (!range) return;
  button.dataset.value = event.detail ?? "";
  const days = (which) => range.querySelector(`[data-end=${which}]`).dataset.value;
  // If the last day is now before the first one, the other end is open.
  if (days("from") && days("to") && days("to") < days("from").slice(0, days("to").length)) {
    range.querySelector(`[data-end]:not([data-end=${button.dataset.end}])`).dataset.value = "";
  }
  setRange(range, days);
  for (const radio of button.closest("details").querySelectorAll("[type=radio]")) radio.checked = radio.value === "";
  apply(range.dataset.range);
}

/** Adds the name that a person has chosen among those that are not shown. */
function add(event) {
  const { adds } = event.target.dataset;
  if (!adds) return;
  const item = document.createElement("input");
  [item.type, item.name, item.value] = ["hidden", adds, event.target.value];
  find("facets").append(item);
  event.target.value = "";
  apply(adds);
}

for (const host of [rail, sheet]) {
  host.addEventListener("input", ({ target }) => { if (target.matches("[data-end], [data-adds]")) typed = target; });
  host.addEventListener("focusout", ({ target }) => { if (target === typed) { typed = null; if (isHeld) renewFilters(); } });
  host.addEventListener("change", change);
  host.addEventListener("picked", pick);
  host.addEventListener("taken", add);
  host.addEventListener("submit", (event) => { event.preventDefault(); sheet.close(); });
  host.addEventListener("click", (event) => {
    const link = event.target.closest("#clear-filters");
    if (!link) return;
    event.preventDefault();
    show(new URLSearchParams(new URL(link.href).search));
  });
}

// Opening and closing. The sheet has an entry of its own in the history, so that Back closes it. The entry is removed
// when the sheet is closed in another way.

let kept = null;
function openSheet() {
  sheet.showModal();
  history.pushState({ isSheet: true }, "", location.href);
  fill();
}
sheet.addEventListener("close", () => {
  showState();
  if (!history.state?.isSheet) return;
  kept = location.href;
  history.back();
});
/** The address of the list that is shown. On popstate, the location is another one already. */
let shown = location.href;
addEventListener("popstate", () => {
  const isClosed = kept !== null;
  if (!isClosed && !sheet.open) { leave(() => location.reload()); return; }
  // The filters that were chosen in the sheet stay.
  history.replaceState(null, "", kept ?? shown);
  kept = null;
  if (!isClosed) sheet.close();
});

function showState() {
  shown = location.href;
  find("filters").setAttribute("aria-expanded", isOpen());
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("#filters");
  if (!button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (!isWide.matches) { openSheet(); showState(); return; }
  columns.toggleAttribute("data-rail");
  localStorage.setItem(store, isOpen() ? "open" : "closed");
  showState();
  if (isOpen()) fill();
});
isWide.addEventListener("change", () => {
  if (sheet.open) sheet.close();
  showState();
  if (isOpen()) fill();
});

/** Opens the rail on a wide screen, unless the person has closed it. */
export function startFilters(showList, readParams) {
  [show, readWanted] = [showList, readParams];
  if (localStorage.getItem(store) === "closed") columns.removeAttribute("data-rail");
  showState();
  if (isOpen()) fill();
}
document.addEventListener("renewed", showState);
