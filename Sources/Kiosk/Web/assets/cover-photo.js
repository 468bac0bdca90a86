// A person's own photo of a cover, which can be turned and cropped before it is stored. It is made smaller here, so that a
// phone does not send all of its twelve megapixels and the data that the camera adds.

import { attempt } from "./acts.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { callAPI, Refusal } from "./requests.js";
import { text } from "./texts.js";

const photo = document.getElementById("photo"), state = document.getElementById("photo-state");
const editor = document.getElementById("photo-editor"), canvas = document.getElementById("photo-canvas");
const sliders = [...editor.querySelectorAll("[data-edge]")], keep = document.getElementById("photo-keep");
const longestSide = 1200, longestShown = 320;

/** The picture as it was chosen; null if there is none. */
let picture = null;
/** The number of quarter turns to the right. */
let turns = 0;
/** The number of times that a picture was opened or closed. */
let opened = 0;

/** Returns the part that a slider cuts off at its edge, from 0 to 0.45. */
const cut = (edge) => Number(sliders.find((slider) => slider.dataset.edge === edge).value) / 100;

/** Draws the turned picture in this size into a canvas, whose upper left corner is at (x, y) of the picture. */
function drawTurned(target, width, height, x = 0, y = 0) {
  const context = target.getContext("2d"), isOnItsSide = turns % 2 === 1;
  context.setTransform(1, 0, 0, 1, width / 2 - x, height / 2 - y);
  context.rotate(turns * Math.PI / 2);
  const [w, h] = isOnItsSide ? [height, width] : [width, height];
  context.drawImage(picture, -w / 2, -h / 2, w, h);
}

/** Returns the size of the turned picture, with at most this length of its longer side. */
function turnedSize(longest) {
  const sides = turns % 2 === 1 ? [picture.height, picture.width] : [picture.width, picture.height];
  const scale = Math.min(1, longest / Math.max(...sides));
  return sides.map((side) => Math.max(1, Math.round(side * scale)));
}

function draw() {
  [canvas.width, canvas.height] = turnedSize(longestShown);
  drawTurned(canvas, canvas.width, canvas.height);
  const context = canvas.getContext("2d"), { width, height } = canvas;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = "rgb(0 0 0 / .6)";
  const left = cut("left") * width, right = cut("right") * width, top = cut("top") * height, bottom = cut("bottom") * height;
  context.fillRect(0, 0, width, top);
  context.fillRect(0, height - bottom, width, bottom);
  context.fillRect(0, top, left, height - top - bottom);
  context.fillRect(width - right, top, right, height - top - bottom);
}

/** Returns the turned and cropped picture as a JPEG; null if the browser cannot write one. */
function finish() {
  const part = document.createElement("canvas");
  const [across, down] = [1 - cut("left") - cut("right"), 1 - cut("top") - cut("bottom")];
  const [width, height] = turnedSize(longestSide / Math.max(across, down));
  part.width = Math.max(1, Math.round(width * across));
  part.height = Math.max(1, Math.round(height * down));
  drawTurned(part, width, height, Math.round(cut("left") * width), Math.round(cut("top") * height));
  return new Promise((resolve) => part.toBlob(resolve, "image/jpeg", .85));
}

function close() {
  opened += 1;
  picture?.close();
  picture = null;
  editor.hidden = true;
  state.textContent = "";
}

/** Shows a picture in the editor. Of two that are opened at the same time, the one opened last is shown. */
async function edit(blob) {
  close();
  const number = opened += 1;
  const read = await createImageBitmap(blob, { imageOrientation: "from-image" }).catch(() => null);
  if (number !== opened) return read?.close();
  if (!read) {
    state.textContent = photo.dataset.unreadable;
    return;
  }
  picture = read;
  turns = 0;
  for (const slider of sliders) slider.value = 0;
  editor.hidden = false;
  draw();
  keep.focus();
}

// The same file can be chosen again.
photo.addEventListener("click", () => { photo.value = ""; });
photo.addEventListener("change", () => { if (photo.files[0]) edit(photo.files[0]); });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edits-photo]");
  if (!button) return;
  photo.value = "";
  attempt(async () => {
    const answer = await fetch(button.dataset.editsPhoto);
    if (!answer.ok) throw new Refusal(answer.status);
    await edit(await answer.blob());
  });
});
document.getElementById("photo-turn").addEventListener("click", () => { turns = (turns + 1) % 4; draw(); });
for (const slider of sliders) slider.addEventListener("input", draw);
photo.closest("dialog").addEventListener("close", () => { close(); photo.value = ""; });

// The edge that is nearest to the finger follows it.
canvas.addEventListener("pointerdown", (event) => {
  const place = ({ offsetX, offsetY }) => {
    const x = Math.min(1, Math.max(0, offsetX / canvas.clientWidth)), y = Math.min(1, Math.max(0, offsetY / canvas.clientHeight));
    return { left: x, right: 1 - x, top: y, bottom: 1 - y };
  };
  const start = place(event);
  const edge = Object.keys(start).reduce((best, name) => Math.abs(start[name] - cut(name)) < Math.abs(start[best] - cut(best)) ? name : best);
  const slider = sliders.find((one) => one.dataset.edge === edge);
  const follow = (moved) => { slider.value = Math.round(place(moved)[edge] * 100); draw(); };
  canvas.setPointerCapture(event.pointerId);
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("lostpointercapture", () => canvas.removeEventListener("pointermove", follow), { once: true });
});

keep.addEventListener("click", async () => {
  keep.disabled = true;
  state.textContent = text("saving");
  const small = await finish();
  const succeeded = small && await attempt(async () => {
    await callAPI("PUT", photo.dataset.path, small);
    toast(photo.dataset.done);
  });
  keep.disabled = false;
  state.textContent = small ? "" : photo.dataset.unreadable;
  if (!succeeded) return;
  photo.closest("dialog").close();
  await refresh();
});
