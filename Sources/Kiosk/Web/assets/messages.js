// Messages to the person, which are toasts and notices. Toasts disappear, and notices stay below the head until they no
// longer apply.

import { text } from "./texts.js";

const head = document.querySelector(".bar"), toasts = document.getElementById("toasts"), news = document.getElementById("news");
/** The time for which a toast is shown, and the longer time for a toast that reports an error, in milliseconds. */
const toastTime = 7000, errorTime = 12000;

/**
 * Shows a toast. It replaces earlier toasts that do not report an error.
 *
 * - change: the id of a change. The toast then has an Undo button, which acts.js handles.
 * - redo: the id of an undone change. The toast then has a Redo button.
 * - link: [address, label].
 * - button: [label, action].
 */
export function toast(message, { change, redo, isError, link, button: offer } = {}) {
  const line = document.createElement("div");
  line.className = isError ? "toast is-error" : "toast";
  const span = document.createElement("span");
  span.textContent = message;
  // A touch on the text closes the toast, which may cover what a person wants to touch next.
  span.addEventListener("click", () => { if (!line.matches(".is-whole")) line.remove(); });
  line.append(span);
  if (link) {
    const anchor = document.createElement("a");
    [anchor.href, anchor.textContent] = link;
    line.append(anchor);
  }
  if (offer) {
    const act = document.createElement("button");
    act.textContent = offer[0];
    act.addEventListener("click", () => { line.remove(); offer[1](); });
    line.append(act);
  }
  const button = document.createElement("button");
  button.textContent = text(change ? "undo" : redo ? "redo" : "close");
  if (change) [button.dataset.key, button.dataset.undo, line.dataset.change] = ["u", change, change];
  if (redo) button.dataset.redo = redo;
  button.addEventListener("click", () => line.remove());
  line.append(button);
  // The toast is shown over an open dialog, because nothing below the dialog can be pressed.
  ([...document.querySelectorAll("dialog[open]")].at(-1) ?? head).append(toasts);
  if (!isError) for (const older of toasts.querySelectorAll(".toast:not(.is-error)")) older.remove();
  toasts.append(line);
  while (toasts.children.length > 3) toasts.firstChild.remove();
  const timer = setTimeout(() => line.remove(), isError ? errorTime : toastTime);
  if (isCut(span)) offerRest(line, timer);
  return line;
}
document.addEventListener("close", () => head.append(toasts), { capture: true });

/** Shows the outcome of an act: that it is done, with an Undo button, or that it changed nothing. */
export function toastOutcome(message, answer) {
  toast(answer?.change === null ? text("unchanged") : message, { change: answer?.change });
}

const isCut = (span) => span.scrollHeight > span.clientHeight + 1;

/** Adds a button that shows the rest of a long line. The toast then stays until it is closed. */
function offerRest(line, timer) {
  const span = line.firstElementChild, more = document.createElement("button");
  line.classList.add("is-long");
  // In this layout, the whole line may fit.
  if (!isCut(span)) return;
  more.textContent = text("more");
  more.addEventListener("click", () => {
    clearTimeout(timer);
    line.classList.add("is-whole");
    // With the focus, text that is longer than the screen can be scrolled with the arrow keys.
    span.tabIndex = 0;
    span.focus();
    more.remove();
  });
  line.append(more);
}

/** Removes the toast that offers to undo a change. */
export function removeUndo(change) { toasts.querySelector(`[data-change="${CSS.escape(change)}"]`)?.remove(); }

/**
 * Shows a notice below the head, or removes it if there is no message. There is one notice per name.
 *
 * - buttons: [label, action] for each button.
 */
export function showNotice(name, message, ...buttons) {
  const old = [...news.children].find((line) => line.dataset.name === name);
  if (message && old?.firstElementChild.textContent === message) return;
  if (message) {
    const line = document.createElement("span"), span = document.createElement("span");
    line.dataset.name = name;
    span.textContent = message;
    line.append(span, ...buttons.map(([label, action]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", action);
      return button;
    }));
    if (old) old.replaceWith(line); else news.append(line);
  } else old?.remove();
  news.hidden = news.childElementCount === 0;
}

// A message that is shown on the next page.

const store = "bookplate.message";

/** Keeps a message for the page that is opened next. */
export function keepMessage(message, change) { sessionStorage.setItem(store, JSON.stringify([message, change])); }

const kept = sessionStorage.getItem(store);
sessionStorage.removeItem(store);

/** Shows the message that the previous page kept for this one. */
export function showKeptMessage() {
  if (!kept) return;
  const [message, change] = JSON.parse(kept);
  toast(message, { change });
}
