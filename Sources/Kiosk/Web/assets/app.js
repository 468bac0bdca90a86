// The script of every page, for acts, events, keys, scanners, lamps and the ways to other pages.

import "./acts.js";
import "./back.js";
import "./clock.js";
import "./keys.js";
import "./lamps.js";
import "./leave.js";
import { showKeptMessage } from "./messages.js";
import "./touch-typing.js";

// A cover that no longer exists is hidden, so that the letter below it shows.
document.addEventListener("error", ({ target }) => { if (target.matches?.("img.cover")) target.hidden = true; }, { capture: true });

showKeptMessage();
