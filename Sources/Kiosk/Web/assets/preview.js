// The live picture, in which the codes are outlined, and hints about what would help the camera.

import { on } from "./events.js";
import { callAPI } from "./requests.js";
import { text } from "./texts.js";

const picture = document.getElementById("picture"), image = document.getElementById("preview");
const scan = document.getElementById("scan"), outlines = document.getElementById("outlines"), sentence = document.getElementById("no-picture"), hint = document.getElementById("hint");
const isOwn = () => picture.classList.contains("is-own");
let state = picture.dataset.state, requests = 0, retry = 0;

/** Requests the picture, at first and after the camera, the page or the service has paused. */
function start() {
  clearTimeout(retry);
  // The phone's own camera is in its place (own-camera.js).
  if (isOwn()) return;
  if (state !== "streaming" || document.hidden) return stop();
  requests += 1;
  image.src = `/api/station/preview?${requests}`;
  image.hidden = false;
}

function stop() {
  clearTimeout(retry);
  image.removeAttribute("src");
  image.hidden = true;
  if (isOwn()) return;
  outlines.replaceChildren();
  hint.hidden = true;
}

/**
 * The text for each kind of error, which says what a person can do at the station. The service's own message is for
 * the person who set it up.
 */
const errorTexts = { noCamera: "unplugged", unplugged: "unplugged", busy: "taken", denied: "unusable", unusable: "unusable" };

/** Gives the place of the picture to the list if there is none. */
function showPlace() { scan.classList.toggle("is-blind", !isOwn() && state !== "streaming" && state !== "starting"); }

function showCamera(camera) {
  const previous = state;
  state = camera.state;
  picture.dataset.state = state;
  showPlace();
  sentence.textContent = picture.dataset[state === "trouble" ? errorTexts[camera.kind] ?? "silent" : state] ?? "";
  sentence.title = camera.text ?? "";
  if (state !== "streaming") return stop();
  if (previous !== "streaming" || image.hidden) start();
}
on("camera", showCamera);
document.addEventListener("owncamera", () => {
  showPlace();
  showFrozen(false);
  if (isOwn()) stop(); else start();
});

// The stream has ended, or four other screens are already showing it.
image.addEventListener("error", () => {
  if (!image.hasAttribute("src")) return;
  image.hidden = true;
  sentence.textContent = text("previewLater");
  clearTimeout(retry);
  retry = setTimeout(start, 3000);
});
image.addEventListener("load", () => { image.hidden = false; });
document.addEventListener("visibilitychange", start);

// A frozen stream does not report an error. Two pictures from a live camera are never exactly the same, so a picture
// that repeats is frozen.

const most = 3, side = 64;
const eye = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
let seen = "", repeats = 0;
[eye.canvas.width, eye.canvas.height] = [side, side * 2];

function showFrozen(isFrozen) {
  picture.classList.toggle("is-still", isFrozen);
  if (isFrozen) sentence.textContent = text("previewStill");
}

/**
 * Compares the picture with the last one. It compares the whole picture at a reduced size, and its middle at full size.
 */
function compare() {
  if (isOwn() || image.hidden || document.hidden || !image.naturalWidth) {
    [seen, repeats] = ["", 0];
    return showFrozen(false);
  }
  eye.drawImage(image, 0, 0, side, side);
  eye.drawImage(image, (image.naturalWidth - side) / 2, (image.naturalHeight - side) / 2, side, side, 0, side, side, side);
  const now = eye.getImageData(0, 0, side, side * 2).data.join();
  repeats = now === seen ? repeats + 1 : 0;
  seen = now;
  showFrozen(repeats >= most);
}
setInterval(compare, 1000);

/** Outlines the codes in a picture of this size, and says what would help the camera. */
export function showGlance({ width, height, symbols, hint: advice }) {
  outlines.setAttribute("viewBox", `0 0 ${width} ${height}`);
  outlines.replaceChildren(...symbols.map((corners) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
    shape.setAttribute("points", corners.map((corner) => corner.join(",")).join(" "));
    return shape;
  }));
  hint.hidden = !advice;
  if (advice) hint.textContent = text("hint_" + advice);
}

on("glance", (glance) => {
  if (isOwn()) return;
  if (image.hidden || !glance.width) return outlines.replaceChildren();
  showGlance(glance);
});

start();
if (state === "trouble") {
  sentence.textContent = "";
  callAPI("GET", "/api/station/lamps").then(({ camera }) => showCamera(camera)).catch(() => { sentence.textContent = text("lost"); });
}
