// The script of every page, for acts, events, keys, scanners and lamps.

import "./acts.js";
import "./clock.js";
import { isConnected } from "./events.js";
import "./keys.js";
import "./lamps.js";
import { showKeptMessage, toast } from "./messages.js";
import { text } from "./texts.js";
import "./touch-typing.js";

// While the service does not answer, a link would lead to the browser's own error page. On a screen without an address
// bar, a person could not leave that page.
addEventListener("click", async (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || isConnected()) return;
  event.preventDefault();
  try { await fetch("/healthz"); location.assign(link.href); } catch { toast(text("lost"), { isError: true }); }
});

// A cover that no longer exists is hidden, so that the letter below it shows.
document.addEventListener("error", ({ target }) => { if (target.matches?.("img.cover")) target.hidden = true; }, { capture: true });

showKeptMessage();
