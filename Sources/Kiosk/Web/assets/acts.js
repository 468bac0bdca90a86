// Acts are what a person does on a page. They are sent to the service, and toasts show their failures and results.
//
// Acts that need no script of their own are written in the page: <button data-act="POST /api/…" data-body='{"…"}'
// data-done="Saved"> and <form data-act="PATCH /api/…">, whose named fields are sent as JSON. data-done is the message
// that is shown on success.

import { refresh } from "./live.js";
import { removeUndo, toast, toastOutcome } from "./messages.js";
import { callAPI, makeRequestID, Refusal, showProgress } from "./requests.js";
import { text } from "./texts.js";

/** Does the work, and shows a toast if it fails, which onFailure receives. Returns true if it succeeded. */
export async function attempt(work, onFailure = () => {}) {
  try {
    await showProgress(work);
    return true;
  } catch (error) {
    onFailure(toast(describeFailure(error), { isError: true }));
    return false;
  }
}

/** Returns the message for a person about an error that callAPI threw. */
export function describeFailure(error) { return error instanceof Refusal ? error.message : text("lost"); }

function undo(change) {
  return attempt(async () => {
    await callAPI("POST", "/api/undo", { change });
    showUndone(change);
    await refresh();
  });
}

function redo(change) {
  return attempt(async () => {
    await callAPI("POST", "/api/redo", { change });
    toast(text("redone"), { change });
    await refresh();
  });
}

function showUndone(change) {
  removeUndo(change);
  toast(text("undone"), { redo: change });
}

/**
 * Returns a form's fields as JSON, with numbers from number fields, booleans from check boxes, and null for empty
 * fields.
 */
function readFields(form) {
  const result = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled) continue;
    if (field.type === "radio") { if (field.checked) result[field.name] = field.value || null; continue; }
    let value = field.value.trim() === "" ? null : field.value;
    if (field.type === "checkbox") value = field.checked;
    else if (field.type === "number" && value !== null) value = Number(value);
    result[field.name] = value;
  }
  return result;
}

/** The toasts about the last failures of elements. */
const failures = new WeakMap();

/** Does the act that the element stands for. Returns true if it succeeded. A dialog is closed with the value "done". */
export async function act(element, body, [method, path] = element.dataset.act.split(" ")) {
  // A second press while the act runs is ignored.
  if (element.hasAttribute("aria-busy")) return false;
  element.setAttribute("aria-busy", "true");
  failures.get(element)?.remove();
  // The act has a request id, so that it is done only once even if it is repeated because its answer was lost.
  if ("once" in element.dataset) body = { ...body, request: element.dataset.once ||= makeRequestID() };
  const succeeded = await attempt(async () => {
    const answer = await callAPI(method, path, body);
    if (element.dataset.once) element.dataset.once = "";
    // What is saved is no longer a draft.
    if (element.matches("dialog form")) element.reset();
    element.closest("dialog")?.close("done");
    if (path.endsWith("/undo") && body?.change) showUndone(body.change);
    else if (path.endsWith("/redo")) toast(text("redone"), { change: body.change });
    else if (element.dataset.done) toastOutcome(element.dataset.done, answer);
    await refresh();
  }, (line) => failures.set(element, line));
  element.removeAttribute("aria-busy");
  return succeeded;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (button) act(button, button.dataset.body === undefined ? {} : JSON.parse(button.dataset.body));
  const undoButton = event.target.closest("[data-undo]");
  if (undoButton) undo(undoButton.dataset.undo);
  const redoButton = event.target.closest("[data-redo]");
  if (redoButton) redo(redoButton.dataset.redo);
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens)?.showModal();
  const dialog = event.target.closest("[data-closes]") && event.target.closest("dialog");
  // Cancel restores the earlier values. Esc only closes the dialog, so the text that was typed is still there when it
  // is opened again.
  if (dialog) { dialog.querySelector("form[data-act]")?.reset(); dialog.close(); }
});

// In fields where Enter begins a new line, Control-Enter saves.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
  if (!event.target.matches("dialog textarea")) return;
  event.preventDefault();
  event.target.form?.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-act]");
  if (!form) return;
  event.preventDefault();
  act(form, readFields(form));
});
