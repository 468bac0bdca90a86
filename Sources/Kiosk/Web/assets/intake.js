// The Intake page. One card has the focus at a time, and the arrow keys move the focus over rows and columns.

import "./candidates.js";
import { on } from "./events.js";
import { refresh, refreshSoon } from "./live.js";

const listCards = () => [...document.querySelectorAll("#intake [data-row][id]")];
/** The id of the card that Tab reaches. The id is kept when the cards are replaced. */
let current = null;

function setTabStop() {
  const all = listCards();
  const card = all.find((card) => card.id === current) ?? all[0];
  for (const other of all) other.tabIndex = other === card ? 0 : -1;
  current = card?.id ?? null;
}

function focusCard(card) {
  if (!card) return;
  current = card.id;
  setTabStop();
  card.focus();
  card.scrollIntoView({ block: "nearest" });
}

/** Finds the nearest card in the row below or above. */
function findBeside(card, isBelow) {
  const { left, top } = card.getBoundingClientRect();
  const others = listCards().map((card) => ({ card, box: card.getBoundingClientRect() }))
    .filter(({ box }) => (isBelow ? box.top > top + 4 : box.top < top - 4));
  const row = others.reduce((best, { box }) => (best === null || Math.abs(box.top - top) < Math.abs(best - top) ? box.top : best), null);
  return others.filter(({ box }) => Math.abs(box.top - row) < 4)
    .sort((a, b) => Math.abs(a.box.left - left) - Math.abs(b.box.left - left))[0]?.card;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.target.closest("input, select, textarea, dialog")) return;
  const card = event.target.closest("#intake [data-row][id]");
  if (event.key === " " && card === event.target) {
    event.preventDefault();
    card.querySelector(".tick:enabled")?.click();
    return;
  }
  if (!event.key.startsWith("Arrow") && event.key !== "Home" && event.key !== "End") return;
  const all = listCards();
  if (all.length === 0 || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (!card) return focusCard(all.find((card) => card.id === current) ?? all[0]);
  const at = all.indexOf(card);
  const next = {
    ArrowRight: () => all[at + 1], ArrowLeft: () => all[at - 1], Home: () => all[0], End: () => all.at(-1),
    ArrowDown: () => findBeside(card, true) ?? all[at + 1], ArrowUp: () => findBeside(card, false) ?? all[at - 1],
  }[event.key]?.();
  focusCard(next);
});

// When the focused card has gone, the focus moves to the card that is now in its place.
let place = 0, isInside = false;
document.addEventListener("focusin", (event) => {
  const card = event.target.closest("#intake [data-row][id]");
  isInside = card !== null;
  if (!card) return;
  if (card.id !== current) {
    current = card.id;
    setTabStop();
  }
  place = listCards().indexOf(card);
});
document.addEventListener("pointerdown", (event) => { isInside = event.target.closest("#intake [data-row][id]") !== null; });
document.addEventListener("renewed", (event) => {
  if (event.target.id !== "intake") return;
  const all = listCards();
  if (!all.some((card) => card.id === current)) current = all[Math.min(place, all.length - 1)]?.id ?? null;
  setTabStop();
  if (isInside && current && document.activeElement === document.body) document.getElementById(current).focus({ preventScroll: true });
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-more]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  history.replaceState(null, "", link.getAttribute("href"));
  refresh();
});

on("batch", refreshSoon);
setTabStop();
