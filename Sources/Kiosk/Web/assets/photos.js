// Photos from the disk or a phone's camera, which are sent one after the other.

import { describeFailure } from "./acts.js";
import { on } from "./events.js";
import { toast } from "./messages.js";
import { callAPI, makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

const input = document.getElementById("photos"), news = document.getElementById("photo-news");
const progress = document.getElementById("photo-progress");
/**
 * The largest number of pixels in a photo that is sent unchanged, and the longest side of a photo that was made
 * smaller. Bar codes are read well below this size, and a larger photo only takes longer.
 */
const mostPixels = 12_000_000, longestSide = 3000;
/**
 * The largest number of tries, which are ten seconds apart. If all of them fail, the photo is refused. The person still
 * has it and can send it again.
 */
const mostTries = 30;

/**
 * The files that wait to be sent. Each has a request id, so that a photo that is sent twice because an answer was lost
 * captures nothing twice.
 */
let queue = [], done = 0, books = 0, isSending = false, isOutdated = false, retry = 0;

/** Returns true if sending again may succeed, which is when the station is busy or does not answer. */
const isPassing = (error) => !(error instanceof Refusal) || [401, 408, 429].includes(error.status)
  || (error.status === 503 && error.code !== "noPhotos");

async function shrink(file) {
  let picture;
  // The station may be able to open files that the browser cannot open, such as HEIC.
  try { picture = await createImageBitmap(file); } catch { return addType(file); }
  try {
    if (picture.width * picture.height <= mostPixels) return addType(file);
    const scale = longestSide / Math.max(picture.width, picture.height);
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(picture.width * scale);
    canvas.height = Math.round(picture.height * scale);
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? addType(file)), "image/jpeg", 0.9));
  } finally {
    picture.close();
  }
}

const types = { jpg: "image/jpeg", jpeg: "image/jpeg", png: "image/png", webp: "image/webp", heic: "image/heic", heif: "image/heic" };
/** Returns the file, with a type derived from its name if the browser does not give it one. */
function addType(file) {
  const type = file.type || types[file.name.split(".").pop().toLowerCase()];
  return file.type === type ? file : new Blob([file], { type });
}

function showProgress() {
  progress.max = done + queue.length;
  progress.value = done;
  news.lastElementChild.textContent = queue.length > 0
    ? text("photosGoing", { number: done + 1, count: done + queue.length }) : text("photosDone", { count: done, books });
  news.hidden = false;
}

let refusals = [], refusalLine = null;
/** Reports all refused photos in one toast. */
function showRefusal(name, reason) {
  refusals.push(`${name}: ${reason}`);
  refusalLine?.remove();
  const message = refusals.length === 1 ? refusals[0] : text("photosRefused", { count: refusals.length, reason: refusals.join(" · ") });
  refusalLine = toast(message, { isError: true });
}

async function send() {
  if (isSending) return;
  isSending = true;
  clearTimeout(retry);
  while (queue.length > 0) {
    showProgress();
    const { file, request } = queue[0];
    try {
      const { rows, refused } = await callAPI("POST", `/api/station/photos?request=${request}`, await shrink(file));
      books += rows.length;
      if (rows.length === 0 && refused.length > 0) showRefusal(file.name, refused[0].reason);
    } catch (error) {
      queue[0].tries += 1;
      if (isPassing(error) && queue[0].tries < mostTries) {
        if (queue[0].tries === 1) toast(text("photoKept", { name: file.name }), { isError: true });
        isSending = false;
        retry = setTimeout(send, 10_000);
        return;
      }
      showRefusal(file.name, describeFailure(error));
    }
    queue.shift();
    done += 1;
  }
  isSending = false;
  showProgress();
  [done, books, refusals] = [0, 0, []];
  // The result is shown for a moment. If the service was restarted in the meantime, the page is reloaded only after
  // that.
  setTimeout(() => {
    if (isSending || queue.length > 0) return;
    if (isOutdated) location.reload(); else news.hidden = true;
  }, 6000);
}

input.addEventListener("change", () => {
  queue.push(...[...input.files].map((file) => ({ file, request: makeRequestID(), tries: 0 })));
  input.value = "";
  send();
});
on("hello", () => { if (queue.length > 0) send(); });
// Photos that wait here would be lost if the page were reloaded.
document.addEventListener("restarted", (event) => {
  if (queue.length === 0) return;
  event.preventDefault();
  isOutdated = true;
});
addEventListener("beforeunload", (event) => { if (queue.length > 0) event.preventDefault(); });
