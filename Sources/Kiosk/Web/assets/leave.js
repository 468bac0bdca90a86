// Leaving the page. While the service does not answer, a link would lead to the browser's own error page, which a person
// cannot leave on a screen without an address bar. A page is therefore left only after the service has answered. Until
// then, the page stays and says so.

import { on } from "./events.js";
import { showNotice } from "./messages.js";
import { showProgress } from "./requests.js";
import { text } from "./texts.js";

/** The time that the service has to answer, and the time between two questions, in milliseconds. */
const limit = 3000, pause = 2000;
const root = document.documentElement;

/** The number of the last wish to leave. A later wish replaces an earlier one. */
let latest = 0;
/** Ends the pause before the next question; null if no wish waits. */
let wake = null;
/** True while the browser opens the next page. */
let isGoing = false;

/** Returns true if the service answers within the limit, with whatever answer. */
async function isThere() {
  try {
    await fetch("/healthz", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(limit) });
    return true;
  } catch { return false; }
}

/** Leaves the page as soon as the service answers. */
export async function leave(go) {
  const mine = ++latest;
  wake?.();
  root.toggleAttribute("data-leaving", true);
  let isReady = await showProgress(isThere);
  root.removeAttribute("data-leaving");
  while (!isReady && mine === latest) {
    showNotice("leaving", text("leaving"), [text("stay"), stay]);
    await new Promise((resolve) => { wake = resolve; setTimeout(resolve, pause); });
    isReady = mine === latest && await isThere();
  }
  if (mine !== latest) return;
  wake = null;
  showNotice("leaving");
  isGoing = true;
  // The page stays if the answer is a file.
  setTimeout(() => { isGoing = false; }, limit);
  go();
}

/** Gives up a wish to leave that waits for the service. */
export function stay() {
  latest += 1;
  wake?.();
  wake = null;
  showNotice("leaving");
  document.dispatchEvent(new Event("stayed"));
}

/** Opens another page of the service. */
export function open(address) { return leave(() => location.assign(address)); }

on("hello", () => wake?.());
// A reload after a restart of the service would forget where the person wanted to go.
document.addEventListener("restarted", (event) => { if (wake || isGoing) event.preventDefault(); });
// A person who goes on working on the page no longer wants to leave it.
document.addEventListener("input", () => { if (wake) stay(); });

addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.target || link.hasAttribute("download")) return;
  // A link to a place on this page.
  if (link.hash && link.pathname + link.search === location.pathname + location.search) return;
  event.preventDefault();
  open(link.href);
});

addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "get") return;
  event.preventDefault();
  const address = new URL(form.action);
  address.search = new URLSearchParams(new FormData(form, event.submitter));
  open(address);
});
