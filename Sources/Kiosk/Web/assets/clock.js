// The clock of the running session: in the head of every page, and in all other elements with the class running-clock. It
// follows the service's clock, so it continues after a reload and is the same on every screen.

import { formatElapsed } from "./fields.js";
import { callAPI } from "./requests.js";

/** Returns the element with the start of the running session in data-clock; null if no session is running. */
export const findClock = () => document.querySelector("[data-clock]");

/** The number of milliseconds by which the service's clock is ahead of this device's clock; null until it is known. */
let ahead = null;

async function compareClocks() {
  if (!findClock()) return;
  const asked = Date.now();
  try {
    const { now } = await callAPI("GET", "/api/session");
    // The service wrote the answer about half way between these two times.
    ahead = Date.parse(now) - (asked + Date.now()) / 2;
  } catch { /* Until the service answers again, the time that came with the page is good enough. */ }
}

/** Shows the time since the start of the session on all clocks. */
export function tick() {
  const clock = findClock();
  if (!clock) return;
  ahead ??= Date.parse(clock.dataset.now) - Date.now();
  const seconds = Math.max(0, Math.floor((Date.now() + ahead - Date.parse(clock.dataset.clock)) / 1000));
  const shown = formatElapsed(seconds);
  for (const element of document.querySelectorAll(".running-clock")) {
    if (element.textContent !== shown) element.textContent = shown;
  }
}

document.addEventListener("renewed", () => { if (findClock() && ahead === null) compareClocks(); tick(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) compareClocks().then(tick); });
compareClocks().then(tick);
setInterval(tick, 1000);
