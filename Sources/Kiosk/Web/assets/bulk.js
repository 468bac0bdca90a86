// The acts on the Library page, which concern the selected books or one book.

import { attempt } from "./acts.js";
import { completeAll } from "./complete.js";
import { openEdit } from "./edit-many.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { callAPI } from "./requests.js";
import { bar, countSelected, findHit, idOf, isAllSelected, pageText, readSelection, setSelecting } from "./selection.js";
import { confirmDeletion } from "./sheets.js";

// An act is one change for any number of books, and its toast undoes it. An act on all results of a search works
// through them piece by piece.

let isActing = false;
/** Does the act, and then shows the message for the number of books that it changed. */
async function act(name, books, body, describe, expected = null) {
  // A second press while the act runs is ignored.
  if (isActing) return;
  let changed = 0, change = null, after = null, isDone = false;
  const { ids = [] } = books, isSearch = books.query !== undefined;
  isActing = true;
  await attempt(async () => {
    // The rows stay as they are while the act works through them.
    if (isSearch) document.getElementById("hits").dataset.busy = "";
    bar.inert = true;
    try {
      do {
        const piece = isSearch ? { after, continuing: change, count: expected === null ? null : expected - changed } : {};
        const answer = await callAPI("POST", `/api/books/${name}`, { ...books, ...body, ...piece });
        changed += answer.changed;
        change ??= answer.change;
        after = answer.next;
        if (after) document.getElementById("chosenCount").textContent = pageText("working", { count: changed });
      } while (after);
      isDone = true;
    } finally {
      bar.inert = false;
      delete document.getElementById("hits").dataset.busy;
      if (change || (name === "delete-for-good" && changed)) toast(describe(changed), { change });
      else if (isDone) toast(pageText("nochange"));
    }
    document.activeElement?.blur();
    setSelecting(false);
    await refresh();
    // The rows have been replaced. A person who uses the keyboard continues in the same place.
    if (document.activeElement === document.body) {
      const book = ids.length === 1 && document.querySelector(`.name[href="/books/${ids[0]}"]`);
      (book || document.getElementById("choose")).focus({ preventScroll: true });
    }
  });
  isActing = false;
}
const message = (key, values) => (count) => pageText(key, { ...values, count });

// The status menu.

const menu = document.getElementById("statuses");
let menuBooks = {}, menuOpener;
function openMenu(opener, books, current) {
  [menuBooks, menuOpener] = [books, opener];
  for (const item of menu.children) item.setAttribute("aria-checked", item.dataset.status === current);
  menu.showPopover();
  const [at, size] = [opener.getBoundingClientRect(), menu.getBoundingClientRect()];
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
menu.addEventListener("toggle", (event) => {
  if (event.newState === "closed" && menuOpener?.isConnected && menu.contains(document.activeElement)) menuOpener.focus();
});
menu.addEventListener("click", (event) => {
  const item = event.target.closest("[data-status]");
  if (!item) return;
  menu.hidePopover();
  act("status", menuBooks, { status: item.dataset.status }, message("status", { status: item.textContent }));
});

// The sheet in which a person types a tag or a shelf.

const label = document.getElementById("label"), labelName = document.getElementById("labelName");
let labelKind;
function openLabel(kind) {
  labelKind = kind;
  document.getElementById("labelTitle").textContent = pageText(kind + "title");
  labelName.value = "";
  labelName.dataset.complete = kind;
  labelName.placeholder = kind === "tag" ? labelName.dataset.several : "";
  label.showModal();
  labelName.focus();
}
document.getElementById("labelForm").addEventListener("submit", (event) => {
  const isOn = event.submitter?.value !== "off", name = labelName.value.trim();
  const tags = name.split(",").map((one) => one.trim()).filter(Boolean);
  if (tags.length === 0 && (isOn || labelKind === "tag")) { event.preventDefault(); labelName.focus(); return; }
  if (labelKind === "shelf") act("shelf", readSelection(), { name: isOn ? name : null }, message(isOn ? "shelf" : "unshelf", { name }));
  // A tag with a comma in its name can still be removed.
  else if (tags.length > 1) act("edit", readSelection(), isOn ? { addTags: tags } : { removeTags: [...tags, name] }, message("edit"));
  else act(isOn ? "tag" : "untag", readSelection(), { name: tags[0] }, message(isOn ? "tag" : "untag", { name: tags[0] }));
});

async function deleteForGood() {
  const books = readSelection(), count = countSelected(), total = document.getElementById("total").textContent;
  const question = count === null ? pageText("forgoodall", { total }) : pageText("forgoodask", { count });
  if (await confirmDeletion(question)) act("delete-for-good", books, {}, message("forgood"), count);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".hit .status, .hit .restore, #empty-trash, [data-bulk]");
  if (!button) return;
  const hit = findHit(button), name = button.dataset.bulk;
  if (button.matches(".status")) openMenu(button, { ids: [idOf(hit)] }, hit.dataset.status);
  else if (button.matches(".restore")) act("restore", { ids: [idOf(hit)] }, {}, message("restore"));
  else if (button.id === "empty-trash") { setSelecting(true, true); deleteForGood(); }
  else if (name === "none") setSelecting(false);
  else if (name === "all") setSelecting(true, !isAllSelected());
  else if (name === "edit") openEdit((edit) => act("edit", readSelection(), edit, message("edit")));
  else if (name === "status") openMenu(button, readSelection());
  else if (name === "tag" || name === "shelf") openLabel(name);
  else if (name === "delete-for-good") deleteForGood();
  else act(name, readSelection(), {}, message(name));
});

completeAll();
