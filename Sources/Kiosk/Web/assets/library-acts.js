// What is done on the Library page with the books that are chosen, or with one.
import { ask, attempt, refresh, toast } from "./app.js";
import { completeAll } from "./complete.js";
import { askForGood } from "./for-good.js";
import { about, bulk, chosenCount, idOf, pageText, row, setChoosing } from "./library-choose.js";

// One act is one change, whatever it is about; its toast takes it back. What a search shows is gone through piece by piece.

let isActing = false;
async function act(what, books, body, words, count = null) {
  // Pressed twice is meant once.
  if (isActing) return;
  let changed = 0, change = null, after = null, isDone = false;
  const { ids = [] } = books, isSearch = books.query !== undefined;
  isActing = true;
  await attempt(async () => {
    // Rows that come anew meanwhile would be those of a list that changes under the hand.
    if (isSearch) document.getElementById("hits").dataset.busy = "";
    bulk.inert = true;
    try {
      do {
        const piece = isSearch ? { after, continuing: change, count: count === null ? null : count - changed } : {};
        const answer = await ask("POST", `/api/books/${what}`, { ...books, ...body, ...piece });
        changed += answer.changed;
        change ??= answer.change;
        after = answer.next;
        if (after) document.getElementById("chosenCount").textContent = pageText("working", { count: changed });
      } while (after);
      isDone = true;
    } finally {
      bulk.inert = false;
      delete document.getElementById("hits").dataset.busy;
      if (change || (what === "delete-for-good" && changed)) toast(words(changed), { change }); else if (isDone) toast(pageText("nochange"));
    }
    document.activeElement?.blur();
    setChoosing(false);
    await refresh();
    // The rows are new ones: who works by keyboard goes on where they were.
    if (document.activeElement === document.body) (ids.length === 1 && document.querySelector(`.name[href="/books/${ids[0]}"]`) || document.getElementById("choose")).focus({ preventScroll: true });
  });
  isActing = false;
}
const told = (key, values) => (count) => pageText(key, { ...values, count });

const menu = document.getElementById("statuses");
let menuBooks = {}, menuFrom;
function openMenu(from, books, current) {
  [menuBooks, menuFrom] = [books, from];
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
  act("status", menuBooks, { status: item.dataset.status }, told("status", { status: item.textContent }));
});

const label = document.getElementById("label"), labelName = document.getElementById("labelName");
let labelKind;
function openLabel(kind) {
  labelKind = kind;
  document.getElementById("labelTitle").textContent = pageText(kind + "title");
  labelName.value = "";
  labelName.dataset.complete = kind;
  label.showModal();
  labelName.focus();
}
document.getElementById("labelForm").addEventListener("submit", (event) => {
  const isOn = event.submitter?.value !== "off", name = labelName.value.trim();
  if (!name && (isOn || labelKind === "tag")) { event.preventDefault(); labelName.focus(); return; }
  const values = { name };
  if (labelKind === "tag") act(isOn ? "tag" : "untag", about(), { name }, told(isOn ? "tag" : "untag", values));
  else act("shelf", about(), { name: isOn ? name : null }, told(isOn ? "shelf" : "unshelf", values));
});

async function deleteForGood() {
  const books = about(), count = chosenCount(), total = document.getElementById("total").textContent;
  if (await askForGood(count === null ? pageText("forgoodall", { total }) : pageText("forgoodask", { count }))) act("delete-for-good", books, {}, told("forgood"), count);
}

/** @param button: of a row, or of the bar at the bottom. */
export function press(button) {
  const hit = row(button), what = button.dataset.bulk;
  if (button.matches(".status")) openMenu(button, { ids: [idOf(hit)] }, hit.dataset.status);
  else if (button.matches(".restore")) act("restore", { ids: [idOf(hit)] }, {}, told("restore"));
  else if (button.id === "empty-trash") { setChoosing(true, true); deleteForGood(); }
  else if (what === "status") openMenu(button, about());
  else if (what === "tag" || what === "shelf") openLabel(what);
  else if (what === "delete-for-good") deleteForGood();
  else act(what, about(), {}, told(what));
}

document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/assets/complete.css" }));
completeAll();
