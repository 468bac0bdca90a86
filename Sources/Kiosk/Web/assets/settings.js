// Settings: what belongs to this browser, what other parts of the service tell, and asking the sources.

import { ask, attempt, on, toast } from "./app.js";
import "./fields.js";

function line(list, words, more) {
  const item = document.createElement("li"), span = document.createElement("span");
  span.textContent = words;
  item.append(span);
  if (more instanceof Node) item.append(more);
  list.append(item);
  return item;
}

// Sounds and keys are modules of the scan page; a setting shows itself when its module is there.

const [sounds, keys] = await Promise.all(
  ["./sounds.js", "./keys.js"].map((module) => import(module).catch(() => null)));

if (sounds?.sounds) {
  const isOn = document.getElementById("sounds-on"), volume = document.getElementById("sounds-volume");
  isOn.checked = sounds.sounds().on;
  volume.value = sounds.sounds().volume;
  isOn.addEventListener("change", () => { sounds.setSounds({ on: isOn.checked }); sounds.play("new"); });
  volume.addEventListener("change", () => { sounds.setSounds({ volume: Number(volume.value) }); sounds.play("new"); });
  document.getElementById("sounds").hidden = document.getElementById("volume").hidden = false;
}
if (keys?.singleKeys) {
  const isOn = document.getElementById("single-keys");
  isOn.checked = keys.singleKeys();
  isOn.addEventListener("change", () => keys.setSingleKeys(isOn.checked));
  document.getElementById("keys").hidden = false;
}

// The camera.

const camera = document.getElementById("camera");
function show(state) { camera.textContent = state?.text || (state?.state === "none" ? camera.dataset.none : camera.dataset.unknown); }
on("camera", show);
ask("GET", "/api/station/lamps").then((lamps) => show(lamps.camera)).catch(() => show());

// The sources, asked when a person wants to know.

const button = document.getElementById("ask-sources"), sources = document.getElementById("sources");
button.addEventListener("click", async () => {
  button.disabled = true;
  sources.replaceChildren();
  line(sources, button.dataset.asking);
  await attempt(async () => {
    const answer = await ask("GET", "/api/sources");
    sources.replaceChildren();
    for (const source of answer.sources) {
      const more = document.createElement("span");
      more.className = source.fine ? "state-new" : "state-attention";
      // As the sources are asked on the command line, too: in English.
      more.lang = "en";
      more.textContent = `${source.fine ? "✓" : "▲"} ${source.fact}`;
      const item = line(sources, source.name, more);
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

// Who is signed in, and which stations are paired: shown where there are any.

async function list(id, path, key, words) {
  const section = document.getElementById(id), items = section.querySelector("ul");
  const entries = (await ask("GET", path))[key];
  items.replaceChildren();
  section.hidden = entries.length === 0;
  for (const entry of entries) {
    const revoke = document.createElement("button");
    revoke.textContent = section.dataset.revoke;
    revoke.setAttribute("aria-label", `${section.dataset.revoke}: ${words(entry)}`);
    revoke.addEventListener("click", () => attempt(async () => {
      await ask("DELETE", `${path}/${encodeURIComponent(entry.id)}`);
      toast(section.dataset.revoked);
      await list(id, path, key, words);
    }));
    const own = entry.isCurrent ? ` (${section.dataset.this})` : "";
    line(items, words(entry) + own, revoke);
  }
}

// English is written as in Britain, day before month, as the rest of the page is.
const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
const date = new Intl.DateTimeFormat(language, { dateStyle: "long" });
function day(text) { return text ? date.format(new Date(text)) : ""; }
// A station that is away is told once, not once for each list.
attempt(() => Promise.all([
  list("sign-ins", "/api/sign-ins", "signIns", (entry) => [entry.device, day(entry.used ?? entry.created)].filter(Boolean).join(" · ")),
  list("stations", "/api/stations", "stations", (entry) => [entry.name, day(entry.used ?? entry.lastUsed ?? entry.created)].filter(Boolean).join(" · ")),
]));
