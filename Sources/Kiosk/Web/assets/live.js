// Live regions are elements with an id and data-live. They are replaced from the page's own address when something has
// changed. A region in which a person is working (data-busy, an open dialog, or a field with the focus) waits for the
// next change.

import { readerHeader } from "./requests.js";

function isBusy(region) {
  return region.querySelector("[data-busy], dialog[open]") || region.matches("[data-busy], .readers[open]")
    || (region.contains(document.activeElement) && document.activeElement.matches("input, textarea, select"));
}

/** The time in which events come together, in milliseconds: a capture alone causes several. */
const together = 150;
/**
 * The minimum time from the beginning of a refresh to the next one that an event causes, in milliseconds. Without it, the
 * station would render the whole page several times for each book when a person scans one after another.
 */
const interval = 800;
let refreshing = null, isWanted = false, timer = 0, begun = -Infinity;

/** Refreshes the page soon, once for all events that come together. */
export function refreshSoon() {
  timer ||= setTimeout(refresh, Math.max(together, begun + interval - performance.now()));
}

/**
 * Fetches the page again and replaces its live regions. However often it is called during a refresh, only one more
 * refresh follows.
 */
export async function refresh() {
  clearTimeout(timer);
  timer = 0;
  isWanted = refreshing !== null;
  // After a failure, the page is refreshed at the next event or when the stream is back.
  refreshing ??= replaceRegions().catch(() => {}).finally(() => { refreshing = null; });
  return refreshing;
}

/**
 * Returns a function that finds the successor of an element after its region was replaced. The successor has the same
 * id, or it is the link to the same address, or it is at the same position among the same number of elements of its
 * kind.
 */
function rememberPlace(element) {
  const { id } = element.closest("[id]");
  if (id === element.id) return () => document.getElementById(id);
  const href = element.getAttribute("href");
  if (href) return () => [...document.links].find((link) => link.getAttribute("href") === href && link.closest("[id]").id === id);
  const findKin = () => [...document.getElementById(id)?.querySelectorAll(element.localName) ?? []];
  const all = findKin(), place = all.indexOf(element);
  return () => { const now = findKin(); return now.length === all.length ? now[place] : null; };
}

async function replaceRegions() {
  do {
    isWanted = false;
    begun = performance.now();
    // The address is read in each round, because it may change and determines what the page shows.
    const address = location.href;
    const answer = await fetch(address, { headers: { Accept: "text/html", ...readerHeader() } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    // The page shows something else by now, such as another search.
    if (location.href !== address) { isWanted = true; continue; }
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const now = fresh.getElementById(old.id);
      if (!now || old.outerHTML === now.outerHTML) continue;
      // A script may release the region if the new region shows that there is nothing left to keep.
      if (isBusy(old) && (old.dispatchEvent(new CustomEvent("held", { bubbles: true, detail: now })), isBusy(old))) continue;
      const findFocus = old.contains(document.activeElement) ? rememberPlace(document.activeElement) : null;
      old.replaceWith(document.adoptNode(now));
      findFocus?.()?.focus();
      now.dispatchEvent(new CustomEvent("renewed", { bubbles: true }));
    }
  } while (isWanted);
}
