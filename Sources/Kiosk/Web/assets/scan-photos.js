// Photos from the disk or a phone's camera, one after the other; large ones are made smaller before they travel.

import { ask, on, Refusal, requestID, text, toast } from "./app.js";

const news = document.getElementById("photo-news");
const progress = document.getElementById("photo-progress");
/** Bar codes are read well below this; above it a photo only takes longer. */
const mostPixels = 12_000_000, longestSide = 3000;
/** Ten seconds apart: a station that is not back by then needs a person, who has the photo still. */
const mostTries = 30;

/** The files to send, each with a request id: sent again after an answer that was lost, a photo captures nothing twice. */
let queue = [], done = 0, books = 0, isSending = false, isOutdated = false, later = 0;
/** Codes with which a photo is not for now: the station is busy, or comes back. */
const isPassing = (error) => !(error instanceof Refusal) || [401, 408, 429].includes(error.status) || (error.status === 503 && error.code !== "noPhotos");

async function smaller(file) {
  let picture;
  // What the browser cannot open, such as HEIC, the station perhaps can.
  try { picture = await createImageBitmap(file); } catch { return typed(file); }
  try {
    if (picture.width * picture.height <= mostPixels) return typed(file);
    const scale = longestSide / Math.max(picture.width, picture.height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((give) => canvas.toBlob((blob) => give(blob ?? typed(file)), "image/jpeg", 0.9));
  } finally {
    picture.close();
  }
}

const types = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", webp: "image/webp", heic: "image/heic", heif: "image/heic" };
function typed(file) {
  const type = file.type || types[file.name.split(".").pop().toLowerCase()];
  return file.type === type ? file : new Blob([file], { type });
}

function show() {
  progress.max = done + queue.length;
  progress.value = done;
  news.lastElementChild.textContent = queue.length > 0
    ? text("photosGoing", { number: done + 1, count: done + queue.length }) : text("photosDone", { count: done, books });
  news.hidden = false;
}

/** One line for all photos of one go. */
let refusals = [], refusalLine = null;
function refuse(name, reason) {
  refusals.push(`${name}: ${reason}`);
  refusalLine?.remove();
  refusalLine = toast(refusals.length === 1 ? refusals[0] : text("photosRefused", { count: refusals.length, reason: refusals.join(" · ") }), { isTrouble: true });
}

async function send() {
  if (isSending) return;
  isSending = true;
  clearTimeout(later);
  while (queue.length > 0) {
    show();
    const { file, request } = queue[0];
    try {
      const { rows, refused } = await ask("POST", `/api/station/photos?request=${request}`, await smaller(file));
      books += rows.length;
      if (rows.length === 0 && refused.length > 0) refuse(file.name, refused[0].reason);
    } catch (error) {
      queue[0].tries += 1;
      if (isPassing(error) && queue[0].tries < mostTries) {
        if (queue[0].tries === 1) toast(text("photoKept", { name: file.name }), { isTrouble: true });
        isSending = false;
        later = setTimeout(send, 10_000);
        return;
      }
      refuse(file.name, error instanceof Refusal ? error.message : text("lost"));
    }
    queue.shift();
    done += 1;
  }
  isSending = false;
  if (isOutdated) { location.reload(); return; }
  show();
  [done, books, refusals] = [0, 0, []];
  setTimeout(() => { if (!isSending && queue.length === 0) news.hidden = true; }, 6000);
}

export function give(files) {
  queue.push(...files.map((file) => ({ file, request: requestID(), tries: 0 })));
  send();
}
on("hello", () => { if (queue.length > 0) send(); });
// What waits here would be gone with the page.
document.addEventListener("restarted", (event) => {
  if (queue.length === 0) return;
  event.preventDefault();
  isOutdated = true;
});
addEventListener("beforeunload", (event) => { if (queue.length > 0) event.preventDefault(); });
