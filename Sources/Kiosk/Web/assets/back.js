// The way back, which is the link in the head of every page that is not a tab, and the key Esc. It leads to the page from
// which the person came, with its query and its place, and never to another site.

import { leave, open } from "./leave.js";

const store = "bookplate.trail", most = 50, link = document.getElementById("back");

/**
 * Returns the pages that this tab has shown, the newest last: { key, address, title, isTab }. The browser lists the
 * entries of its history, but without their addresses.
 */
const readTrail = () => JSON.parse(sessionStorage.getItem(store) ?? "[]");
const readAddress = () => location.pathname + location.search;

function record() {
  const { key } = window.navigation?.currentEntry ?? {}, address = readAddress();
  const others = readTrail().filter((page) => key ? page.key !== key : page.address !== address);
  const page = { key, address, title: document.title.replace(/ · Bookplate$/, ""), isTab: !link };
  sessionStorage.setItem(store, JSON.stringify([...others, page].slice(-most)));
}

/**
 * Returns the page from which the person came; undefined if there is none. It is the last entry of this site before the
 * current one that shows another page, or, in browsers that do not list their entries, the tab that was shown last.
 */
function findEarlier() {
  const trail = readTrail(), isOther = (page) => page?.address !== readAddress();
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

record();
addEventListener("pagehide", record);
window.navigation?.addEventListener("currententrychange", record);
