// The keys of all pages. A page assigns a key to one of its acts with data-key="e" on a button, which is then pressed,
// or on a field, which then gets the focus. Several keys are separated by spaces. Keys within the nearest data-keys
// around the focused element come before the other keys of the page.

import { attempt } from "./acts.js";
import { goBack } from "./back.js";
import { open } from "./leave.js";
import { toast } from "./messages.js";
import { callAPI, fetchPage } from "./requests.js";
import { isTyping } from "./scanner.js";
import { text } from "./texts.js";

const store = "bookplate.keys", nextPress = "bookplate.press";

/** Returns true if single characters are shortcuts. Enter, Esc and the arrow keys always are. */
export function areSingleKeysOn() { return localStorage.getItem(store) !== "off"; }
function setSingleKeys(isOn) {
  if (isOn) localStorage.removeItem(store);
  else localStorage.setItem(store, "off");
}

/**
 * The keys that open a page if the current page does not use them, each with that page's address and the key that is
 * pressed there.
 */
const places = {
  s: ["/scan"], h: ["/home"], l: ["/library"], i: ["/intake"], ",": ["/settings"], a: ["/add"], "/": ["/library", "/"], k: ["/scan", "k"],
};

const isUsable = (element) => !element.disabled && element.getAttribute("aria-disabled") !== "true"
  && element.checkVisibility({ checkVisibilityCSS: true });

/** Finds the element for a key. Elements within another data-keys count only while the focus is in it. */
function find(root, name) {
  return [...root.querySelectorAll("[data-key]")].find((element) => {
    const own = element.closest("[data-keys]");
    return element.dataset.key.split(" ").includes(name) && (!own || own.contains(document.activeElement)) && isUsable(element);
  });
}

/** Does the act that the key stands for on this page. Returns true if the key stands for one. */
function press(name) {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  const near = document.activeElement?.closest("[data-keys]");
  const element = (near && find(near, name)) || find(dialog ?? document, name);
  if (element) {
    if (isTyping(element)) { element.focus(); element.select?.(); } else element.click();
    return true;
  }
  if (dialog) return false;
  if (name === "?") { attempt(showTable); return true; }
  if (name === "Escape") return goBack();
  // Guests cannot change anything, so they cannot undo.
  if (name === "u" && !document.body.matches(".is-guest")) { attempt(offerUndo); return true; }
  const [path, then] = places[name] ?? [];
  if (!path || location.pathname === path) return false;
  if (then) sessionStorage.setItem(nextPress, then);
  open(path);
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.metaKey) return;
  if ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  const focus = document.activeElement;
  if (isTyping(focus)) {
    if (event.key !== "Escape" || focus.closest("dialog")) return;
    // Esc cancels the form to which the field belongs. If there is none, Esc only leaves the field.
    const near = focus.closest("[data-keys]"), element = near && find(near, "Escape");
    if (element) element.click();
    else focus.blur();
    event.preventDefault();
    return;
  }
  const isCharacter = event.key.length === 1;
  if (isCharacter && (event.repeat || !areSingleKeysOn())) return;
  if (event.key === "Escape" && document.querySelector("dialog[open]")) return;
  if (event.key === "Enter" && !event.shiftKey && focus?.matches("a[href], button, summary, input:not([type=checkbox])")) return;
  const name = event.shiftKey && !isCharacter ? "Shift+" + event.key : event.key;
  if (name === "Tab" || name === "Shift+Tab") return;
  if (press(name)) event.preventDefault();
});

// The key for Undo.

/**
 * Offers to undo the last change. On the Scan and Intake pages, only the station's own last act can be undone, and a
 * button for it is shown as long as there is such an act. On other pages, the last change is shown first, together with
 * the device that made it, because that may have been another device. The toast's button has the same key.
 */
async function offerUndo() {
  if (["/scan", "/intake"].includes(location.pathname)) { toast(text("undoNothing")); return; }
  const { changes } = await callAPI("GET", "/api/changes?limit=50"), last = changes.find((change) => !change.undone);
  toast(last ? text("undoLast", { ...last, summary: last.shown }) : text("undoNothing"), { change: last?.id });
}

// The table of keys, with the switch for single keys.

async function showTable() {
  let dialog = document.getElementById("keys-dialog");
  if (!dialog) {
    const fresh = await fetchPage("/keys");
    dialog = document.createElement("dialog");
    dialog.id = "keys-dialog";
    dialog.setAttribute("aria-labelledby", "keys-title");
    dialog.append(document.adoptNode(fresh.getElementById("keys")));
    document.body.append(dialog);
  }
  setSwitches(dialog);
  dialog.showModal();
}

/** Sets the switches <input type=checkbox data-single-keys> to the value that the browser has stored. */
function setSwitches(root) {
  for (const box of root.querySelectorAll("[data-single-keys]")) box.checked = areSingleKeysOn();
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-single-keys]")) setSingleKeys(event.target.checked);
});
document.addEventListener("click", (event) => { if (event.target.closest("[data-shows-keys]")) attempt(showTable); });

setSwitches(document);
document.body.toggleAttribute("data-hears-keys", true);

// The key that led here from another page is pressed after the page's own script has run.
const wanted = sessionStorage.getItem(nextPress);
if (wanted) {
  sessionStorage.removeItem(nextPress);
  addEventListener("load", () => press(wanted));
}
