// The ISBN of the form: whether it is one, whether its book is owned, what is known of it; Scan ISBN.
import { ask, attempt, on, requestID, toast } from "./app.js";
import { addName, addPerson, changed, clearWrong, fill, form, names, people } from "./form-fields.js";

const isbn = form.elements.isbnText, id = form.dataset.id, words = document.getElementById("words").dataset;

// The number: what is wrong with it, whether the book is owned, and what is known of it here. Only empty fields are filled.

const isbnHint = document.getElementById("isbnHint"), asking = document.getElementById("asking");
const folded = (name) => form.elements[name]?.closest("details");
function fillIn(metadata) {
  let count = 0;
  for (const name of ["title", "subtitle", "publisher", "pageCount", "language", "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "previewLink", "infoLink"]) {
    const field = form.elements[name];
    if (metadata[name] === null || metadata[name] === undefined || !field || field.value.trim()) continue;
    field.value = metadata[name];
    clearWrong(field);
    if (folded(name)) folded(name).open = true;
    count++;
  }
  const published = metadata.publishedDate ?? metadata.publishedDateText;
  if (published && !form.elements.publishedDate.value.trim()) { form.elements.publishedDate.value = published; count++; }
  const authors = (metadata.authors ?? []).map((one) => typeof one === "string" ? { name: one, role: "author" } : one);
  if (authors.length && people().length === 0) {
    for (const row of document.querySelectorAll(".person")) row.remove();
    for (const { name, role } of authors) addPerson(name, role);
    count++;
  }
  const genres = document.querySelector("[data-names=subjects]");
  if (metadata.subjects?.length && names(genres).length === 0) { for (const name of metadata.subjects) addName(genres, name); count++; }
  if (count) { changed(); toast(words.filled); }
  return count;
}

let lookedUp = isbn.value.trim();
export async function lookUp({ tells, again } = {}) {
  const text = isbn.value.trim();
  if (text === lookedUp && !tells && !again) return;
  lookedUp = text;
  isbnHint.textContent = "";
  asking.hidden = true;
  if (!text) return;
  try {
    const known = await ask("GET", "/api/known?isbn=" + encodeURIComponent(text));
    if (isbn.value.trim() !== text) return;
    if (known.refusal) { isbnHint.textContent = fill("wrong", { reason: known.refusal }); return; }
    if (!id && known.trashed) isbnHint.textContent = fill("trashed", { title: known.trashed });
    if (!id && known.owned) {
      document.getElementById("ownedWords").textContent = fill("owned", { title: known.owned.title });
      document.getElementById("ownedBook").href = `/books/${known.owned.id}`;
    }
    if (!id) document.getElementById("owned").hidden = !known.owned;
    if (known.metadata) fillIn(known.metadata); else if (tells) toast(words.unknown);
    asking.hidden = known.metadata !== null || tells === true;
  } catch { /* The number is checked again when it is saved. */ }
}
isbn.addEventListener("change", () => lookUp());

/** Sent again, because the answer was lost, it is captured once. */
let sent = {};
// The catalogues are asked by the station: the number goes into its intake, which the saved form takes it out of again.
asking.addEventListener("click", () => attempt(async () => {
  asking.hidden = true;
  isbnHint.textContent = words.asking;
  // What came by the scanner is there already.
  if (item?.hyphenated === isbn.value.trim()) return void await ask("POST", `/api/station/rows/${item.id}/lookup`, {});
  const text = isbn.value.trim();
  if (sent.text !== text) sent = { text, request: requestID() };
  const { row } = await ask("POST", "/api/station/captures", { ...sent, origin: "typed" });
  sent = {};
  item = row;
  taken.add(row.id);
  takeKnown(row);
}));

// Scan ISBN: the live picture, and the next number that the station captures. What its sources say of it later is filled in, too.

const scanner = document.getElementById("scanner"), preview = document.getElementById("preview"), noPicture = document.getElementById("noPicture");
document.getElementById("scan").addEventListener("click", () => {
  noPicture.hidden = true;
  preview.hidden = false;
  preview.src = "/api/station/preview?" + Date.now();
  scanner.showModal();
});
preview.addEventListener("error", () => { if (scanner.open) { preview.hidden = true; noPicture.hidden = false; } });
// A stream that nobody sees is ended.
scanner.addEventListener("close", () => { preview.removeAttribute("src"); });
/** The intake's item whose number stands in the form; saving the form answers it. */
let item = null;
const taken = new Set();
function take(row) {
  // An event and an answer may tell of the same one.
  if (taken.has(row?.id)) return;
  if (!scanner.open || !row?.isbn13) return;
  scanner.close();
  item = row;
  taken.add(row.id);
  isbn.value = row.hyphenated ?? row.isbn13;
  changed();
  clearWrong(isbn);
  lookUp({ tells: true });
  isbn.focus();
}
on("captured", take);
// The form says what became of it: no other line is needed.
document.addEventListener("scanned", (event) => {
  const { row } = event.detail;
  if (!row || (!scanner.open && row.isbn13 !== item?.isbn13)) return;
  event.preventDefault();
  // Scanned once more at this form: no second one of it is left behind.
  const isAgain = item !== null && !taken.has(row.id) && row.isbn13 === item.isbn13;
  take(row);
  if (!isAgain || item.id === row.id) return;
  taken.add(row.id);
  attempt(() => ask("POST", `/api/station/rows/${row.id}/skip`, {}));
});
function takeKnown(row) {
  if (!item || row?.isbn13 !== item.isbn13 || row.standing === "lookingUp") return;
  isbnHint.textContent = row.title ? "" : words.unknown;
  if (row.title) fillIn({ title: row.title, subtitle: row.subtitle, authors: row.authors, publisher: row.publisher, publishedDate: row.published, pageCount: row.pageCount });
}
on("known", takeKnown);
