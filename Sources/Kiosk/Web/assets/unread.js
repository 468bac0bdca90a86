// Photos that the station could not read. Each is a row above the list, until a person has typed its ISBN or dismisses it.

import { attempt } from "./acts.js";
import { typeNumber } from "./keypad.js";
import { drawThumbnail, findByPhoto } from "./photo-files.js";
import { forget, listKept } from "./outbox-store.js";
import { sendPhotos } from "./photos.js";

const list = document.getElementById("unread"), template = document.getElementById("unread-row").content;

/** Adds a row. At most one row is open, so that they leave room for the list. */
function show(photo, isOpen) {
  if (isOpen) for (const other of list.querySelectorAll("[open]")) other.open = false;
  const row = document.importNode(template, true).firstElementChild;
  row.querySelector("b").textContent = photo.file.name;
  for (const place of row.querySelectorAll("[data-reason]")) place.textContent = photo.reason;
  row.querySelector("details").open = isOpen;
  if (!photo.hasNoCode) row.querySelector("[data-photo=title]")?.remove();
  row.addEventListener("click", ({ target }) => acts[target.closest("[data-photo]")?.dataset.photo]?.(photo, row));
  list.prepend(row);
  list.hidden = false;
  return drawThumbnail(photo.file, row.querySelector("canvas"));
}

function remove(row) {
  row.remove();
  list.hidden = list.childElementCount === 0;
}

async function dismiss(photo, row) {
  remove(row);
  await forget("photos", photo.id);
}

const acts = {
  type: (photo, row) => typeNumber(() => dismiss(photo, row)),
  again: async (photo, row) => {
    remove(row);
    await sendPhotos([{ id: photo.id, file: photo.file }]);
  },
  title: (photo) => attempt(() => findByPhoto(photo.file, { unread: photo.id })),
  dismiss,
};

document.addEventListener("unread", (event) => {
  event.preventDefault();
  show(event.detail, true);
});

/** Shows the photos that were not read before the page was loaded. */
async function restore() {
  for (const photo of await listKept("photos")) if (photo.reason !== undefined) await show(photo, false);
}
restore();
