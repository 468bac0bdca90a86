// The clock of the running session in the head of every page. It follows the service's clock, which may differ from the
// clock of this device.

import { formatElapsed } from "./fields.js";

/** The clock's element, and the number of milliseconds by which the service's clock is ahead of this device's clock. */
let clock = null, ahead = 0;

function tick() {
  const current = document.querySelector("#head-clock [data-started]");
  if (current !== clock) [clock, ahead] = [current, current ? Date.parse(current.dataset.now) - Date.now() : 0];
  if (!clock) return;
  const shown = formatElapsed(Math.max(0, Math.floor((Date.now() + ahead - Date.parse(clock.dataset.started)) / 1000)));
  if (clock.textContent !== shown) clock.textContent = shown;
}

document.addEventListener("renewed", tick);
tick();
setInterval(tick, 1000);
