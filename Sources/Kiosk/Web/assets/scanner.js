// Handheld scanners are keyboards: they type a number wherever the focus is, and most end it with Enter or Tab.
// Characters are held back until it is clear what they are. A number goes to the station; anything else goes, in order,
// to where it was typed.

import { on } from "./events.js";
import { showNotice, toast } from "./messages.js";
import { callAPI, makeRequestID, Refusal } from "./requests.js";
import { text } from "./texts.js";

/** Milliseconds between two keys: a shorter interval means a scanner. */
const gap = 50;
/**
 * Milliseconds: outside fields, digits with shorter intervals belong together, since some scanners are slower than
 * people.
 */
const pause = 300;
/**
 * Milliseconds after a number in which Enter is the scanner's second one, or was meant for what the page showed before.
 */
const quiet = 400;
/** The fewest characters of a burst, and the most that are held back. */
const least = 8, most = 4096;

let held = [], last = -Infinity, timer = 0, picker = null, isField = false, isFast = true;
let quietUntil = -Infinity, digitAt = -Infinity;
/** The keys that were held back and are now passed on. */
const passedOn = new WeakSet();

const untyped = ["checkbox", "radio", "button", "submit", "reset", "range", "file", "image"].map((type) => `[type=${type}]`);
/** Returns whether a person who has the focus in this element is typing. */
export function isTyping(element) {
  return element?.isContentEditable || element?.matches(`textarea, select, input:not(${untyped.join()})`);
}

// The browser's own pickers accept only keys of a person. Keys go in at once, and after a burst the field gets its
// value back.
const pickers = ["date", "month", "week", "time", "datetime-local", "color"].map((type) => `input[type=${type}]`);
const isPicker = (element) => element?.matches(pickers.join());

/**
 * Returns "right", "wrong", "short", or "" for no digits yet (GS1 General Specifications 7.9; ISBN Users' Manual 5.5).
 */
export function checkNumber(number) {
  if (number === "") return "";
  if (/^\d{9}[\dX]$/.test(number)) {
    const sum = [...number].reduce((sum, digit, at) => sum + (digit === "X" ? 10 : Number(digit)) * (10 - at), 0);
    if (sum % 11 === 0) return "right";
    // Perhaps the first ten digits of a longer number.
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
/** Returns whether the text has only digits and hyphens, and perhaps an X in the tenth place. */
const isRun = (text) => /^\d(-?\d)*-?$/.test(text) || /^(\d-?){9}[Xx]$/.test(text);
const isNumber = (text) => isRun(text) && checkNumber(text.toUpperCase().replaceAll("-", "")) === "right";

/** Blocks Enter for a moment, because it would no longer do what the person saw when they pressed it. */
export function blockEnter() { quietUntil = Math.max(quietUntil, performance.now() + quiet); }

function handleKey(event) {
  if (passedOn.has(event) || !event.isTrusted) return;
  if (["Shift", "AltGraph", "Alt", "Control", "Meta", "CapsLock", "NumLock"].includes(event.key)) return;
  const since = event.timeStamp - last, isEnd = event.key === "Enter" || event.key === "Tab";
  if (held.length > 0 && since >= (isSlow() ? pause : gap)) settle();
  if (isEnd && held.length === 0 && event.timeStamp < quietUntil - (event.key === "Tab" ? 100 : 0)) return stop(event);
  if (isEnd && held.length > 0) {
    const text = readHeld(), isBurst = held.length >= least && isFast && since < gap;
    if (isBurst && (event.key === "Enter" || isNumber(text)) || !isField && isNumber(text)) {
      stop(event);
      return captureHeld(event.timeStamp);
    }
    // After digits that are no number, Enter confirms nothing.
    if (isSlow() && event.key === "Enter") stop(event);
    return settle();
  }
  // No burst begins with a space; a person's space goes to the focused button.
  if (!isCharacter(event) || (event.key === " " && held.length === 0)) return settle();
  // A letter some time after digits does not belong to them.
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
  // A little longer than the gap: keys that wait while the page is busy carry their own time and are handled before the
  // timer.
  timer = setTimeout(settle, (isSlow() ? pause : gap) + 10);
  if (held.length >= most) settle();
}

/** Returns whether the next key has the longer time. */
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
 * Decides about keys that ended without Enter or Tab: a number, digits that are no number, or keys for the focused
 * element.
 */
function settle() {
  if (held.length === 0) return;
  const text = readHeld();
  if (isSlow()) {
    if (isNumber(text)) return captureHeld(performance.now());
    const isAlone = held.length === 1 && last - digitAt >= pause;
    digitAt = last;
    if (!isAlone) quietUntil = last + quiet;
    // The Scan page puts them into its keypad. On other pages the station explains what is wrong with a number, and
    // only a single digit can be a shortcut.
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

/** Mutes a picker's events until it is clear whose keys these are. */
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
  // Only execCommand keeps the browser's own undo, maxlength and input events.
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

// Scanned codes go to the station one after the other. A code that the station could not accept is kept, even after the
// tab is closed, and sent again. Each code has an entry and a request id of its own: sent twice, because an answer was
// lost or by two tabs, it is captured once.

const store = "bookplate.kept.";
/** Seconds until the next try. */
const waits = [2, 5, 15, 30];
const listKept = () => Object.keys(localStorage).filter((key) => key.startsWith(store)).sort();
let sending = null, failures = 0, retry = 0, isShown = false;

function capture(code) {
  // A focused field for an ISBN takes the code itself.
  const field = document.activeElement;
  if (field?.matches("[data-takes-number]")) {
    field.value = code;
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
    return;
  }
  localStorage.setItem(store + makeRequestID(), code);
  send();
}

function send() {
  clearTimeout(retry);
  sending ??= sendKept().finally(() => { sending = null; });
}

async function sendKept() {
  for (let [key] = listKept(); key; [key] = listKept()) {
    const code = localStorage.getItem(key);
    let news;
    try {
      const request = key.slice(store.length);
      const { row } = await callAPI("POST", "/api/station/captures", { text: code, origin: "scanner", request });
      news = { row, code };
    } catch (error) {
      const isAnswered = error instanceof Refusal;
      if (!isAnswered || error.status >= 500 || [401, 403, 408, 429].includes(error.status)) return keepTrying(code, isAnswered);
      news = { refusal: error.message, code };
    }
    failures = 0;
    // Another tab may have sent it first, and shown it.
    const isMine = localStorage.getItem(key) !== null;
    localStorage.removeItem(key);
    if (isShown) showKept();
    if (isMine) announce(news);
  }
}

/** Tries again later. The station has answered, but could not accept the code, or has not answered. */
function keepTrying(code, isAnswered) {
  if (failures === 0) toast(text(isAnswered ? "scannedBusy" : "scannedKept", { code }), { isTrouble: true });
  showKept();
  retry = setTimeout(send, waits[Math.min(failures, waits.length - 1)] * 1000);
  failures += 1;
}

function showKept() {
  const count = listKept().length;
  isShown = count > 0;
  showNotice("kept", count === 0 ? null : text(count === 1 ? "keptOne" : "keptMany", { count }));
}

/** Announces a scanned code: the Scan page shows it in its own way, every other page with a toast that links there. */
function announce(news) {
  if (!document.dispatchEvent(new CustomEvent("scanned", { detail: news, cancelable: true }))) return;
  if (news.refusal) return toast(text("scannedRefused", { code: news.code, reason: news.refusal }), { isTrouble: true });
  const title = news.row.title ?? news.row.hyphenated;
  toast(text(news.row.look === "owned" ? "scannedOwned" : "scanned", { title }), { link: ["/scan", text("scannedOpen")] });
}

on("hello", () => { if (listKept().length > 0) send(); });
// A code that another tab has sent no longer waits.
addEventListener("storage", (event) => { if (isShown && event.key?.startsWith(store)) showKept(); });
