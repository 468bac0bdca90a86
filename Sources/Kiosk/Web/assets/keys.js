// Keys, on all pages. A page gives its own acts to keys with data-key="e" on a button (pressed) or a field (focused); several
// keys are parted by spaces. Keys of what stands within the focused element's nearest data-keys come before those of the page.

import { attempt, load } from "./app.js";
import { isTyping } from "./scanner.js";

const store = "bookplate.keys", later = "bookplate.press";

/** Whether single characters are shortcuts; Enter, Esc and arrows always are. */
export function singleKeys() { return localStorage.getItem(store) !== "off"; }
export function setSingleKeys(isOn) {
  if (isOn) localStorage.removeItem(store);
  else localStorage.setItem(store, "off");
}

/** Where a key leads that the page itself has no use for, and what is pressed there. */
const places = { s: ["/scan"], h: ["/home"], l: ["/library"], i: ["/intake"], ",": ["/settings"], a: ["/add"], "/": ["/library", "/"], k: ["/scan", "k"] };

const isShown = (element) => !element.disabled && element.getAttribute("aria-disabled") !== "true" && element.checkVisibility({ checkVisibilityCSS: true });

/** What stands in a data-keys of its own is left to the focus in there. */
function find(root, name) {
  return [...root.querySelectorAll("[data-key]")].find((element) => {
    const own = element.closest("[data-keys]");
    return element.dataset.key.split(" ").includes(name) && (!own || own.contains(document.activeElement)) && isShown(element);
  });
}

/** Does what the key stands for on this page. Gives whether there was something. */
export function press(name) {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  const near = document.activeElement?.closest("[data-keys]");
  const element = (near && find(near, name)) || find(dialog ?? document, name);
  if (element) {
    if (isTyping(element)) { element.focus(); element.select?.(); } else element.click();
    return true;
  }
  if (dialog) return false;
  if (name === "?") { more("show"); return true; }
  if (name === "Escape") return back();
  // Guests change nothing.
  if (name === "u" && !document.body.matches(".is-guest")) { more("takeBack"); return true; }
  const [path, then] = places[name] ?? [];
  if (!path || location.pathname === path) return false;
  if (then) sessionStorage.setItem(later, then);
  location.assign(path);
  return true;
}

function back() {
  if (!document.referrer.startsWith(location.origin + "/") || history.length < 2) return false;
  history.back();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.metaKey) return;
  if ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  const focus = document.activeElement;
  if (isTyping(focus)) {
    if (event.key !== "Escape" || focus.closest("dialog")) return;
    // What the field belongs to is left as it was; else only the field.
    const near = focus.closest("[data-keys]"), element = near && find(near, "Escape");
    if (element) element.click();
    else focus.blur();
    event.preventDefault();
    return;
  }
  const isCharacter = event.key.length === 1;
  if (isCharacter && (event.repeat || !singleKeys())) return;
  if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && !event.shiftKey && focus?.matches("a[href], button, summary, input:not([type=checkbox])")) return;
  const name = event.shiftKey && !isCharacter ? "Shift+" + event.key : event.key;
  if (name === "Tab" || name === "Shift+Tab") return;
  if (press(name)) event.preventDefault();
});

// What few keys lead to comes with the first of them.
const more = (act) => attempt(async () => (await load("keys-more"))[act]());

// The switch in the table of keys.

/** Sets the switches <input type=checkbox data-single-keys> in it as the browser remembers them. */
export function prepare(root = document) {
  for (const box of root.querySelectorAll("[data-single-keys]")) box.checked = singleKeys();
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-single-keys]")) setSingleKeys(event.target.checked);
});
document.addEventListener("click", (event) => { if (event.target.closest("[data-shows-keys]")) more("show"); });

prepare();
document.body.toggleAttribute("data-hears-keys", true);
const waiting = sessionStorage.getItem(later);
if (waiting) {
  sessionStorage.removeItem(later);
  // The page's own script comes after this one.
  addEventListener("load", () => press(waiting));
  if (document.readyState === "complete") press(waiting);
}
