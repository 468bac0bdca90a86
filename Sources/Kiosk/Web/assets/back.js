// The way back, which is the link in the head of every page that is not a tab, and the key Esc. It leads to the page from
// which the person came, with its query and its place, and never to another site.

import { leave, open } from "./leave.js";

const store = "bookplate.trail", most = 50, link = document.getElementById("back");

/**
 * Returns the pages that this tab has shown, the newest last: { key, address, title, isTab, isError, place }. The
 * browser lists the entries of its history, but without their addresses. The place is the link that was pressed, and
 * where it was.
 */
const readTrail = () => JSON.parse(sessionStorage.getItem(store) ?? "[]");
const readAddress = () => location.pathname + location.search;
let place = null;

function record() {
  const { key } = window.navigation?.currentEntry ?? {}, address = readAddress();
  const others = readTrail().filter((page) => key ? page.key !== key : page.address !== address);
  const title = document.title.replace(/ · Bookplate$/, ""), isError = document.body.matches(".page-error");
  sessionStorage.setItem(store, JSON.stringify([...others, { key, address, title, isTab: !link, isError, place }].slice(-most)));
}

/**
 * Returns the page from which the person came; undefined if there is none. It is the last entry of this site before the
 * current one that shows another page, or, in browsers that do not list their entries, the tab that was shown last.
 */
function findEarlier() {
  const trail = readTrail(), isOther = (page) => page?.address !== readAddress() && !page?.isError;
  if (!window.navigation) return link ? trail.findLast((page) => page.isTab && isOther(page)) : undefined;
  const here = navigation.currentEntry.index;
  const entry = navigation.entries().slice(0, Math.max(0, here)).findLast(({ key }) => isOther(trail.find((page) => page.key === key)));
  return entry && { ...trail.find((page) => page.key === entry.key), steps: entry.index - here };
}

/** Goes back. Returns false if the person came from nowhere. */
export function goBack() {
  const earlier = findEarlier();
  if (earlier?.steps) leave(() => history.go(earlier.steps));
  else if (earlier ?? link) open(earlier?.address ?? link.href);
  return Boolean(earlier ?? link);
}

const earlier = findEarlier();
if (link && earlier?.title) {
  link.href = earlier.address;
  link.querySelector(".where").textContent = earlier.title;
}
link?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  goBack();
});

// The browser restores how far a page was scrolled, but rows that are not on the screen have an estimated height. The link
// that was pressed therefore gets its place back.

function restorePlace({ href, top }) {
  const pressed = [...document.querySelectorAll("main a[href]")].find((other) => other.getAttribute("href") === href);
  if (pressed) scrollBy(0, pressed.getBoundingClientRect().top - top);
}
const own = window.navigation && readTrail().find((page) => page.key === navigation.currentEntry.key);
if (own?.place && performance.getEntriesByType("navigation")[0]?.type === "back_forward") {
  addEventListener("load", () => requestAnimationFrame(() => restorePlace(own.place)));
}
addEventListener("click", ({ target }) => {
  const pressed = target.closest?.("main a[href]");
  if (pressed) place = { href: pressed.getAttribute("href"), top: pressed.getBoundingClientRect().top };
}, { capture: true });

record();
addEventListener("pagehide", record);
window.navigation?.addEventListener("currententrychange", record);
