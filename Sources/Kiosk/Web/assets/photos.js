// Photos from the disk or a phone's camera, which are sent one after the other.

import { attempt, describeFailure } from "./acts.js";
import { on } from "./events.js";
import { toast } from "./messages.js";
import { findByPhoto, shrinkPhoto } from "./photo-files.js";
import { callAPI, makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

const input = document.getElementById("photos"), news = document.getElementById("photo-news");
const progress = document.getElementById("photo-progress");
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

function showProgress() {
  progress.max = done + queue.length;
  progress.value = done;
  news.lastElementChild.textContent = queue.length > 0
    ? text("photosGoing", { number: done + 1, count: done + queue.length }) : text("photosDone", { count: done, books });
  news.hidden = false;
}

let refusals = [], refusalLine = null;
/** Reports all refused photos in one toast. If it is only one, without a bar code, its title can be read. */
function showRefusal(file, reason, hasNoCode) {
  refusals.push(`${file.name}: ${reason}`);
  refusalLine?.remove();
  const isOnly = refusals.length === 1;
  const message = isOnly ? refusals[0] : text("photosRefused", { count: refusals.length, reason: refusals.join(" · ") });
  const readTitle = isOnly && hasNoCode && "readsTitles" in input.dataset
    ? [text("titleOfPhoto"), () => attempt(() => findByPhoto(file))] : undefined;
  refusalLine = toast(message, { isError: true, button: readTitle });
}

async function send() {
  if (isSending) return;
  isSending = true;
  clearTimeout(retry);
  while (queue.length > 0) {
    showProgress();
    const { file, request } = queue[0];
    try {
      const { rows, refused } = await callAPI("POST", `/api/station/photos?request=${request}`, await shrinkPhoto(file));
      books += rows.length;
      if (rows.length === 0 && refused.length > 0) showRefusal(file, refused[0].reason);
    } catch (error) {
      queue[0].tries += 1;
      if (isPassing(error) && queue[0].tries < mostTries) {
        if (queue[0].tries === 1) toast(text("photoKept", { name: file.name }), { isError: true });
        isSending = false;
        retry = setTimeout(send, 10_000);
        return;
      }
      showRefusal(file, describeFailure(error), error.code === "noBarCode");
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
