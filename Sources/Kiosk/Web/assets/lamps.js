// The lamps in the head of every page: the camera and the network. And the line under it while the station is offline.

import { on, report, text } from "./app.js";

const lamps = document.getElementById("lamps");

function lamp(id, isLit, words, told) {
  let element = document.getElementById(id);
  if (!element) {
    element = document.createElement("span");
    element.id = id;
    element.append(document.createElement("i"), " ", document.createElement("b"));
    lamps.append(element);
  }
  element.className = isLit ? "lamp is-lit" : "lamp";
  element.title = told;
  const [shape, word] = element.children;
  shape.setAttribute("aria-hidden", "true");
  if (shape.textContent !== (isLit ? "●" : "○")) shape.textContent = isLit ? "●" : "○";
  if (word.textContent !== words) word.textContent = words;
}

function showCamera(camera) {
  if (camera.state === "none") return document.getElementById("lamp-camera")?.remove();
  const isOn = camera.state === "streaming";
  lamp("lamp-camera", isOn, text(isOn ? "cameraOn" : "cameraOff"), camera.text ?? "");
}

function showNetwork({ offline, untitled }) {
  lamp("lamp-network", !offline, text(offline ? "offline" : "online"), "");
  report("offline", offline ? text(untitled === 0 ? "offlineNone" : untitled === 1 ? "offlineOne" : "offlineMany", { count: untitled }) : null);
}

let asking = false, soon = 0;
/** At most once a second, however much is captured. */
function look() {
  if (asking || soon) return;
  soon = setTimeout(async () => {
    soon = 0;
    asking = true;
    try {
      const answer = await fetch("/api/station/lamps");
      // A page before the sign-in has no lamps.
      if (!answer.ok) return;
      const station = await answer.json();
      showCamera(station.camera);
      showNetwork(station);
    } catch {
      // The line above says that the station does not answer; the stream's return asks again.
    } finally {
      asking = false;
    }
  }, lamps.childElementCount === 0 ? 0 : 1000);
}

if (lamps) {
  on("hello", look);
  on("batch", look);
  on("camera", showCamera);
  look();
}
