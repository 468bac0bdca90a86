// The ISBN of the form: the check of the number, everything that the library and the sources know about its book, and
// the button Scan ISBN.

import { attempt } from "./acts.js";
import { on } from "./events.js";
import { addName, addPerson, clearError, form, notifyChange, pageText, readNames, readPeople } from "./form-fields.js";
import { toast } from "./messages.js";
import { callAPI, makeRequestID } from "./requests.js";

const isbn = form.elements.isbnText, id = form.dataset.id, texts = document.getElementById("page-texts").dataset;
const isbnHint = document.getElementById("isbnHint"), asking = document.getElementById("asking");
const foldOf = (name) => form.elements[name]?.closest("details");
const filled = [
  "title", "subtitle", "publisher", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series",
  "seriesNumber", "description", "previewLink", "infoLink",
];
/** Fills in the empty fields with a book's metadata. */
function fillFields(metadata) {
  let count = 0;
  for (const name of filled) {
    const field = form.elements[name];
    if (metadata[name] === null || metadata[name] === undefined || !field || field.value.trim()) continue;
    field.value = metadata[name];
    clearError(field);
    if (foldOf(name)) foldOf(name).open = true;
    count++;
  }
  const published = metadata.publishedDate ?? metadata.publishedDateText;
  if (published && !form.elements.publishedDate.value.trim()) { form.elements.publishedDate.value = published; count++; }
  const authors = (metadata.authors ?? []).map((one) => typeof one === "string" ? { name: one, role: "author" } : one);
  if (authors.length && readPeople().length === 0) {
    for (const row of document.querySelectorAll(".person")) row.remove();
    for (const { name, role } of authors) addPerson(name, role);
    count++;
  }
  const genres = document.querySelector("[data-names=subjects]");
  if (metadata.subjects?.length && readNames(genres).length === 0) {
    for (const name of metadata.subjects) addName(genres, name);
    count++;
  }
  if (count) { notifyChange(); toast(texts.filled); }
}

let lookedUp = isbn.value.trim();
/**
 * Checks the number, and shows what the library knows about it.
 *
 * - isScanned: true if the station is already asking the sources, so that the form need not offer this.
 * - again: true to check the number even if it has not changed.
 */
export async function lookUp({ isScanned, again } = {}) {
  const text = isbn.value.trim();
  if (text === lookedUp && !isScanned && !again) return;
  lookedUp = text;
  isbnHint.textContent = "";
  asking.hidden = true;
  if (!text) return;
  try {
    const known = await callAPI("GET", "/api/known?isbn=" + encodeURIComponent(text));
    if (isbn.value.trim() !== text) return;
    if (known.refusal) { isbnHint.textContent = pageText("wrong", { reason: known.refusal }); return; }
    if (!id && known.trashed) isbnHint.textContent = pageText("trashed", { title: known.trashed });
    if (!id && known.owned) {
      document.getElementById("ownedText").textContent = pageText("owned", { title: known.owned.title });
      document.getElementById("ownedBook").href = `/books/${known.owned.id}`;
    }
    if (!id) document.getElementById("owned").hidden = !known.owned;
    if (known.metadata) fillFields(known.metadata); else if (isScanned) toast(texts.unknown);
    asking.hidden = known.metadata !== null || isScanned === true;
  } catch { /* The service checks the number again when the form is saved. */ }
}
isbn.addEventListener("change", () => lookUp());

/**
 * The last number that was sent, with its request id. If it is sent twice because an answer was lost, it is captured
 * once.
 */
let sent = {};
// The station asks the sources about the number. It needs an item in its queue for this. Saving the form answers this
// item.
asking.addEventListener("click", () => attempt(async () => {
  asking.hidden = true;
  isbnHint.textContent = texts.asking;
  // A scanned number is already in the queue.
  if (item?.hyphenated === isbn.value.trim()) return void await callAPI("POST", `/api/station/rows/${item.id}/lookup`, {});
  const text = isbn.value.trim();
  if (sent.text !== text) sent = { text, request: makeRequestID() };
  const { row } = await callAPI("POST", "/api/station/captures", { ...sent, origin: "typed" });
  sent = {};
  item = row;
  taken.add(row.id);
  useAnswer(row);
}));

// The button Scan ISBN, which shows the live picture and enters the next number that the station captures. Values that
// the sources find later are filled in as well.

const scanner = document.getElementById("scanner"), preview = document.getElementById("preview");
const noPicture = document.getElementById("noPicture");
document.getElementById("scan").addEventListener("click", () => {
  noPicture.hidden = true;
  preview.hidden = false;
  preview.src = "/api/station/preview?" + Date.now();
  scanner.showModal();
});
preview.addEventListener("error", () => { if (scanner.open) { preview.hidden = true; noPicture.hidden = false; } });
// The stream ends when it is no longer shown.
scanner.addEventListener("close", () => { preview.removeAttribute("src"); });
/** The item in the queue whose number is in the form. Saving the form answers this item. */
let item = null;
const taken = new Set();
function useNumber(row) {
  // An event and an answer may report the same item.
  if (taken.has(row?.id)) return;
  if (!scanner.open || !row?.isbn13) return;
  scanner.close();
  item = row;
  taken.add(row.id);
  isbn.value = row.hyphenated ?? row.isbn13;
  notifyChange();
  clearError(isbn);
  lookUp({ isScanned: true });
  isbn.focus();
}
on("captured", useNumber);
// The form itself shows what happened to the number, so no toast is needed.
document.addEventListener("scanned", (event) => {
  const { row } = event.detail;
  if (!row || (!scanner.open && row.isbn13 !== item?.isbn13)) return;
  event.preventDefault();
  // If the same number is scanned again, the new item is skipped, so that the queue does not keep a second one.
  const isAgain = item !== null && !taken.has(row.id) && row.isbn13 === item.isbn13;
  useNumber(row);
  if (!isAgain || item.id === row.id) return;
  taken.add(row.id);
  attempt(() => callAPI("POST", `/api/station/rows/${row.id}/skip`, {}));
});
function useAnswer(row) {
  if (!item || row?.isbn13 !== item.isbn13 || row.standing === "lookingUp") return;
  isbnHint.textContent = row.title ? "" : texts.unknown;
  if (row.title) fillFields({ ...row, publishedDate: row.published });
}
on("known", useAnswer);
