// The live picture with the codes outlined, and what would help the camera.

import { ask, on, text } from "./app.js";

const picture = document.getElementById("picture"), image = document.getElementById("preview");
const outlines = document.getElementById("outlines"), sentence = document.getElementById("no-picture"), hint = document.getElementById("hint");
let state = picture.dataset.state, asked = 0, again = 0;

/** Asks for the picture anew: after a pause of the camera, of the page, or of the service. */
function begin() {
  clearTimeout(again);
  if (state !== "streaming" || document.hidden) return end();
  asked += 1;
  image.src = `/api/station/preview?${asked}`;
  image.hidden = false;
}

function end() {
  clearTimeout(again);
  image.removeAttribute("src");
  image.hidden = true;
  outlines.replaceChildren();
  hint.hidden = true;
}

/** Which words say what to do at the station; the service's own are for who set it up. */
const troubles = { noCamera: "unplugged", unplugged: "unplugged", busy: "taken", denied: "unusable", unusable: "unusable" };

/** @param camera: as it is now; null for as the page was made. */
export function showCamera(camera) {
  if (!camera) return;
  const was = state;
  state = camera.state;
  sentence.textContent = picture.dataset[state === "trouble" ? troubles[camera.kind] ?? "silent" : state] ?? "";
  sentence.title = camera.text ?? "";
  if (state !== "streaming") return end();
  if (was !== "streaming" || image.hidden) begin();
}

// The stream has ended, or four others are watching already.
image.addEventListener("error", () => {
  if (!image.hasAttribute("src")) return;
  image.hidden = true;
  sentence.textContent = text("previewLater");
  clearTimeout(again);
  again = setTimeout(begin, 3000);
});
image.addEventListener("load", () => { image.hidden = false; });
document.addEventListener("visibilitychange", begin);

// A stream that hangs tells nothing. What a camera sees is never the same twice to the last bit: a picture that is stands still.

const most = 3, side = 64;
const eye = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
let seen = "", same = 0;
[eye.canvas.width, eye.canvas.height] = [side, side * 2];

function show(isStill) {
  picture.classList.toggle("is-still", isStill);
  if (isStill) sentence.textContent = text("previewStill");
}

/** The whole picture made small, and its middle as it is. */
function look() {
  if (image.hidden || document.hidden || !image.naturalWidth) {
    [seen, same] = ["", 0];
    return show(false);
  }
  eye.drawImage(image, 0, 0, side, side);
  eye.drawImage(image, (image.naturalWidth - side) / 2, (image.naturalHeight - side) / 2, side, side, 0, side, side, side);
  const now = eye.getImageData(0, 0, side, side * 2).data.join();
  same = now === seen ? same + 1 : 0;
  seen = now;
  show(same >= most);
}
setInterval(look, 1000);

on("glance", (glance) => {
  if (image.hidden || !glance.width) return outlines.replaceChildren();
  outlines.setAttribute("viewBox", `0 0 ${glance.width} ${glance.height}`);
  outlines.replaceChildren(...glance.symbols.map((corners) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
    shape.setAttribute("points", corners.map((corner) => corner.join(",")).join(" "));
    return shape;
  }));
  hint.hidden = !glance.hint;
  if (glance.hint) hint.textContent = text("hint_" + glance.hint);
});

begin();
if (state === "trouble") {
  sentence.textContent = "";
  ask("GET", "/api/station/lamps").then(({ camera }) => showCamera(camera)).catch(() => { sentence.textContent = text("lost"); });
}
