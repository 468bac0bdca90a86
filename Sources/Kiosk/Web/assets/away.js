// The page that a device shows while the station is away. Numbers and photos are kept, and sent when it is back.

import { on } from "./events.js";
import "./keypad.js";
import { isAtRisk, listKept, onKept } from "./outbox-store.js";
import "./photos.js";

const list = document.getElementById("waiting");

async function showWaiting() {
  const [numbers, photos] = await Promise.all([listKept("numbers"), listKept("photos")]);
  const names = [...numbers.map(({ code }) => code), ...photos.filter(({ reason }) => reason === undefined).map(({ file }) => file.name)];
  list.replaceChildren(...names.map((name) => {
    const line = document.createElement("li");
    line.textContent = name;
    return line;
  }));
  list.parentElement.hidden = names.length === 0;
}
showWaiting();

let isBack = false;
/** Opens the page that the person wanted, whose address this page has, once nothing is lost by that. */
function goOn() {
  if (!isBack || isAtRisk()) return;
  if (location.pathname === "/away") location.replace("/"); else location.reload();
}
for (const kind of ["numbers", "photos"]) onKept(kind, () => { showWaiting(); goOn(); });
function comeBack() {
  isBack = true;
  goOn();
}
on("hello", comeBack);
// A device without a sign-in gets no events.
document.addEventListener("answered", comeBack);
