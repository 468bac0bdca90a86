// The page Find by title. The search is a page of its own, and the sources may take some seconds, so the button says so.

import { act, attempt } from "./acts.js";
import { findByPhoto } from "./photo-files.js";
import { forget } from "./outbox-store.js";

const form = document.getElementById("find"), submit = form.querySelector("button");
const photo = document.getElementById("find-photo"), state = document.getElementById("photo-state");
const label = submit.textContent;

/** Makes the page ready for another search. */
function makeReady() {
  submit.textContent = label;
  submit.disabled = false;
  state.textContent = "";
  if (photo) photo.disabled = false;
}

form.addEventListener("submit", () => { submit.textContent = form.dataset.searching; submit.disabled = true; });
// The page is shown again as it was when a person goes back to it.
addEventListener("pageshow", makeReady);
document.addEventListener("stayed", makeReady);

// The unread photo whose print is searched for, also in a further search.
const unread = location.hash.slice(1);
form.action = `/find${location.hash}`;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("main button[data-act]");
  if (!button) return;
  event.stopImmediatePropagation();
  if (!await act(button, JSON.parse(button.dataset.body))) return;
  // The photo has led to its book, so its row on the Scan page is not needed any more.
  if (unread) await forget("photos", unread);
  // After a captured book has got its record, the person goes on with its card.
  if ("takes" in button.dataset) location.assign(`/scan?row=${encodeURIComponent(form.elements.row.value)}`);
}, { capture: true });

photo?.addEventListener("change", async () => {
  const [file] = photo.files;
  photo.value = "";
  if (!file) return;
  photo.disabled = true;
  state.textContent = state.dataset.reading;
  if (!await attempt(() => findByPhoto(file, { row: form.elements.row?.value }))) makeReady();
});
