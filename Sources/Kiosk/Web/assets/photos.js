// Photos from the disk or a phone's camera. They are sent one after the other, and each is kept in this browser until
// the station has read it, or a person dismisses it on the Scan page (unread.js).

import { describeFailure } from "./acts.js";
import { on } from "./events.js";
import { toast } from "./messages.js";
import { captureBooks } from "./photo-files.js";
import { dropPhoto, keepPhoto, listPhotos } from "./photo-store.js";
import { makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

const input = document.getElementById("photos"), news = document.getElementById("photo-news");
const progress = document.getElementById("photo-progress");
/** The largest number of tries, which are ten seconds apart. If all of them fail, the photo counts as not read. */
const mostTries = 30;

/**
 * The photos that wait to be sent. The id of each is that of its request, so that a photo that is sent twice because an
 * answer was lost captures nothing twice.
 */
let queue = [], done = 0, books = 0, isSending = false, retry = 0;
/** True if the browser could not keep a photo, so that it would be lost if the page were reloaded. */
let isAtRisk = false;

/** Returns true if sending again may succeed, which is when the station is busy or does not answer. */
const isPassing = (error) => !(error instanceof Refusal) || [401, 408, 429].includes(error.status)
  || (error.status === 503 && error.code !== "noPhotos");

function showProgress() {
  progress.max = done + queue.length;
  progress.value = done;
  news.lastElementChild.textContent = queue.length > 0
    ? text("photosGoing", { number: done + 1, count: done + queue.length }) : text("photosDone", { count: done, books });
  news.hidden = false;
}

/** Keeps the photo as it is now. A browser without room for it still has it on this page. */
async function keep(photo) {
  try { await keepPhoto(photo); } catch { isAtRisk = true; }
}

/** Forgets a photo that was read, or dismissed. */
export async function forgetPhoto(photo) {
  try { await dropPhoto(photo); } catch { /* It is shown once more after a reload. */ }
}

/** Keeps photos, and sends them after those that wait already. */
export async function sendPhotos(photos) {
  for (const photo of photos) {
    queue.push(photo);
    await keep(photo);
  }
  send();
}

async function send() {
  if (isSending) return;
  isSending = true;
  clearTimeout(retry);
  while (queue.length > 0) {
    showProgress();
    const [photo] = queue;
    try {
      const { rows, refused } = await captureBooks(photo.file, photo.id);
      books += rows.length;
      if (rows.length === 0) photo.reason = refused[0]?.reason ?? "";
      else await forgetPhoto(photo);
    } catch (error) {
      photo.tries = (photo.tries ?? 0) + 1;
      if (isPassing(error) && photo.tries < mostTries) {
        if (photo.tries === 1) toast(text("photoKept", { name: photo.file.name }), { isError: true });
        isSending = false;
        retry = setTimeout(send, 10_000);
        return;
      }
      [photo.reason, photo.hasNoCode, photo.tries] = [describeFailure(error), error.code === "noBarCode", 0];
    }
    if (photo.reason !== undefined) {
      await keep(photo);
      const isShown = !document.dispatchEvent(new CustomEvent("unread", { detail: photo, cancelable: true }));
      if (!isShown) toast(`${photo.file.name}: ${photo.reason}`, { isError: true, link: ["/scan", text("scannedOpen")] });
    }
    queue.shift();
    done += 1;
  }
  isSending = false;
  showProgress();
  [done, books] = [0, 0];
  // The result is shown for a moment.
  setTimeout(() => { if (queue.length === 0) news.hidden = true; }, 6000);
}

input.addEventListener("change", () => {
  sendPhotos([...input.files].map((file) => ({ id: makeRequestID(), file })));
  input.value = "";
});
on("hello", () => { if (queue.length > 0) send(); });
document.addEventListener("restarted", (event) => { if (isAtRisk && queue.length > 0) event.preventDefault(); });
addEventListener("beforeunload", (event) => { if (isAtRisk && queue.length > 0) event.preventDefault(); });

/** Sends the photos that waited when the page was left. */
async function restore() {
  let kept;
  try { kept = await listPhotos(); } catch { return; } // Without its database, the browser has kept none.
  queue.push(...kept.filter((photo) => photo.reason === undefined));
  if (queue.length > 0) send();
}
restore();
