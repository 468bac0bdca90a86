// The Book page, with stars, the cover photo and the trash. Editing in place, progress, sessions and dates have their
// own files.

import { attempt } from "./acts.js";
import "./dates.js";
import "./edit-in-place.js";
import { refresh } from "./live.js";
import { toast, toastOutcome } from "./messages.js";
import "./progress.js";
import { callAPI } from "./requests.js";
import { confirmDeletion } from "./sheets.js";
import { text } from "./texts.js";

const { copy } = document.querySelector("[data-copy]").dataset, texts = document.getElementById("page-texts").dataset;

// The rating in quarter stars. The slider saves the rating when it is released.

document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-rating]")) return;
  const rating = Number(event.target.value) || null;
  attempt(async () => {
    const answer = await callAPI("PATCH", `/api/books/${copy}`, { rating });
    toastOutcome(`${texts.rated}: ${rating ?? "–"}`, answer);
    event.target.blur();
    await refresh();
  });
});

// The cover photo is made smaller here, so that a phone does not send all of its twelve megapixels and the data that
// the camera adds.

const photo = document.getElementById("photo"), state = document.getElementById("photo-state");
const longestSide = 1200;

async function shrink(file) {
  const picture = await createImageBitmap(file, { imageOrientation: "from-image" });
  const scale = Math.min(1, longestSide / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * scale)));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", .85));
}

photo.addEventListener("change", async () => {
  const file = photo.files[0];
  if (!file) return;
  state.textContent = text("saving");
  let small;
  try { small = await shrink(file); } catch { small = null; }
  if (!small) { state.textContent = photo.dataset.unreadable; return; }
  const succeeded = await attempt(async () => {
    await callAPI("PUT", photo.dataset.path, small);
    photo.closest("dialog").close();
    toast(photo.dataset.done);
  });
  state.textContent = "";
  photo.value = "";
  if (succeeded) await refresh();
});

// Deleting a book for good is the only act that asks first.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-for-good]");
  if (!button || !await confirmDeletion()) return;
  await attempt(async () => {
    await callAPI("POST", "/api/books/delete-for-good", { ids: [button.dataset.forGood] });
    location.assign("/library?trash=1");
  });
});

// Parts that a person has opened stay open when their live region is replaced.
const folds = new Map();
document.addEventListener("toggle", ({ target }) => { if (target.id && target.matches("details")) folds.set(target.id, target.open); }, true);
document.addEventListener("renewed", ({ target }) => {
  for (const fold of target.querySelectorAll("details[id]")) if (folds.has(fold.id)) fold.open = folds.get(fold.id);
});
