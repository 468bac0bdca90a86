// The lamps for the camera and the network in the head of every page, and the notice below it while the station is
// offline.

import { on } from "./events.js";
import { showNotice } from "./messages.js";
import { text } from "./texts.js";

const lamps = document.getElementById("lamps");

function showLamp(id, isLit, label, details) {
  let element = document.getElementById(id);
  if (!element) {
    element = document.createElement("span");
    element.id = id;
    element.append(document.createElement("i"), " ", document.createElement("b"));
    lamps.append(element);
  }
  element.className = isLit ? "lamp is-lit" : "lamp";
  element.title = details;
  const [shape, word] = element.children;
  shape.setAttribute("aria-hidden", "true");
  if (shape.textContent !== (isLit ? "●" : "○")) shape.textContent = isLit ? "●" : "○";
  if (word.textContent !== label) word.textContent = label;
}

function showCamera(camera) {
  if (camera.state === "none") return document.getElementById("lamp-camera")?.remove();
  const isOn = camera.state === "streaming";
  showLamp("lamp-camera", isOn, text(isOn ? "cameraOn" : "cameraOff"), camera.text ?? "");
}

function showNetwork({ offline, untitled }) {
  showLamp("lamp-network", !offline, text(offline ? "offline" : "online"), "");
  const key = untitled === 0 ? "offlineNone" : untitled === 1 ? "offlineOne" : "offlineMany";
  showOffline(offline ? text(key, { count: untitled }) : null);
}

const store = "bookplate.read";
/** Shows the notice for a state until the person has read it; null for no notice. It returns when the state changes. */
function showOffline(message) {
  if (!message) sessionStorage.removeItem(store);
  const isRead = message === sessionStorage.getItem(store);
  const close = () => { sessionStorage.setItem(store, message); showNotice("offline"); };
  showNotice("offline", isRead ? null : message, [text("close"), close]);
}

let isAsking = false, timer = 0;
/** Fetches the state of the lamps at most once per second, even if many books are captured. */
function update() {
  if (isAsking || timer) return;
  timer = setTimeout(async () => {
    timer = 0;
    isAsking = true;
    try {
      const answer = await fetch("/api/station/lamps");
      // After the sign-in has ended, there are no lamps.
      if (!answer.ok) return;
      const station = await answer.json();
      showCamera(station.camera);
      showNetwork(station);
    } catch {
      // A notice already says that the station does not answer. The lamps are fetched again when the station is back.
    } finally {
      isAsking = false;
    }
  }, lamps.childElementCount === 0 ? 0 : 1000);
}

if (lamps) {
  on("hello", update);
  on("batch", update);
  on("camera", showCamera);
  update();
}
