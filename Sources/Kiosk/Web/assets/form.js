// The form that adds or edits a book. Errors are shown beside their fields, and nothing that was typed is lost.

import { describeFailure } from "./acts.js";
import { addSeen } from "./fields.js";
import { addTyped, clearError, dates, form, pageText, readDraft, readForm, restoreDraft, showError } from "./form-fields.js";
import { lookUp } from "./form-number.js";
import { keepMessage, showNotice, toast } from "./messages.js";
import { callAPI, Refusal } from "./requests.js";
import { text } from "./texts.js";

const texts = document.getElementById("page-texts").dataset, formError = document.getElementById("form-error");
const id = form.dataset.id;

let before = readForm(), isSaved = false, isChanged = false;
/** The current values that were changed elsewhere while the person was editing, and that the person has now seen. */
const seen = new Map();
const listChanges = (now) => Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(before[key]));
function compare() {
  const isTyped = [...document.querySelectorAll(".names-field input")].some((field) => field.value.trim());
  isChanged = listChanges(readForm()).length > 0 || isTyped;
}
form.addEventListener("input", (event) => { compare(); clearError(event.target); });
form.addEventListener("change", compare);
addEventListener("beforeunload", (event) => { if (isChanged && !isSaved && id) event.preventDefault(); });
document.addEventListener("restarted", (event) => { if (isChanged && !isSaved) event.preventDefault(); });

// The draft of a book that is being added is kept when the person goes to another page. It is offered again until the
// book is saved or the draft is deleted.

const store = "bookplate.add";
function keepDraft() {
  if (id || isSaved) return;
  if (isChanged) sessionStorage.setItem(store, JSON.stringify(readDraft()));
  else if (!offered) sessionStorage.removeItem(store);
}
let offered = id ? null : JSON.parse(sessionStorage.getItem(store) ?? "null");
function answerOffer(isWanted) {
  if (isWanted) { restoreDraft(offered); compare(); } else sessionStorage.removeItem(store);
  offered = null;
  showNotice("draft");
  form.elements.title.focus();
}
if (offered) {
  showNotice("draft", text("draftKept", { title: offered.fields.title || offered.fields.isbnText || "…" }),
    [text("draftTake"), () => answerOffer(true)], [text("draftDrop"), () => answerOffer(false)]);
}
for (const name of ["input", "change"]) {
  form.addEventListener(name, () => {
    compare();
    // A person who begins to enter another book does not need the draft.
    if (offered && isChanged) { offered = null; showNotice("draft"); }
    keepDraft();
  });
}

/** Checks all fields, and shows the errors. Returns true if there are none. */
function check() {
  formError.hidden = true;
  const found = [];
  for (const field of form.elements) {
    if (!field.name || field.closest("[data-for]")?.hidden) continue;
    clearError(field);
    const text = field.value.trim();
    if (field.required && !text) found.push(showError(field.name, texts.required));
    else if ("day" in field.dataset && text && !/^\d{4}(-\d\d(-\d\d)?)?$/.test(text)) found.push(showError(field.name, texts.day));
    else if (field.type === "number" && !field.validity.valid) {
      found.push(showError(field.name, pageText("number", { min: field.min, max: Number(field.max).toLocaleString() })));
    }
    else if (field.type === "url" && text && !/^https?:\/\/[^\s/]/i.test(text)) found.push(showError(field.name, texts.link));
  }
  const first = found.find(Boolean);
  first?.focus();
  return !first;
}

async function save() {
  for (const box of document.querySelectorAll(".names-field")) addTyped(box);
  if (!check()) return;
  const now = readForm(), button = form.querySelector(".save .primary");
  button.disabled = true;
  try {
    let book;
    if (id) {
      const keys = listChanges(now), edit = {}, newDates = {};
      for (const key of keys) {
        if (!dates.includes(key)) edit[key] = now[key];
        // A hidden date does not fit the status, so it stays as it is.
        else if (!form.elements[key].closest("[data-for]").hidden) newDates[key] = now[key];
      }
      const was = Object.fromEntries(Object.keys(edit).map((key) => [key, seen.has(key) ? seen.get(key) : before[key]]));
      if (Object.keys(edit).length) book = await callAPI("PATCH", `/api/books/${encodeURIComponent(id)}`, addSeen(edit, was));
      // These values are now stored, even if the dates are refused.
      for (const key of Object.keys(edit)) before[key] = now[key];
      if (Object.keys(newDates).length) await callAPI("PUT", `/api/books/${encodeURIComponent(id)}/dates`, newDates);
    } else {
      const { request } = form.dataset, anotherCopy = form.elements.anotherCopy.checked;
      book = await callAPI("POST", "/api/books", { ...now, request, anotherCopy });
    }
    isSaved = true;
    if (!id) sessionStorage.removeItem(store);
    keepMessage(texts.saved, book?.change);
    // The way back does not lead to a form that is done.
    location.replace(`/books/${encodeURIComponent(book?.id ?? id)}`);
  } catch (error) {
    if (!(error instanceof Refusal)) { toast(describeFailure(error), { isError: true }); return; }
    if (error.code === "owned") {
      await lookUp({ again: true });
      if (document.getElementById("owned").hidden) { showError("", error.message); return; }
      document.getElementById("owned").scrollIntoView({ block: "center" });
      form.elements.anotherCopy.focus();
      return;
    }
    const [kind, name] = error.code?.split(".") ?? [];
    // After the person has seen the current value, saving again replaces it.
    if (kind === "changed") seen.set(name, error.now);
    showError(["field", "changed"].includes(kind) ? name : "", error.message)?.focus();
  } finally {
    button.disabled = false;
  }
}
form.addEventListener("submit", (event) => { event.preventDefault(); if (!form.querySelector(".save .primary").disabled) save(); });
