// The Book page, with stars and the trash. Editing in place, progress, sessions, dates and the cover photo have their own
// files.

import { attempt } from "./acts.js";
import "./cover-photo.js";
import "./dates.js";
import "./edit-in-place.js";
import { refresh } from "./live.js";
import { toastOutcome } from "./messages.js";
import "./progress.js";
import { callAPI } from "./requests.js";
import { confirmDeletion } from "./sheets.js";

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
