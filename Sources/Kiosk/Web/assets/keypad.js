// An ISBN by touch or by keys, over the picture alone: hyphens come by themselves, and the check digit is checked at once.

import { Refusal, ask, requestID, text } from "./app.js";
import { singleKeys } from "./keys.js";
import { check } from "./scanner.js";

const pad = document.getElementById("keypad"), field = document.getElementById("typed"), verdict = document.getElementById("verdict");
const opener = document.getElementById("keypad-open"), taker = document.getElementById("keypad-take");

const digits = () => field.value.toUpperCase().replace(/[^0-9X]/g, "");

let latest = 0;
async function change() {
  const number = digits(), state = check(number), mine = ++latest;
  verdict.textContent = verdict.dataset[state] ?? "";
  verdict.className = state === "right" ? "state-new" : state === "wrong" ? "state-problem" : "faint";
  taker.disabled = state !== "right";
  if (number.length < 2) return;
  try {
    const answer = await ask("GET", `/api/isbn?text=${number}`);
    if (mine !== latest) return;
    if (answer.hyphenated && field.value !== answer.hyphenated) put(answer.hyphenated);
    // The check digit is right, and it is a number of something else: the service knows what.
    if (state === "right" && answer.error) {
      verdict.textContent = answer.error;
      verdict.className = "state-problem";
      taker.disabled = true;
    }
  } catch {
    // Without hyphens it is the same number.
  }
}

/** The caret stays behind the same digit. */
function put(value) {
  const isFocused = document.activeElement === field;
  const before = field.value.slice(0, field.selectionStart ?? 0).replace(/[^0-9Xx]/g, "").length;
  field.value = value;
  if (!isFocused) return;
  let at = 0;
  for (let seen = 0; at < value.length && seen < before; at += 1) if (value[at] !== "-") seen += 1;
  field.setSelectionRange(at, at);
}

export function show() {
  pad.hidden = false;
  opener.setAttribute("aria-expanded", "true");
  field.value = "";
  change();
  field.focus();
}

export function hide() {
  if (pad.hidden) return;
  const hadFocus = pad.contains(document.activeElement);
  pad.hidden = true;
  opener.setAttribute("aria-expanded", "false");
  if (hadFocus) opener.focus();
}

/** Sent again, because the answer was lost, it is captured once. */
let sent = {};
async function take() {
  if (check(digits()) !== "right" || taker.disabled) return;
  const number = field.value;
  taker.disabled = true;
  try {
    if (sent.text !== number) sent = { text: number, request: requestID() };
    await ask("POST", "/api/station/captures", { ...sent, origin: "typed" });
    sent = {};
    field.value = "";
    await change();
    verdict.textContent = verdict.dataset.taken.replace("{number}", number);
  } catch (error) {
    verdict.textContent = error instanceof Refusal ? error.message : text("lost");
    verdict.className = "state-problem";
    taker.disabled = false;
  }
}

// Digits that a person types without having opened it.
document.addEventListener("digits", (event) => {
  if (!singleKeys() || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  if (pad.hidden) show();
  field.value += event.detail;
  field.focus();
  change();
});
opener.addEventListener("click", () => { if (pad.hidden) show(); else hide(); });
field.addEventListener("input", change);
pad.addEventListener("submit", (event) => { event.preventDefault(); take(); });
// The focus stays in the field: keys go on where the finger left off.
pad.addEventListener("pointerdown", (event) => { if (event.target.closest("[data-digit], [data-keypad=back]")) event.preventDefault(); });
pad.addEventListener("click", (event) => {
  const { digit, keypad } = event.target.closest("button")?.dataset ?? {};
  if (keypad === "close") return hide();
  if (keypad === "back") field.value = digits().slice(0, -1);
  else if (digit && digits().length < 13) field.value = digits() + digit;
  else return;
  change();
});
