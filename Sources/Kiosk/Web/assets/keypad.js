// The keypad over the picture, on which a person enters an ISBN by touch or with keys. Hyphens are added automatically,
// and the check digit is checked at once.

import { areSingleKeysOn } from "./keys.js";
import { callAPI } from "./requests.js";
import { captureTyped, checkNumber } from "./scanner.js";

const pad = document.getElementById("keypad"), field = document.getElementById("typed"), verdict = document.getElementById("verdict");
const opener = document.getElementById("keypad-open"), submit = document.getElementById("keypad-take");

/** The digits that were typed so far, which survive a reload of the page. */
const store = "bookplate.typed";
/** Called once the next number is captured; null if nobody waits for it. */
let onTaken = null;

const strip = (number) => number.toUpperCase().replace(/[^0-9X]/g, "");
const readDigits = () => strip(field.value);

let latest = 0;
/** Shows whether the number is right, and adds its hyphens. */
async function update() {
  const number = readDigits(), state = checkNumber(number), mine = ++latest;
  if (number) sessionStorage.setItem(store, number); else sessionStorage.removeItem(store);
  verdict.textContent = verdict.dataset[state] ?? "";
  verdict.className = state === "right" ? "state-new" : state === "wrong" ? "state-problem" : "faint";
  submit.disabled = state !== "right";
  if (number.length < 2) return;
  try {
    const answer = await callAPI("GET", `/api/isbn?text=${number}`);
    if (mine !== latest) return;
    // An SBN and a number with an add-on have no hyphens of their own.
    const isSame = answer.hyphenated && strip(answer.hyphenated) === number;
    if (isSame && field.value !== answer.hyphenated) setValue(answer.hyphenated);
    // If the check digit is right but the number is not a book's, the service says what kind of number it is.
    if (state === "right" && answer.error) {
      verdict.textContent = answer.error;
      verdict.className = "state-problem";
      submit.disabled = true;
    }
  } catch {
    // The hyphens are missing, but the number is still the same.
  }
}

/** Sets the field, and keeps the caret behind the same digit as before. */
function setValue(value) {
  const isFocused = document.activeElement === field;
  const before = field.value.slice(0, field.selectionStart ?? 0).replace(/[^0-9Xx]/g, "").length;
  field.value = value;
  if (!isFocused) return;
  let at = 0;
  for (let seen = 0; at < value.length && seen < before; at += 1) if (value[at] !== "-") seen += 1;
  field.setSelectionRange(at, at);
}

function show(digits = "") {
  pad.hidden = false;
  opener.setAttribute("aria-expanded", "true");
  field.value = digits;
  update();
  field.focus();
}

/** Opens the keypad, and calls the function once a number is captured with it. */
export function typeNumber(whenTaken) {
  if (pad.hidden) show(); else field.focus();
  onTaken = whenTaken;
}

export function hideKeypad() {
  if (pad.hidden) return;
  onTaken = null;
  sessionStorage.removeItem(store);
  const hadFocus = pad.contains(document.activeElement);
  pad.hidden = true;
  opener.setAttribute("aria-expanded", "false");
  if (hadFocus) opener.focus();
}

async function capture() {
  if (checkNumber(readDigits()) !== "right" || submit.disabled) return;
  const number = field.value;
  submit.disabled = true;
  const { row, refusal } = await captureTyped(number);
  if (refusal) {
    verdict.textContent = refusal;
    verdict.className = "state-problem";
    submit.disabled = false;
    return;
  }
  onTaken?.();
  onTaken = null;
  // A person may have begun the next number meanwhile. Hyphens come later.
  if (readDigits() !== strip(number)) return;
  field.value = "";
  await update();
  // A number that is not captured yet is announced below the head.
  if (row) verdict.textContent = verdict.dataset.taken.replace("{number}", number);
}

// If a person types digits while the keypad is closed, it opens.
document.addEventListener("digits", (event) => {
  if (!areSingleKeysOn() || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (pad.hidden) show();
  field.value += event.detail;
  field.focus();
  update();
});
opener.addEventListener("click", () => { if (pad.hidden) show(); else hideKeypad(); });
field.addEventListener("input", update);
pad.addEventListener("submit", (event) => { event.preventDefault(); capture(); });
// The focus stays in the field, so that a person can switch between touch and keys at any time.
pad.addEventListener("pointerdown", (event) => { if (event.target.closest("[data-digit], [data-keypad=back]")) event.preventDefault(); });
pad.addEventListener("click", (event) => {
  const { digit, keypad } = event.target.closest("button")?.dataset ?? {};
  if (keypad === "close") return hideKeypad();
  if (keypad === "back") field.value = readDigits().slice(0, -1);
  else if (digit && readDigits().length < 18) field.value = readDigits() + digit;
  else return;
  update();
});

// What was typed before the page was loaded again, because the service was restarted, is still there.
const typed = sessionStorage.getItem(store);
if (typed) show(typed);
