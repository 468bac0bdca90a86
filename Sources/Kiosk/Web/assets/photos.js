// Photos from the disk or a phone's camera. They are sent one after the other, and each is kept in this browser until
// the station has read it, or a person dismisses it on the Scan page (unread.js).

import { on } from "./events.js";
import { toast } from "./messages.js";
import { askForDelivery } from "./outbox.js";
import { isKept, keep, listKept } from "./outbox-store.js";
import { sendPhoto } from "./photo-files.js";
import { makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

const input = document.getElementById("photos"), news = document.getElementById("photo-news");
const progress = document.getElementById("photo-progress");
/**
 * The largest number of tries, which are ten seconds apart, if the station answers that it cannot read the photo now. If
 * all of them fail, the photo counts as not read. While the station does not answer, the photo waits.
 */
const mostTries = 30;

/** The photos that wait to be sent. */
let queue = [], done = 0, books = 0, isSending = false, retry = 0;

function showProgress() {
  progress.max = done + queue.length;
  progress.value = done;
  news.lastElementChild.textContent = queue.length > 0
    ? text("photosGoing", { number: done + 1, count: done + queue.length }) : text("photosDone", { count: done, books });
  news.hidden = false;
}

/** Keeps photos, and sends them after those that wait already. */
export async function sendPhotos(photos) {
  await Promise.all(photos.map((photo) => keep("photos", photo)));
  queue.push(...photos);
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
      // The service worker may have sent it.
      if (await isKept("photos", photo.id)) books += await sendPhoto(photo, { isLast: (photo.tries ?? 0) + 1 >= mostTries });
    } catch (error) {
      if (error instanceof Refusal) photo.tries = (photo.tries ?? 0) + 1;
      if (!photo.hasWaited) toast(text("photoKept", { name: photo.file.name }), { isError: true });
      photo.hasWaited = true;
      isSending = false;
      askForDelivery();
      retry = setTimeout(send, 10_000);
      return;
    }
    if (photo.reason !== undefined) {
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

/** Sends the photos that waited when the page was left. */
async function restore() {
  queue.push(...(await listKept("photos")).filter((photo) => photo.reason === undefined));
  if (queue.length > 0) send();
}
restore();
