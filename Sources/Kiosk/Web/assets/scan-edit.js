// The form of a book that is not saved yet, on the Scan and the Intake page. While a person is at it, nothing takes its place.

import { ask, attempt, refresh } from "./app.js";
import "./fields.js";

/** Its fields as the service takes them; names of authors are parted by semicolons. */
function fields(form, value = "value") {
  const field = (name) => form.elements[name]?.[value].trim() ?? "";
  const pages = field("pageCount");
  return {
    title: field("title"), authors: field("authors").split(";").map((name) => name.trim()).filter(Boolean),
    subtitle: field("subtitle"), publisher: field("publisher"), publishedDate: field("publishedDate"),
    pageCount: pages === "" ? null : Number(pages),
  };
}

/** Only what is other than it was. */
function changes(form) {
  const now = fields(form), then = fields(form, "defaultValue");
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(then[name])));
}

// What is half typed outlives a reload, of the page or of the service, and a look at another row.

const store = "bookplate.draft.";
const dropDraft = (form) => sessionStorage.removeItem(store + form.dataset.row);
function keepDraft(form) { sessionStorage.setItem(store + form.dataset.row, JSON.stringify(Object.fromEntries(new FormData(form)))); }

function restoreDrafts() {
  for (const form of document.querySelectorAll("form.edit")) {
    const draft = JSON.parse(sessionStorage.getItem(store + form.dataset.row) ?? "null");
    if (!draft || "busy" in form.dataset) continue;
    open(form);
    for (const [name, value] of Object.entries(draft)) form.elements[name].value = value;
  }
}

/** Opens it with all its fields. */
function open(form) {
  form.hidden = false;
  form.dataset.busy = "";
  for (const part of form.querySelectorAll(".rest")) part.hidden = false;
  form.scrollIntoView({ block: "nearest" });
  form.elements.title.focus();
  form.elements.title.select();
}

/** Leaves it as it was. */
async function close(form) {
  dropDraft(form);
  form.reset();
  delete form.dataset.busy;
  document.activeElement?.blur();
  form.hidden = true;
  await refresh();
  document.getElementById(form.closest("[data-row][id]")?.id)?.focus();
}

async function send(form, isSaving) {
  const row = form.dataset.row, edit = changes(form);
  const worked = await attempt(async () => {
    if (Object.keys(edit).length > 0) await ask("PATCH", `/api/station/rows/${row}`, edit);
    // A tick or a form is a person's yes to what is there; another copy has a button of its own.
    if (isSaving) await ask("POST", `/api/station/rows/${row}/save`, { anotherCopy: false });
  });
  if (!worked) return;
  dropDraft(form);
  delete form.dataset.busy;
  document.activeElement?.blur();
  await refresh();
}

export function take(event) {
  const { target, type } = event, form = target.closest("form.edit");
  if (type === "click") {
    const opener = target.closest("[data-edits]"), closer = target.closest("[data-closes-form]");
    if (opener) open(opener.closest("[data-row]").querySelector("form.edit"));
    if (closer) close(closer.closest("form"));
  } else if (type === "input" && form) {
    form.dataset.busy = "";
    keepDraft(form);
  } else if (type === "submit" && form) {
    event.preventDefault();
    send(form, event.submitter?.name !== "keep");
  }
}
for (const name of ["click", "input", "submit"]) document.addEventListener(name, take);

restoreDrafts();
// Another row, or the same one again.
document.addEventListener("renewed", ({ target }) => { if (target.querySelector("form.edit")) restoreDrafts(); });
