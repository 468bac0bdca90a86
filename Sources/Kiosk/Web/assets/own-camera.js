// The camera of the phone that shows the page. Its pictures are sent to the station one at a time, the newest as soon as
// the one before is answered, and the station reads them.

import { describeFailure } from "./acts.js";
import { showGlance } from "./preview.js";
import { callQuietly, Refusal } from "./requests.js";
import { text } from "./texts.js";

const find = (id) => document.getElementById(id);
const picture = find("picture"), video = find("own-camera"), outlines = find("outlines"), hint = find("hint");
const opener = find("own-open"), tools = find("own-tools"), lens = find("own-lens"), zoom = find("own-zoom"), torch = find("own-torch");

/** The long side of a picture in pixels, the first as long as the connection is quick enough. */
const sides = [1280, 960, 640];
const quality = 0.6, fastest = 110, patience = 5000, heaviest = 180_000, slowest = 700;
const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", { alpha: false });
const store = "bookplate.camera";
let stream = null, lock = null, size = 0, slow = 0, pace = fastest;
/**
 * Counts what the person wants: every tap, and every change of the camera, is a new turn, and whatever belongs to an
 * earlier turn ends.
 */
let turn = 0;

const readChoice = () => JSON.parse(localStorage.getItem(store) ?? "{}");
const keepChoice = (changes) => localStorage.setItem(store, JSON.stringify({ ...readChoice(), ...changes }));
const pause = (time) => new Promise((resume) => { setTimeout(resume, time); });

function showHint(sentence) {
  hint.hidden = !sentence;
  if (sentence) hint.textContent = sentence;
}

// The camera: opened by a tap, closed by another, and opened again after the phone has slept.

const isWanted = () => picture.classList.contains("is-own");

/** Opens the camera. Returns false if that is no longer wanted. */
async function openCamera(mine) {
  // Without `zoom`, Chromium offers no zoom; as an advanced constraint, it is no condition (W3C, MediaStream Image Capture).
  const { device } = readChoice(), view = { width: { ideal: 1920 }, height: { ideal: 1080 }, advanced: [{ zoom: true }] };
  const asked = { audio: false, video: device ? { ...view, deviceId: { exact: device } } : { ...view, facingMode: { ideal: "environment" } } };
  let opened;
  try {
    opened = await navigator.mediaDevices.getUserMedia(asked);
  } catch (error) {
    if (!device || !["OverconstrainedError", "NotFoundError"].includes(error.name)) throw error;
    // The chosen lens is gone.
    keepChoice({ device: undefined });
    return openCamera(mine);
  }
  if (mine !== turn) {
    for (const track of opened.getTracks()) track.stop();
    return false;
  }
  stream = opened;
  const [track] = stream.getVideoTracks();
  track.addEventListener("ended", restart);
  video.srcObject = stream;
  await video.play();
  await prepare(track);
  return mine === turn;
}

/** Sets the focus and the zoom, and offers what this camera has. */
async function prepare(track) {
  const abilities = track.getCapabilities?.() ?? {}, settings = {};
  // Each call replaces the earlier settings, so all of them are given each time.
  const apply = (changes) => track.applyConstraints({ advanced: [Object.assign(settings, changes)] })
    .catch(() => { /* The camera stays as it is. */ });
  if (abilities.focusMode?.includes("continuous")) settings.focusMode = "continuous";
  zoom.parentElement.hidden = !abilities.zoom;
  if (abilities.zoom) {
    const { min, max, step } = abilities.zoom;
    // Newer phones cannot focus on what is nearer than 20 cm. At twice the size, the book can be farther away.
    [zoom.min, zoom.max, zoom.step, zoom.value] = [min, Math.min(max, 5), step || 0.1, readChoice().zoom ?? Math.min(2, max)];
    settings.zoom = Number(zoom.value);
    zoom.oninput = () => { apply({ zoom: Number(zoom.value) }); keepChoice({ zoom: Number(zoom.value) }); };
  }
  await apply({});
  torch.hidden = !abilities.torch;
  torch.setAttribute("aria-pressed", false);
  torch.onclick = () => {
    const isOn = torch.getAttribute("aria-pressed") !== "true";
    torch.setAttribute("aria-pressed", isOn);
    apply({ torch: isOn });
  };
  const cameras = (await navigator.mediaDevices.enumerateDevices()).filter(({ kind }) => kind === "videoinput");
  lens.parentElement.hidden = cameras.length < 2;
  lens.replaceChildren(...cameras.map(({ deviceId, label }, number) => {
    const isUsed = deviceId === track.getSettings().deviceId;
    return new Option(label || `${text("lens")} ${number + 1}`, deviceId, isUsed, isUsed);
  }));
  lens.onchange = () => { keepChoice({ device: lens.value, zoom: undefined }); restart(); };
}

function closeCamera() {
  for (const track of stream?.getTracks() ?? []) track.stop();
  [stream, video.srcObject] = [null, null];
}

/** Opens the camera as a new turn, and sends its pictures until the next one. */
async function begin() {
  const mine = turn += 1;
  closeCamera();
  try {
    if (await openCamera(mine)) sendPictures(mine);
  } catch (error) {
    if (mine !== turn) return;
    end();
    showHint(error.name === "NotAllowedError" ? text("ownDenied") : text("ownNone"));
  }
}

function end() {
  turn += 1;
  closeCamera();
  lock?.release();
  lock = null;
  show(false);
}

function restart() { if (isWanted()) begin(); }

async function stayAwake() {
  if (lock && !lock.released) return;
  // Where the lock does not exist or the battery is low, the screen goes dark as usual.
  lock = await navigator.wakeLock?.request("screen").catch(() => null);
  if (!isWanted()) lock?.release();
}

function show(isOpen) {
  picture.classList.toggle("is-own", isOpen);
  for (const element of [video, tools]) element.hidden = !isOpen;
  opener.classList.toggle("primary", !isOpen);
  opener.textContent = isOpen ? opener.dataset.stop : opener.dataset.start;
  outlines.replaceChildren();
  showHint("");
  // The station's picture gives way, or comes back (preview.js).
  document.dispatchEvent(new Event("owncamera"));
}

opener.addEventListener("click", () => {
  if (isWanted()) return end();
  show(true);
  stayAwake();
  begin();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden || !isWanted()) return;
  stayAwake();
  // Some phones end the camera while the page is out of sight, others freeze it.
  if (!stream?.active || video.paused) begin();
});

// The pictures.

/** Returns the camera's picture as a JPEG. */
function take() {
  const scale = Math.min(1, sides[size] / Math.max(video.videoWidth, video.videoHeight));
  [canvas.width, canvas.height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
  pen.drawImage(video, 0, 0, canvas.width, canvas.height);
  return new Promise((resume) => { canvas.toBlob(resume, "image/jpeg", quality); });
}

/** Makes the pictures smaller if they are too slow three times in a row, and larger again when all is quick. */
function adapt(bytes, time) {
  slow = bytes > heaviest || time > slowest ? Math.max(0, slow) + 1 : Math.min(0, slow) - 1;
  if (slow >= 3) [size, slow] = [Math.min(size + 1, sides.length - 1), 0];
  if (slow <= -50) [size, slow] = [Math.max(size - 1, 0), 0];
}

function showReading({ rows, refused, ...glance }) {
  showGlance(glance);
  // A browser that has not been touched refuses to vibrate, and logs an error.
  if (rows.length > 0 && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(60);
  for (const { payload, reason } of refused) {
    document.dispatchEvent(new CustomEvent("scanned", { detail: { code: payload, refusal: reason }, cancelable: true }));
  }
}

async function sendPictures(mine) {
  while (mine === turn) {
    const start = performance.now();
    let rest = pace;
    if (!document.hidden && video.videoWidth > 0) {
      const image = await take();
      try {
        const reading = await callQuietly("PUT", "/api/phones/frame", image, { signal: AbortSignal.timeout(patience) });
        if (mine !== turn) return;
        showReading(reading);
        pace = Math.max(fastest, pace - 2);
        adapt(image.size, performance.now() - start);
      } catch (error) {
        if (mine !== turn) return;
        if (error.code === "tooManyFrames") {
          // The station needs more time for a picture than usual.
          pace = Math.min(500, pace * 1.3);
          adapt(Infinity, 0);
        } else {
          outlines.replaceChildren();
          showHint(error instanceof Refusal ? describeFailure(error) : text("ownLost"));
          rest = error.code === "tooManyPhones" ? 3000 : 300;
        }
      }
    }
    await pause(Math.max(0, rest - (performance.now() - start)));
  }
}

// Browsers give the camera only to pages that come over https, or from this machine.
opener.hidden = !navigator.mediaDevices?.getUserMedia;
