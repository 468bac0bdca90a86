// Handheld scanners work like keyboards. They type a number wherever the focus is, and most of them end it with Enter
// or Tab. Characters are held back until it is clear what they are. A number goes to the station. All other characters
// go, in order, to the element in which they were typed.

import { on } from "./events.js";
import { showNotice, toast } from "./messages.js";
import { askForDelivery, sendNumber } from "./outbox.js";
import { forget, isAtRisk, keep, listKept, onKept } from "./outbox-store.js";
import { makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

/** The interval between two keys, in milliseconds. A shorter interval means that a scanner is typing. */
const gap = 50;
/**
 * The longest interval between digits that belong together outside fields, in milliseconds. It is long because some
 * scanners are slower than people.
 */
const pause = 300;
/**
 * The time after a number in which Enter is ignored, in milliseconds. Such an Enter is the scanner's second one, or was
 * meant for what the page showed before.
 */
const quiet = 400;
/** The smallest number of characters in a burst, and the largest number that is held back. */
const least = 8, most = 4096;

let held = [], last = -Infinity, timer = 0, picker = null, isField = false, isFast = true;
let quietUntil = -Infinity, digitAt = -Infinity;
/** The keys that were held back and are now passed on. */
const passedOn = new WeakSet();

const untyped = ["checkbox", "radio", "button", "submit", "reset", "range", "file", "image"].map((type) => `[type=${type}]`);
/** Returns true if the element is a field in which a person types. */
export function isTyping(element) {
  return element?.isContentEditable || element?.matches(`textarea, select, input:not(${untyped.join()})`);
}

// The browser's own pickers accept only real keys. Keys that are typed in a picker are therefore not held back. After a
// burst, the field gets its earlier value back.
const pickers = ["date", "month", "week", "time", "datetime-local", "color"].map((type) => `input[type=${type}]`);
const isPicker = (element) => element?.matches(pickers.join());

/**
 * Returns "right", "wrong" or "short", or "" if there are no digits yet (GS1 General Specifications 7.9; ISBN Users'
 * Manual 5.5).
 */
export function checkNumber(number) {
  if (number === "") return "";
  // An SBN is an ISBN-10 without its leading 0.
  if (/^\d{8}[\dX]$/.test(number) && !/^97[89]/.test(number) && checkNumber(`0${number}`) === "right") return "right";
  // An add-on of two or five digits may follow.
  if (/^\d{13}(\d{2}|\d{5})$/.test(number) && checkNumber(number.slice(0, 13)) === "right") return "right";
  if (/^\d{9}[\dX]$/.test(number)) {
    const sum = [...number].reduce((sum, digit, at) => sum + (digit === "X" ? 10 : Number(digit)) * (10 - at), 0);
    if (sum % 11 === 0) return "right";
    // These may be the first ten digits of a longer number.
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

const readHeld = () => held.map((key) => key.key).join("");
/** Returns true if the text has only digits and hyphens, except that the tenth character may be an X. */
const isRun = (text) => /^\d(-?\d)*-?$/.test(text) || /^(\d-?){9}[Xx]$/.test(text);
/** Returns true for a right number. Nine digits are none, because a person may type more of them. */
const isNumber = (text) => {
  const number = text.toUpperCase().replaceAll("-", "");
  return isRun(text) && number.length > 9 && checkNumber(number) === "right";
};

/**
 * Returns the number that a URN or a web address names, "" for an address that names none or several, and null for any
 * other text. The station reads addresses in the same way.
 */
function readAddress(text) {
  if (/^urn:isbn:/i.test(text)) return text.slice("urn:isbn:".length);
  const [, path, query = ""] = /^[^:]+:\/\/([^?#\s]*)(?:\?([^#\s]*))?/.exec(text) ?? [];
  if (path === undefined) return null;
  const numbers = new Set(query.split("&").filter((pair) => /^isbn=/i.test(pair)).map((pair) => pair.slice("isbn=".length)));
  const parts = path.split("/").filter(Boolean);
  for (const [at, part] of parts.entries()) {
    const next = parts[at + 1] ?? "";
    if (at > 0 && part.toLowerCase() === "isbn") numbers.add(next);
    // A GS1 Digital Link has a GTIN of 14 digits after 01.
    if (at > 0 && part === "01" && /^0\d{13}$/.test(next)) numbers.add(next.slice(1));
  }
  return numbers.size === 1 ? [...numbers][0] : "";
}

/**
 * Returns true for a burst that is a number of nine digits or more, right or wrong, in any form that the station reads.
 * In a field, every other burst is text, such as the words of a text expander.
 */
function looksLikeNumber(text) {
  const number = readAddress(text) ?? text.replace(/^\][a-z].(?=.)/i, "").replace(/^i?sbn(-1[03](?!\d))?[:.]?/i, "");
  return /^\d{8,}[\dX]$/i.test(number.replace(/\]E\d|[\s\p{Pd}]/giu, ""));
}

/** Blocks Enter for a moment, because a person may have pressed it for what the page showed before. */
export function blockEnter() { quietUntil = Math.max(quietUntil, performance.now() + quiet); }

function handleKey(event) {
  if (passedOn.has(event) || !event.isTrusted) return;
  if (["Shift", "AltGraph", "Alt", "Control", "Meta", "CapsLock", "NumLock"].includes(event.key)) return;
  const since = event.timeStamp - last, isEnd = event.key === "Enter" || event.key === "Tab";
  if (held.length > 0 && since >= (isSlow() ? pause : gap)) settle();
  if (isEnd && held.length === 0 && event.timeStamp < quietUntil - (event.key === "Tab" ? 100 : 0)) return stop(event);
  if (isEnd && held.length > 0) {
    const text = readHeld(), isBurst = held.length >= least && isFast && since < gap;
    // Outside fields, a burst of words is refused by the station, because its letters must not be shortcuts.
    const isCode = event.key === "Enter" && (!isField || looksLikeNumber(text));
    if (isBurst && (isCode || isNumber(text)) || !isField && isNumber(text)) {
      stop(event);
      return captureHeld(event.timeStamp);
    }
    // After digits that are not a number, Enter is ignored.
    if (isSlow() && event.key === "Enter") stop(event);
    return settle();
  }
  // A burst never begins with a space. A person's space goes to the focused button.
  if (!isCharacter(event) || (event.key === " " && held.length === 0)) return settle();
  // A letter that comes some time after digits does not belong to them.
  if (held.length > 0 && since >= gap && !isRun(readHeld() + event.key)) {
    settle();
    if (event.key === " ") return;
  }
  if (held.length === 0) {
    const focus = document.activeElement;
    isField = isTyping(focus) === true;
    isFast = true;
    picker = isPicker(focus) ? { field: focus, value: focus.value, events: new Set() } : null;
  } else if (since >= gap) isFast = false;
  if (!picker) stop(event);
  held.push({ key: event.key, code: event.code, shiftKey: event.shiftKey, isEntered: picker !== null });
  last = event.timeStamp;
  clearTimeout(timer);
  // The timer is a little longer than the gap. Keys that wait while the page is busy have their own times and are
  // handled before the timer.
  timer = setTimeout(settle, (isSlow() ? pause : gap) + 10);
  if (held.length >= most) settle();
}

/** Returns true if the next key may come after the longer interval. */
function isSlow() { return !isField && held.length > 0 && isRun(readHeld()); }

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

function dropHeld() {
  clearTimeout(timer);
  held = [];
  picker = null;
}

function captureHeld(at) {
  const code = readHeld();
  if (picker) picker.field.value = picker.value;
  dropHeld();
  quietUntil = at + quiet;
  digitAt = last;
  capture(code);
}

/**
 * Decides about held keys that no Enter or Tab has followed. They may be a number, digits that are not a number, or
 * keys for the focused element.
 */
function settle() {
  if (held.length === 0) return;
  const text = readHeld();
  if (isSlow()) {
    if (isNumber(text)) return captureHeld(performance.now());
    const isAlone = held.length === 1 && last - digitAt >= pause;
    digitAt = last;
    if (!isAlone) quietUntil = last + quiet;
    // The Scan page puts the digits into its keypad. On other pages, the station explains what is wrong with a number,
    // and only a single digit can be a shortcut.
    const isBurst = isFast && held.length >= least;
    if (!isBurst && !document.dispatchEvent(new CustomEvent("digits", { detail: text, cancelable: true }))) return dropHeld();
    if (held.length >= least) return captureHeld(performance.now());
    if (!isAlone) return dropHeld();
  } else if (!isField && isFast && held.length >= least) {
    return captureHeld(performance.now());
  }
  passOn();
}

/** Passes the held keys on to the focused element. */
function passOn() {
  const keys = held, muted = picker;
  dropHeld();
  for (const key of keys) if (!key.isEntered) deliver(key);
  for (const name of muted?.events ?? []) muted.field.dispatchEvent(new Event(name, { bubbles: true }));
}

/** Mutes a picker's events until it is clear whether a person or a scanner typed the keys. */
function mutePicker(event) {
  if (picker?.field !== event.target || !event.isTrusted) return;
  event.stopImmediatePropagation();
  picker.events.add(event.type);
}

function deliver({ key, code, shiftKey }) {
  const target = document.activeElement ?? document.body;
  const event = new KeyboardEvent("keydown", { key, code, shiftKey, bubbles: true, cancelable: true, composed: true });
  passedOn.add(event);
  if (!target.dispatchEvent(event)) return;
  if (target.matches("select")) chooseOption(target, key);
  // Only execCommand preserves the browser's own undo, maxlength and input events.
  else if (isTyping(target)) { if (!target.readOnly && !target.disabled) document.execCommand("insertText", false, key); }
  else if (key === " " && target.matches("button, summary, input")) target.click();
}

let typed = "", typedAt = 0;
/** Chooses an option by its first letters, as a browser does. */
function chooseOption(select, key) {
  typed = performance.now() - typedAt < 1000 ? typed + key : key;
  typedAt = performance.now();
  const fits = (option) => !option.disabled && option.text.trim().toLowerCase().startsWith(typed.toLowerCase());
  const option = [...select.options].find(fits);
  if (!option || option.selected) return;
  select.value = option.value;
  for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
}

addEventListener("keydown", handleKey, { capture: true });
addEventListener("input", mutePicker, { capture: true });
addEventListener("change", mutePicker, { capture: true });
addEventListener("pointerdown", settle, { capture: true });
addEventListener("blur", settle);

// Scanned codes and typed numbers go to the station one after the other. One that the station could not accept is kept,
// even after the tab is closed, and sent again. If one is sent twice, by two tabs or because an answer was lost, it is
// captured once.

/** The callers that wait for the first outcome of a typed number, by its id. */
const waiting = new Map();
/** The delays before the next tries, in seconds. */
const waits = [1, 2, 5, 15, 30];
let sending = null, failures = 0, retry = 0, isShown = false;

function capture(code) {
  // If a field for an ISBN has the focus, the code goes into that field.
  const field = document.activeElement;
  if (field?.matches("[data-takes-number]")) {
    field.value = code;
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
    return;
  }
  keep("numbers", { id: makeRequestID(), code, origin: "scanner" }).then(send);
}

/**
 * Captures a number that a person has typed. Returns { row } once it is captured, { refusal } if it is not a book's, and
 * {} if the station cannot accept it now, so that it is kept and sent again, or if another tab has sent it.
 */
export async function captureTyped(code) {
  const id = makeRequestID();
  await keep("numbers", { id, code, origin: "typed" });
  return new Promise((resolve) => { waiting.set(id, resolve); send(); });
}

function send() {
  clearTimeout(retry);
  sending ??= sendNumbers().finally(() => { sending = null; });
}

async function sendNumbers() {
  for (let [number] = await listKept("numbers"); number; [number] = await listKept("numbers")) {
    let news;
    try {
      news = await sendNumber(number);
    } catch (error) {
      return keepTrying(number.code, error instanceof Refusal);
    }
    failures = 0;
    // Another tab, or the service worker, may already have sent this code.
    const isMine = await forget("numbers", number.id), resolve = waiting.get(number.id);
    waiting.delete(number.id);
    if (resolve) resolve(news);
    else if (isMine && (news.row || news.refusal !== undefined)) announce(news);
  }
  // Another tab has sent the others, and shows what became of them.
  releaseWaiting();
}

function releaseWaiting() {
  for (const resolve of waiting.values()) resolve({});
  waiting.clear();
}

/** Tries again later. The station did not answer, or it answered that it could not accept the code. */
function keepTrying(code, isAnswered) {
  if (failures === 0) toast(text(isAnswered ? "scannedBusy" : "scannedKept", { code }), { isError: true });
  showKept();
  releaseWaiting();
  askForDelivery();
  retry = setTimeout(send, waits[Math.min(failures, waits.length - 1)] * 1000);
  failures += 1;
}

async function showKept() {
  const { length: count } = await listKept("numbers");
  isShown = count > 0;
  showNotice("kept", count === 0 ? null : text(count === 1 ? "keptOne" : "keptMany", { count }));
}

/**
 * Announces a scanned code. The Scan page shows it in its own way, and every other page shows a toast that links to the
 * Scan page.
 */
function announce(news) {
  if (!document.dispatchEvent(new CustomEvent("scanned", { detail: news, cancelable: true }))) return;
  if (news.refusal) return toast(text("scannedRefused", { code: news.code, reason: news.refusal }), { isError: true });
  const title = news.row.title ?? news.row.hyphenated;
  toast(text(news.row.look === "owned" ? "scannedOwned" : "scanned", { title }), { link: ["/scan", text("scannedOpen")] });
}

on("hello", send);
// When another tab has sent a code, this tab stops showing it as waiting.
onKept("numbers", () => { if (isShown) showKept(); });
document.addEventListener("restarted", (event) => { if (isAtRisk()) event.preventDefault(); });
addEventListener("beforeunload", (event) => { if (isAtRisk()) event.preventDefault(); });

/** Moves what an earlier version of the pages has kept in another place. */
async function moveOld() {
  const store = "bookplate.kept.", typedMark = ".typed";
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith(store))) {
    const isTyped = key.endsWith(typedMark), id = key.slice(store.length, isTyped ? -typedMark.length : undefined);
    const isMoved = await keep("numbers", { id, code: localStorage.getItem(key), origin: isTyped ? "typed" : "scanner" });
    if (isMoved) localStorage.removeItem(key);
  }
  send();
}
moveOld();
