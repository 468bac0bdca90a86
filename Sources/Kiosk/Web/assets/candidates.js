// Books that are not saved yet, on the Scan page and the Intake page: the form in which one is edited, and saving
// several at once.

import { attempt } from "./acts.js";
import "./fields.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { callAPI } from "./requests.js";
import { text } from "./texts.js";

// The form. It is not replaced while a person is using it.

/** Returns the form's fields as the service expects them. Authors are separated by semicolons. */
function readFields(form, value = "value") {
  const read = (name) => form.elements[name]?.[value].trim() ?? "";
  const pages = read("pageCount");
  return {
    title: read("title"), authors: read("authors").split(";").map((name) => name.trim()).filter(Boolean),
    subtitle: read("subtitle"), publisher: read("publisher"), publishedDate: read("publishedDate"),
    pageCount: pages === "" ? null : Number(pages),
  };
}

/** Returns the fields that the person has changed. */
function readChanges(form) {
  const now = readFields(form), then = readFields(form, "defaultValue");
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(then[name])));
}

// A draft survives when the page is reloaded, when the service restarts, and when the person looks at another row.

const store = "bookplate.draft.";
const dropDraft = (form) => sessionStorage.removeItem(store + form.dataset.row);
function keepDraft(form) { sessionStorage.setItem(store + form.dataset.row, JSON.stringify(Object.fromEntries(new FormData(form)))); }

function restoreDrafts() {
  for (const form of document.querySelectorAll("form.edit")) {
    const draft = JSON.parse(sessionStorage.getItem(store + form.dataset.row) ?? "null");
    if (!draft || "busy" in form.dataset) continue;
    openForm(form);
    for (const [name, value] of Object.entries(draft)) form.elements[name].value = value;
  }
}

/** Opens the form with all its fields. */
function openForm(form) {
  form.hidden = false;
  form.dataset.busy = "";
  for (const part of form.querySelectorAll(".rest")) part.hidden = false;
  form.scrollIntoView({ block: "nearest" });
  form.elements.title.focus();
  form.elements.title.select();
}

/** Closes the form without changing anything. */
async function cancelForm(form) {
  dropDraft(form);
  form.reset();
  delete form.dataset.busy;
  document.activeElement?.blur();
  form.hidden = true;
  await refresh();
  document.getElementById(form.closest("[data-row][id]")?.id)?.focus();
}

async function sendForm(form, isSaving) {
  const row = form.dataset.row, changes = readChanges(form);
  const succeeded = await attempt(async () => {
    if (Object.keys(changes).length > 0) await callAPI("PATCH", `/api/station/rows/${row}`, changes);
    // The form saves the book that it shows. Another button adds another copy.
    if (isSaving) await callAPI("POST", `/api/station/rows/${row}/save`, { anotherCopy: false });
  });
  if (!succeeded) return;
  dropDraft(form);
  delete form.dataset.busy;
  document.activeElement?.blur();
  await refresh();
}

document.addEventListener("click", ({ target }) => {
  const opener = target.closest("[data-edits]"), closer = target.closest("[data-closes-form]");
  if (opener) openForm(opener.closest("[data-row]").querySelector("form.edit"));
  if (closer) cancelForm(closer.closest("form"));
});
document.addEventListener("input", ({ target }) => {
  const form = target.closest("form.edit");
  if (!form) return;
  form.dataset.busy = "";
  keepDraft(form);
});
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form.edit");
  if (!form) return;
  event.preventDefault();
  sendForm(form, event.submitter?.name !== "keep");
});

restoreDrafts();
document.addEventListener("renewed", ({ target }) => { if (target.querySelector("form.edit")) restoreDrafts(); });

// Saving several books at once. The request has the ids of the books that the page showed, and a toast reports the
// books that are no longer there.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-saves]");
  if (!button || button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  const ids = JSON.parse(button.dataset.saves);
  await attempt(async () => {
    const { saved, owned, change } = await callAPI("POST", "/api/station/rows/save", { ids, anotherCopy: false });
    const message = [
      saved > 0 && text(saved === 1 ? "savedOne" : "savedMany", { count: saved }), owned > 0 && text("savedOwned", { count: owned }),
    ].filter(Boolean).join(" ");
    if (message) toast(message, { change });
    const announcement = document.getElementById("announcement");
    if (announcement && saved > 0) [announcement.textContent, announcement.dataset.of] = [message, change];
    if (saved + owned < ids.length) toast(text("savedGone", { count: ids.length - saved - owned }), { isError: true });
  });
  button.removeAttribute("aria-busy");
  await refresh();
});
