// Opens the keyboard of the pages (keyboard.js) for a field that a person touches, if the browser has no keyboard of its
// own. The keyboard is loaded when it is first needed.

const store = "bookplate.keyboard", keyStore = "bookplate.lastkey";
/** The time after a real key during which a touch does not open the keyboard, in milliseconds. */
const keysAreThere = 10 * 60000;

/** The fields in which a person types. Dates and times have pickers of the browser. */
const typed = `:is(textarea, input:not([type]), ${["text", "search", "url", "email", "tel", "password", "number"].map((type) => `[type=${type}]`)})`
  + ":not([readonly], [disabled], [inputmode=none])";
const pickers = ["date", "month", "week", "time", "datetime-local"].map((type) => `input[type=${type}]:not([readonly], [disabled])`).join();

/** The keys that the keyboard of the pages has sent. All others come from a real keyboard. */
export const sentKeys = new WeakSet();

/** Returns true if a person types in the element, so that it needs a keyboard. */
export const needsKeyboard = (element) => element?.matches(typed) === true;

/** Returns "automatic", "always" or "never". It is stored in the browser. */
export function readKeyboardChoice() { return localStorage.getItem(store) ?? "automatic"; }
export function setKeyboardChoice(choice) {
  if (choice === "automatic") localStorage.removeItem(store);
  else localStorage.setItem(store, choice);
}

/** Phones, tablets, and touch screens with Windows or ChromeOS bring a keyboard; a browser alone on Linux does not. */
const bringsKeyboard = !/Linux|X11/.test(navigator.userAgent) || /Android|Mobile|CrOS|Tizen|Web0S/.test(navigator.userAgent);

/** The kind of the last touch or click, or "key". */
let last = "";

function isWanted() {
  const choice = readKeyboardChoice();
  if (choice !== "automatic") return choice === "always" && last !== "key";
  const keyAt = Number(sessionStorage.getItem(keyStore) ?? -Infinity);
  return last === "touch" && !bringsKeyboard && Date.now() - keyAt > keysAreThere;
}

let keyboard = null;
async function open(field) {
  try {
    keyboard ??= import("./keyboard.js");
    (await keyboard).showKeyboard(field);
  } catch {
    // The station does not answer. The next touch tries again.
    keyboard = null;
  }
}

addEventListener("pointerdown", (event) => { last = event.pointerType; }, { capture: true });
// A press on a field that already has the focus opens the keyboard, too.
for (const name of ["focusin", "click"]) {
  document.addEventListener(name, ({ target, isTrusted }) => {
    if (needsKeyboard(target) && isWanted()) open(target);
    // Without real keys, a date can be chosen only in the browser's picker.
    else if (name === "click" && isTrusted && target.matches(pickers) && isWanted()) target.showPicker();
  });
}

// A key of a real keyboard closes the keyboard. scanner.js holds back the keys of handheld scanners.
document.addEventListener("keydown", (event) => {
  if (sentKeys.has(event) || (event.key.length > 1 && event.key !== "Backspace")) return;
  last = "key";
  sessionStorage.setItem(keyStore, Date.now());
  // A keyboard that could not be loaded is not shown either.
  keyboard?.then(({ hideKeyboard }) => hideKeyboard(), () => {});
});
