// Add and edit a book: saving, errors at their field, nothing typed is lost.
import { ask, Refusal, report, text, toast } from "./app.js";
import { withSeen } from "./fields.js";
import { clearWrong, days, draft, fill, form, putBack, takeTyped, values, wrong } from "./form-fields.js";
import { lookUp } from "./form-number.js";

const words = document.getElementById("words").dataset, trouble = document.getElementById("trouble");
const id = form.dataset.id;

let before = values(), isSaved = false;
/** What another screen has said meanwhile, as far as the person was told. */
const told = new Map();
const differing = (now) => Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(before[key]));
let isChanged = false;
function compare() { isChanged = differing(values()).length > 0 || [...document.querySelectorAll(".names-field input")].some((field) => field.value.trim()); }
form.addEventListener("input", (event) => { compare(); clearWrong(event.target); });
form.addEventListener("change", compare);
addEventListener("beforeunload", (event) => { if (isChanged && !isSaved && id) event.preventDefault(); });
document.addEventListener("restarted", (event) => { if (isChanged && !isSaved) event.preventDefault(); });

// A book that is being added outlives the way to another page and back: it is offered again until it is saved or dropped.

const store = "bookplate.add";
function keepDraft() {
  if (id || isSaved) return;
  if (isChanged) sessionStorage.setItem(store, JSON.stringify(draft()));
  else if (!offered) sessionStorage.removeItem(store);
}
let offered = id ? null : JSON.parse(sessionStorage.getItem(store) ?? "null");
function answer(isWanted) {
  if (isWanted) { putBack(offered); compare(); } else sessionStorage.removeItem(store);
  offered = null;
  report("draft");
  form.elements.title.focus();
}
if (offered) {
  report("draft", text("draftKept", { title: offered.fields.title || offered.fields.isbnText || "…" }),
    [text("draftTake"), () => answer(true)], [text("draftDrop"), () => answer(false)]);
}
for (const name of ["input", "change"]) {
  form.addEventListener(name, () => {
    compare();
    // Who begins another book has answered.
    if (offered && isChanged) { offered = null; report("draft"); }
    keepDraft();
  });
}

// What cannot be is said at its field.

function check() {
  trouble.hidden = true;
  const found = [];
  for (const field of form.elements) {
    if (!field.name || field.closest("[data-for]")?.hidden) continue;
    clearWrong(field);
    const text = field.value.trim();
    if (field.required && !text) found.push(wrong(field.name, words.required));
    else if ("day" in field.dataset && text && !/^\d{4}(-\d\d(-\d\d)?)?$/.test(text)) found.push(wrong(field.name, words.day));
    else if (field.type === "number" && !field.validity.valid) found.push(wrong(field.name, fill("number", { min: field.min, max: Number(field.max).toLocaleString() })));
    else if (field.type === "url" && text && !/^https?:\/\/[^\s/]/i.test(text)) found.push(wrong(field.name, words.link));
  }
  const first = found.find(Boolean);
  first?.focus();
  return !first;
}

async function save() {
  for (const box of document.querySelectorAll(".names-field")) takeTyped(box);
  if (!check()) return;
  const now = values(), button = form.querySelector(".save .primary");
  button.disabled = true;
  try {
    let book;
    if (id) {
      const keys = differing(now), edit = {}, dates = {};
      for (const key of keys) {
        if (!days.includes(key)) edit[key] = now[key];
        // A date that the status has no place for is none of the form's.
        else if (!form.elements[key].closest("[data-for]").hidden) dates[key] = now[key];
      }
      const was = Object.fromEntries(Object.keys(edit).map((key) => [key, told.has(key) ? told.get(key) : before[key]]));
      if (Object.keys(edit).length) book = await ask("PATCH", `/api/books/${encodeURIComponent(id)}`, withSeen(edit, was));
      // What is stored by now is no change of the form any more, should the dates be refused.
      for (const key of Object.keys(edit)) before[key] = now[key];
      if (Object.keys(dates).length) await ask("PUT", `/api/books/${encodeURIComponent(id)}/dates`, dates);
    } else {
      book = await ask("POST", "/api/books", { ...now, request: form.dataset.request, anotherCopy: form.elements.anotherCopy.checked });
    }
    isSaved = true;
    if (!id) sessionStorage.removeItem(store);
    sessionStorage.setItem("bookplate.told", JSON.stringify([words.saved, book?.change]));
    location.assign(`/books/${encodeURIComponent(book?.id ?? id)}`);
  } catch (error) {
    if (!(error instanceof Refusal)) { toast(text("lost"), { isTrouble: true }); return; }
    if (error.code === "owned") {
      await lookUp({ again: true });
      if (document.getElementById("owned").hidden) { wrong("", error.message); return; }
      document.getElementById("owned").scrollIntoView({ block: "center" });
      form.elements.anotherCopy.focus();
      return;
    }
    const [kind, name] = error.code?.split(".") ?? [];
    // What the person was told of is meant to be replaced.
    if (kind === "changed") told.set(name, error.now);
    wrong(["field", "changed"].includes(kind) ? name : "", error.message)?.focus();
  } finally {
    button.disabled = false;
  }
}
form.addEventListener("submit", (event) => { event.preventDefault(); if (!form.querySelector(".save .primary").disabled) save(); });

