// The keyboard of the pages, for touch screens whose browser has none. It types as a real keyboard does: each key is
// sent to the field as a key first, and the text then goes through the browser, which sends the field's own events and
// keeps maxlength and undo. The field keeps the focus. touch-typing.js says when the keyboard is shown.

import { needsKeyboard, sentKeys } from "./touch-typing.js";
import { locale, text } from "./texts.js";

/** The time after which a held key shows its variants or begins to repeat, and the time between repetitions. */
const holdTime = 450, repeatTime = 70;

const letters = {
  de: ["qwertzuiopü", "asdfghjklöä", "yxcvbnmß"], fr: ["azertyuiop", "qsdfghjklm", "wxcvbnéèàç"],
}[locale] ?? ["qwertyuiop", "asdfghjkl", "zxcvbnm'"];
const symbols = ["1234567890", "@#&%*+=/()", "-_:;!?'\"€"];
/** The characters that appear when a key is held. */
const variants = {
  a: "àâäáãåæ", c: "çčć", e: "éèêëę", i: "îïíì", l: "ł", n: "ñń", o: "ôöóòõøœ", s: "ßšś", u: "ùûüú", y: "ÿý", z: "žźż",
  "'": "’‘‚`", "\"": locale === "de" ? "„“”«»" : "“”„«»", "-": "–—", ".": "…!?:;", ",": "'\"-/", "?": "¿", "!": "¡", "€": "$£¥",
};

const panel = document.createElement("div");
panel.id = "keyboard";
panel.popover = "manual";
panel.setAttribute("role", "region");
panel.setAttribute("aria-label", text("keyboard"));

const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/assets/keyboard.css" });
const styled = new Promise((resolve) => { style.onload = style.onerror = resolve; });
document.head.append(style);

let field = null, layer = "", isShifted = false, isLocked = false;
/** The field's value when it last sent the event "change". */
let sentValue = "";

// The keys. A key types the character in data-char or does what data-press says.

function makeKey(label, data, name) {
  const key = document.createElement("button");
  key.type = "button";
  key.tabIndex = -1;
  key.textContent = label;
  Object.assign(key.dataset, data);
  if (name) key.setAttribute("aria-label", name);
  return key;
}
const makeChar = (char) => makeKey(char, { char, ...(variants[char] ? { more: variants[char] } : {}) });
const chars = (row) => [...row].map(makeChar);
const keys = {
  back: () => makeKey("⌫", { press: "back" }, text("keyBack")),
  enter: () => makeKey("⏎", { press: "enter" }, text("keyEnter")),
  hide: () => makeKey("▾", { press: "hide" }, text("keyHide")),
  left: () => makeKey("←", { press: "left" }, text("keyLeft")),
  right: () => makeKey("→", { press: "right" }, text("keyRight")),
  shift: () => makeKey("⇧", { press: "shift" }, text("keyShift")),
  letters: () => makeKey("ABC", { press: "letters" }, text("keyLetters")),
  symbols: () => makeKey("?123", { press: "symbols" }, text("keySymbols")),
  space: () => makeKey("", { char: " ", wide: "" }, text("keySpace")),
};
/** A gap as wide as a key. */
const makeGap = () => document.createElement("span");

/**
 * Returns the characters beside the digits if the field is for a number, a day or an ISBN, and null if it is for text.
 */
function charsOfPad(field) {
  if (field.matches("[data-takes-number]")) return ["X", "-"];
  if (field.matches("[data-day], [name=publishedDate], [pattern^='\\\\d{4}']")) return ["-"];
  const isNumber = field.type === "number";
  if (!isNumber && field.type !== "tel" && !["numeric", "decimal"].includes(field.inputMode)) return null;
  const isDecimal = field.inputMode === "decimal" || (isNumber && !Number.isInteger(Number(field.step || 1)));
  return isDecimal ? [isNumber || locale === "en-GB" ? "." : ","] : [];
}
const mayHaveLetters = (field) => field.type !== "number" && !field.matches("[data-takes-number]");

function makeRows() {
  if (layer === "pad") {
    const [first, second] = charsOfPad(field), char = (one) => one ? makeKey(one, { char: one }) : makeGap();
    return [
      [...chars("123"), keys.left(), keys.right()], [...chars("456"), mayHaveLetters(field) ? keys.letters() : makeGap(), keys.hide()],
      [...chars("789"), makeGap(), keys.back()], [char(first), makeChar("0"), char(second), keys.enter()],
    ];
  }
  const [top, middle, bottom] = layer === "symbols" ? symbols : letters;
  const other = layer === "symbols" ? keys.letters() : keys.symbols();
  return [
    chars(top), chars(middle), [...(layer === "symbols" ? [] : [keys.shift()]), ...chars(bottom), keys.back()],
    [other, keys.hide(), ...chars(","), keys.left(), keys.space(), keys.right(), ...chars("."), keys.enter()],
  ];
}

function setLayer(name) {
  layer = name;
  panel.className = `is-${layer}`;
  panel.replaceChildren(...makeRows().map((row) => {
    const line = document.createElement("div");
    line.append(...row);
    return line;
  }));
  showCase();
}

/** Returns a character as it is typed at the moment. */
const inCase = (char) => !isShifted || layer !== "letters" ? char : char === "ß" ? "ẞ" : char.toLocaleUpperCase(locale);

function showCase() {
  for (const key of panel.querySelectorAll("[data-char]")) if (key.dataset.char !== " ") key.textContent = inCase(key.dataset.char);
  const shift = panel.querySelector("[data-press=shift]");
  shift?.setAttribute("aria-pressed", isShifted);
  shift?.toggleAttribute("data-locked", isLocked);
}

/** Returns true if a sentence or a name begins at the caret. */
function isBeginning() {
  const isProse = field.matches("textarea, input:is(:not([type]), [type=text]):not([data-complete=tag], [list])");
  if (!isProse || ["off", "none"].includes(field.getAttribute("autocapitalize"))) return false;
  const before = field.value.slice(0, field.selectionStart);
  return field.matches("textarea") ? /(^|[.!?…]\s+|\n\s*)$/.test(before) : before === "";
}
function setCase(shifted, locked = false) { [isShifted, isLocked] = [shifted, locked]; showCase(); }
const resetCase = () => { if (!isLocked) setCase(isBeginning()); };

// Typing.

/** Sends the field a key. If no script of the page uses it, does what a browser would do. */
function send(key, act) {
  if (document.activeElement !== field) field.focus();
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, composed: true });
  sentKeys.add(event);
  if (field.dispatchEvent(event)) act();
}

function type(char) {
  send(char, () => document.execCommand("insertText", false, char));
  resetCase();
}

function move(direction) { send(direction === "left" ? "ArrowLeft" : "ArrowRight", () => getSelection().modify("move", direction, "character")); }

/** Presses Enter: begins a new line, or submits the form as a browser does (HTML, "Implicit submission"). */
function enter() {
  send("Enter", () => {
    if (field.matches("textarea")) return document.execCommand("insertLineBreak");
    const { form } = field, isSearch = field.enterKeyHint === "search";
    if (field.value !== sentValue) {
      sentValue = field.value;
      field.dispatchEvent(new Event("change", { bubbles: true }));
    }
    const button = [...form?.elements ?? []].find((element) => element.matches("button:not([type=button], [type=reset]), input[type=submit]"));
    if (button) button.click();
    else if (form && [...form.elements].filter(needsKeyboard).length === 1) form.requestSubmit();
    if (isSearch) hideKeyboard();
  });
  if (field) resetCase();
}

let shiftedAt = -Infinity;
/** Switches between small letters and capitals. A second press within a moment locks the capitals. */
function shift() {
  const isDouble = performance.now() - shiftedAt < 350;
  shiftedAt = performance.now();
  if (isShifted && isDouble) setCase(true, true);
  else setCase(!isShifted);
}

const acts = {
  back: () => { send("Backspace", () => document.execCommand("delete")); resetCase(); },
  enter, hide: () => hideKeyboard(), left: () => move("left"), right: () => move("right"),
  letters: () => { setLayer("letters"); resetCase(); }, symbols: () => setLayer("symbols"),
  shift,
};

function press(key) {
  const { char, press } = key.dataset;
  if (press) acts[press]();
  else type(key.matches(".more *") ? char : inCase(char));
}

// Fingers. A key acts when the finger leaves it, or when the next finger comes down. A held key shows its variants.

let held = null, timer = 0;
function release(act) {
  clearTimeout(timer);
  const key = held;
  held = null;
  key?.classList.remove("is-held");
  if (act && key) press(key);
}

function closeVariants() { panel.querySelector(".more")?.remove(); }
function openVariants(key) {
  const list = document.createElement("div");
  list.className = "more";
  list.append(...[...key.dataset.more].map((char) => makeKey(inCase(char), { char: inCase(char) })));
  panel.append(list);
  const box = key.getBoundingClientRect();
  list.style.left = `${Math.max(4, Math.min(box.left + box.width / 2 - list.offsetWidth / 2, innerWidth - list.offsetWidth - 4))}px`;
  list.style.top = `${box.top - panel.getBoundingClientRect().top - list.offsetHeight - 4}px`;
}

function repeat(act) { act(); timer = setTimeout(() => repeat(act), repeatTime); }

panel.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  release(true);
  const key = event.target.closest("button"), isVariant = key?.matches(".more *");
  if (!isVariant) closeVariants();
  if (!key || event.button !== 0) return;
  const act = { back: acts.back, left: acts.left, right: acts.right }[key.dataset.press];
  if (act) {
    act();
    timer = setTimeout(() => repeat(act), holdTime);
    return;
  }
  held = key;
  key.classList.add("is-held");
  if (key.dataset.more) timer = setTimeout(() => { release(false); openVariants(key); }, holdTime);
});
addEventListener("pointerup", (event) => {
  if (!field) return;
  // A finger that was held may end on a variant.
  const variant = held ? null : document.elementFromPoint(event.clientX, event.clientY)?.closest("#keyboard .more button");
  const wasVariant = held?.matches(".more *");
  release(true);
  if (variant) press(variant);
  if (variant || wasVariant) closeVariants();
});
addEventListener("pointercancel", () => release(false));
// Screen readers press a key without a finger.
panel.addEventListener("click", (event) => {
  const key = event.target.closest("button");
  if (key && event.detail === 0) press(key);
});
// A key that hides the keyboard or closes a dialog must not click on what was below it.
let isOnPanel = false;
addEventListener("pointerdown", ({ target }) => { isOnPanel = panel.contains(target); }, { capture: true });
addEventListener("click", (event) => {
  if (!isOnPanel || panel.contains(event.target) || event.detail === 0) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
for (const name of ["mousedown", "contextmenu"]) panel.addEventListener(name, (event) => event.preventDefault());

// Showing and hiding.

export async function showKeyboard(next) {
  const isNew = next !== field;
  field = next;
  await styled;
  if (field !== next || document.activeElement !== next) return;
  // Only what is within an open dialog can be pressed.
  const home = field.closest("dialog[open]") ?? document.body;
  if (panel.parentElement !== home) home.append(panel);
  if (!panel.matches(":popover-open")) panel.showPopover();
  if (isNew || !layer) {
    sentValue = field.value;
    setCase(false);
    setLayer(charsOfPad(field) ? "pad" : "letters");
    resetCase();
  }
  const root = document.documentElement;
  root.style.setProperty("--keyboard", `${panel.offsetHeight}px`);
  root.toggleAttribute("data-keyboard", true);
  // There is more room for the books that a search finds if its field is at the top.
  field.scrollIntoView({ block: field.type === "search" ? "start" : "nearest" });
}

export function hideKeyboard() {
  if (!field) return;
  release(false);
  field = null;
  if (panel.matches(":popover-open")) panel.hidePopover();
  document.documentElement.removeAttribute("data-keyboard");
  // The dialog may be removed from the page.
  document.body.append(panel);
}

// The keyboard disappears with the focus, but only after the press that took the focus, because everything moves then.
let isDown = false;
function hideWithoutField() { if (field && !isDown && document.activeElement !== field) hideKeyboard(); }
addEventListener("pointerdown", () => { isDown = true; }, { capture: true });
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { isDown = false; setTimeout(hideWithoutField); }, { capture: true });
document.addEventListener("focusout", () => setTimeout(hideWithoutField));

// A browser that makes room for a keyboard of its own needs no second one.
visualViewport?.addEventListener("resize", () => { if (visualViewport.height * visualViewport.scale < innerHeight - 120) hideKeyboard(); });
