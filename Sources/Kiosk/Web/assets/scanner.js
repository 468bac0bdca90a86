// Handheld scanners are keyboards: they type a number, wherever the focus is, and mostly end it with Enter, or Tab. Characters are
// held back until it is clear what they are. A number goes to the station; everything else to where it was typed, in order.

import { Refusal, ask, on, report, requestID, text, toast } from "./app.js";

/** Milliseconds between keys: what is nearer than this comes from a scanner, whatever it is. */
const gap = 50;
/** Milliseconds: outside fields digits this near belong together, since some scanners are slower than people. */
const pause = 300;
/** Milliseconds after a number in which Enter is the scanner's second, or was meant for what stood there before. */
const quiet = 400;
/** Characters that make a burst, and the most that are held. */
const least = 8, most = 4096;

let held = [], last = -Infinity, timer = 0, before = null, isField = false, isFast = true, quietUntil = -Infinity, digitAt = -Infinity;
/** The keys that were held back and are on their way again. */
const given = new WeakSet();

/** Fields whose text a script can type into; with all of these a person is typing. */
export function isTyping(element) {
  return element?.isContentEditable
    || element?.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset], [type=range], [type=file], [type=image])");
}

// The browser's own pickers take keys of a person only: these go in at once, and the field gets its value back after a burst.
const isPicker = (element) => element?.matches("input[type=date], input[type=month], input[type=week], input[type=time], input[type=datetime-local], input[type=color]");

/** "right", "wrong", "short" or "" for nothing yet (GS1 General Specifications 7.9; ISBN Users' Manual 5.5). */
export function check(number) {
  if (number === "") return "";
  if (/^\d{9}[\dX]$/.test(number)) {
    const sum = [...number].reduce((sum, digit, at) => sum + (digit === "X" ? 10 : Number(digit)) * (10 - at), 0);
    if (sum % 11 === 0) return "right";
    // The first ten of a longer number.
    return /^97[89]/.test(number) && !number.endsWith("X") ? "short" : "wrong";
  }
  if (/^\d{13}$/.test(number)) {
    const sum = [...number].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 ? 3 : 1), 0);
    return sum % 10 === 0 ? "right" : "wrong";
  }
  return number.length > 13 || number.slice(0, -1).includes("X") ? "wrong" : "short";
}

function isCharacter(event) {
  return event.key.length === 1 && !event.isComposing && !event.repeat && !event.metaKey
    && (event.getModifierState("AltGraph") || (!event.ctrlKey && !event.altKey));
}

const heldText = () => held.map((key) => key.key).join("");
/** Digits and hyphens, and an X in the tenth place. */
const isRun = (text) => /^\d(-?\d)*-?$/.test(text) || /^(\d-?){9}[Xx]$/.test(text);
const isNumber = (text) => isRun(text) && check(text.toUpperCase().replaceAll("-", "")) === "right";

/** Lets no Enter through for a moment: what it would do is not what the person saw when they pressed it. */
export function hushEnter() { quietUntil = Math.max(quietUntil, performance.now() + quiet); }

function take(event) {
  if (given.has(event) || !event.isTrusted) return;
  if (["Shift", "AltGraph", "Alt", "Control", "Meta", "CapsLock", "NumLock"].includes(event.key)) return;
  const since = event.timeStamp - last, isEnd = event.key === "Enter" || event.key === "Tab";
  if (held.length > 0 && since >= (isSlow() ? pause : gap)) settle();
  if (isEnd && held.length === 0 && event.timeStamp < quietUntil - (event.key === "Tab" ? 100 : 0)) return stop(event);
  if (isEnd && held.length > 0) {
    const text = heldText(), isBurst = held.length >= least && isFast && since < gap;
    if (isBurst && (event.key === "Enter" || isNumber(text)) || !isField && isNumber(text)) {
      stop(event);
      return captureHeld(event.timeStamp);
    }
    // Enter after digits that are no number confirms nothing.
    if (isSlow() && event.key === "Enter") stop(event);
    return settle();
  }
  // No burst begins with a space; a person's goes to the button that has the focus.
  if (!isCharacter(event) || (event.key === " " && held.length === 0)) return settle();
  // A letter after digits that came slowly is none of theirs.
  if (held.length > 0 && since >= gap && !isRun(heldText() + event.key)) {
    settle();
    if (event.key === " ") return;
  }
  if (held.length === 0) {
    const focus = document.activeElement;
    isField = isTyping(focus) === true;
    isFast = true;
    before = isPicker(focus) ? { field: focus, value: focus.value, events: new Set() } : null;
  } else if (since >= gap) isFast = false;
  if (!before) stop(event);
  held.push({ key: event.key, code: event.code, shiftKey: event.shiftKey, isThere: before !== null });
  last = event.timeStamp;
  clearTimeout(timer);
  // A little more than the gap: keys that wait behind a busy page carry their own time, and come before the timer.
  timer = setTimeout(settle, (isSlow() ? pause : gap) + 10);
  if (held.length >= most) settle();
}

/** Whether the next key has the longer time. */
function isSlow() { return !isField && held.length > 0 && isRun(heldText()); }

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function forget() {
  clearTimeout(timer);
  held = [];
  before = null;
}

function captureHeld(at) {
  const code = heldText();
  if (before) before.field.value = before.value;
  forget();
  quietUntil = at + quiet;
  digitAt = last;
  capture(code);
}

/** The keys have come to an end without Enter or Tab: a number, digits that are none, or keys for where the focus is. */
function settle() {
  if (held.length === 0) return;
  const text = heldText();
  if (isSlow()) {
    if (isNumber(text)) return captureHeld(performance.now());
    const isAlone = held.length === 1 && last - digitAt >= pause;
    digitAt = last;
    if (!isAlone) quietUntil = last + quiet;
    // The Scan page puts them into its keypad. Elsewhere the station says what is wrong with a number, and only a digit by itself
    // means something.
    if (!(isFast && held.length >= least) && !document.dispatchEvent(new CustomEvent("digits", { detail: text, cancelable: true }))) return forget();
    if (held.length >= least) return captureHeld(performance.now());
    if (!isAlone) return forget();
  } else if (!isField && isFast && held.length >= least) {
    return captureHeld(performance.now());
  }
  release();
}

/** It was no number: the keys go where they were meant for. */
function release() {
  const keys = held, picker = before;
  forget();
  for (const key of keys) if (!key.isThere) deliver(key);
  for (const name of picker?.events ?? []) picker.field.dispatchEvent(new Event(name, { bubbles: true }));
}

/** What a picker says of its value while it is not clear yet whose keys these are. */
function hush(event) {
  if (before?.field !== event.target || !event.isTrusted) return;
  event.stopImmediatePropagation();
  before.events.add(event.type);
}

function deliver({ key, code, shiftKey }) {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true, composed: true });
  given.add(event);
  if (!target.dispatchEvent(event)) return;
  if (target.matches("select")) choose(target, key);
  // execCommand alone keeps the browser's own undo, maxlength and input events.
  else if (isTyping(target)) { if (!target.readOnly && !target.disabled) document.execCommand("insertText", false, key); }
  else if (key === " " && target.matches("button, summary, input")) target.click();
}

let typed = "", typedAt = 0;
/** What a browser does with letters on a list of choices. */
function choose(select, key) {
  typed = performance.now() - typedAt < 1000 ? typed + key : key;
  typedAt = performance.now();
  const option = [...select.options].find((option) => !option.disabled && option.text.trim().toLowerCase().startsWith(typed.toLowerCase()));
  if (!option || option.selected) return;
  select.value = option.value;
  for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
}

addEventListener("keydown", take, { capture: true });
addEventListener("input", hush, { capture: true });
addEventListener("change", hush, { capture: true });
addEventListener("pointerdown", settle, { capture: true });
addEventListener("blur", settle);

// What was scanned goes to the station one after the other. What it could not take is kept, beyond the tab, and sent again. Each
// code has an entry and a request id of its own: sent twice, after an answer that was lost or by two tabs, it is captured once.

const store = "bookplate.kept.";
/** Seconds until it is tried again. */
const waits = [2, 5, 15, 30];
const kept = () => Object.keys(localStorage).filter((key) => key.startsWith(store)).sort();
let sending = null, failures = 0, later = 0, isShown = false;

function capture(code) {
  // A field for a number, where a person is at it, is what the number is for.
  const field = document.activeElement;
  if (field?.matches("[data-takes-number]")) {
    field.value = code;
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
    return;
  }
  localStorage.setItem(store + requestID(), code);
  send();
}

function send() {
  clearTimeout(later);
  sending ??= sendKept().finally(() => { sending = null; });
}

async function sendKept() {
  for (let [key] = kept(); key; [key] = kept()) {
    const code = localStorage.getItem(key);
    let news;
    try {
      const { row } = await ask("POST", "/api/station/captures", { text: code, origin: "scanner", request: key.slice(store.length) });
      news = { row, code };
    } catch (error) {
      const isAnswered = error instanceof Refusal;
      if (!isAnswered || error.status >= 500 || [401, 403, 408, 429].includes(error.status)) return wait(code, isAnswered);
      news = { refusal: error.message, code };
    }
    failures = 0;
    // Another tab may have been faster, and told of it.
    const isMine = localStorage.getItem(key) !== null;
    localStorage.removeItem(key);
    if (isShown) showKept();
    if (isMine) tell(news);
  }
}

/** @param isAnswered: the station did answer, and could not take it just now. */
function wait(code, isAnswered) {
  if (failures === 0) toast(text(isAnswered ? "scannedBusy" : "scannedKept", { code }), { isTrouble: true });
  showKept();
  later = setTimeout(send, waits[Math.min(failures, waits.length - 1)] * 1000);
  failures += 1;
}

function showKept() {
  const count = kept().length;
  isShown = count > 0;
  report("kept", count === 0 ? null : text(count === 1 ? "keptOne" : "keptMany", { count }));
}

/** The Scan page shows it in its own way; on every other page a line says it, with the way there. */
function tell(news) {
  if (!document.dispatchEvent(new CustomEvent("scanned", { detail: news, cancelable: true }))) return;
  if (news.refusal) return toast(text("scannedRefused", { code: news.code, reason: news.refusal }), { isTrouble: true });
  toast(text(news.row.look === "owned" ? "scannedOwned" : "scanned", { title: news.row.title ?? news.row.hyphenated }), { link: ["/scan", text("scannedOpen")] });
}

on("hello", () => { if (kept().length > 0) send(); });
// What another tab has sent waits no more.
addEventListener("storage", (event) => { if (isShown && event.key?.startsWith(store)) showKept(); });
