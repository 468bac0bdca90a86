// The Settings page, with the settings of this browser, the camera, the sources, sign-ins and stations.

import { attempt } from "./acts.js";
import { on } from "./events.js";
import "./fields.js";
import { toast } from "./messages.js";
import "./other-devices.js";
import { callAPI } from "./requests.js";
import { play, readSounds, setSounds } from "./sounds.js";
import { formatDate } from "./texts.js";
import { readKeyboardChoice, setKeyboardChoice } from "./touch-typing.js";

/** Adds a line to a list, with an element after its label. */
function addLine(list, label, more) {
  const item = document.createElement("li"), span = document.createElement("span");
  span.textContent = label;
  item.append(span);
  if (more instanceof Node) item.append(more);
  list.append(item);
  return item;
}

// The language and the appearance, which the service reads with every page.

for (const field of document.querySelectorAll("[data-browser]")) {
  field.addEventListener("change", () => attempt(async () => {
    await callAPI("PATCH", "/api/browser", { [field.dataset.browser]: field.value || null });
    location.reload();
  }));
}

// Sounds. keys.js handles the switch for single keys.

const areSoundsOn = document.getElementById("sounds-on"), volume = document.getElementById("sounds-volume");
areSoundsOn.checked = readSounds().on;
volume.value = readSounds().volume;
areSoundsOn.addEventListener("change", () => { setSounds({ on: areSoundsOn.checked }); play("new"); });
volume.addEventListener("change", () => { setSounds({ volume: Number(volume.value) }); play("new"); });

// The keyboard of the pages.

const keyboardChoice = document.getElementById("keyboard-choice");
keyboardChoice.value = readKeyboardChoice();
keyboardChoice.addEventListener("change", () => setKeyboardChoice(keyboardChoice.value));

// The camera.

const camera = document.getElementById("camera");
function showCamera(state) { camera.textContent = state?.text || (state?.state === "none" ? camera.dataset.none : camera.dataset.unknown); }
on("camera", showCamera);
callAPI("GET", "/api/station/lamps").then((lamps) => showCamera(lamps.camera)).catch(() => showCamera());

// The sources, which are checked when a person presses the button.

const button = document.getElementById("ask-sources"), sources = document.getElementById("sources");
button.addEventListener("click", async () => {
  button.disabled = true;
  sources.replaceChildren();
  addLine(sources, button.dataset.asking);
  await attempt(async () => {
    const answer = await callAPI("GET", "/api/sources");
    sources.replaceChildren();
    for (const source of answer.sources) {
      const more = document.createElement("span");
      more.className = source.fine ? "state-new" : "state-attention";
      // The facts and hints are texts of the command line, so they are in English.
      more.lang = "en";
      more.textContent = `${source.fine ? "✓" : "▲"} ${source.fact}`;
      const item = addLine(sources, source.name, more);
      if (!source.next) continue;
      const hint = document.createElement("p");
      hint.className = "hint small";
      hint.lang = "en";
      hint.textContent = source.next;
      item.append(hint);
    }
  }) || sources.replaceChildren();
  button.disabled = false;
});

// The devices that are signed in, and the paired stations, if there are any.

async function showList(id, path, key, describe) {
  const section = document.getElementById(id), items = section.querySelector("ul");
  const entries = (await callAPI("GET", path))[key];
  items.replaceChildren();
  section.hidden = entries.length === 0;
  for (const entry of entries) {
    const revoke = document.createElement("button");
    revoke.textContent = section.dataset.revoke;
    revoke.setAttribute("aria-label", `${section.dataset.revoke}: ${describe(entry)}`);
    revoke.addEventListener("click", () => attempt(async () => {
      await callAPI("DELETE", `${path}/${encodeURIComponent(entry.id)}`);
      toast(section.dataset.revoked);
      await showList(id, path, key, describe);
    }));
    const own = entry.isCurrent ? ` (${section.dataset.this})` : "";
    addLine(items, describe(entry) + own, revoke);
  }
}

const join = (name, time) => [name, time ? formatDate(new Date(time), { dateStyle: "long" }) : ""].filter(Boolean).join(" · ");
// A failure is shown once rather than once for each list.
attempt(() => Promise.all([
  showList("sign-ins", "/api/sign-ins", "signIns", (entry) => join(entry.device, entry.used ?? entry.created)),
  showList("stations", "/api/stations", "stations", (entry) => join(entry.name, entry.lastUsed ?? entry.created)),
]));
