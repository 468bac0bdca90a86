// The reading history: sessions told afterwards, and sessions and entries put right. What the person's clock shows becomes an instant here.

import { ask, attempt, refresh, toast } from "./app.js";
import { local } from "./fields.js";
import { acting, number } from "./book-acts.js";

const field = (id) => document.getElementById(id);

/** Tells what was done, and puts the focus back where it was; where that is gone, on the reading that it was of. */
async function done(words, answer, opener) {
  const fold = opener?.closest("details")?.id;
  if (answer?.change) toast(words, { change: answer.change });
  await refresh();
  if (document.activeElement === document.body) document.querySelector(`#${fold} summary, #add-session`)?.focus();
}

// Sessions.

const sessions = field("session-sheet"), session = field("session-form");
const [start, minutes, first, last, drop] = ["start", "minutes", "first", "last", "delete"].map((name) => field(`session-${name}`));
let edited = null, opener = null;

function openSession(known) {
  edited = known;
  field("session-sheet-title").textContent = edited ? session.dataset.editTitle : session.dataset.add;
  start.value = local(edited ? new Date(edited.began) : new Date(Date.now() - 30 * 60000));
  minutes.value = edited?.minutes ?? 30;
  first.value = edited?.first ?? "";
  last.value = edited?.last ?? "";
  drop.hidden = !edited;
  session.querySelector(".wrong").hidden = true;
  sessions.showModal();
}

session.addEventListener("submit", async (event) => {
  event.preventDefault();
  const page = (input) => input.value === "" ? null : Number(input.value);
  const body = { startPage: page(first), endPage: page(last) };
  // Times that were not touched stay to the second.
  if (!edited || start.value !== local(new Date(edited.began)) || minutes.value !== edited.minutes) {
    body.start = new Date(start.value).toISOString();
    body.minutes = Number(minutes.value);
  }
  let answer;
  const worked = await acting(session, async () => {
    answer = await ask(edited ? "PATCH" : "POST", edited ? `/api/sessions/${edited.session}` : session.dataset.past, body);
  });
  if (!worked) return;
  sessions.close();
  await done(edited ? session.dataset.edited : session.dataset.added, answer, opener);
});
drop.addEventListener("click", async () => {
  let answer;
  if (!await acting(session, async () => { answer = await ask("DELETE", `/api/sessions/${edited.session}`); })) return;
  sessions.close();
  await done(session.dataset.deleted, answer, opener);
});

/** Opens the sheet for what a button with data-session or data-entry says. */
export function open(button) {
  opener = button;
  if ("entry" in button.dataset) openEntry({ ...button.dataset }); else openSession(button.dataset.session ? { ...button.dataset } : null);
}

// Entries. A page that a session ended on is the session's, and put right there.

const sheet = field("entry-sheet"), form = field("entry-form"), amount = field("entry-amount"), at = field("entry-at");
const unit = () => form.elements.unit.value;
let entry = null;

function openEntry(known) {
  entry = known;
  if (entry.ofSession) {
    attempt(async () => {
      const known = await ask("GET", `/api/sessions/${entry.ofSession}`);
      openSession({ session: known.id, began: known.start, minutes: String(known.minutes), first: known.startPage, last: known.endPage ?? "" });
    });
    return;
  }
  form.elements.unit.value = entry.percent ? "percent" : "page";
  amount.value = entry.page || entry.percent;
  at.value = local(new Date(entry.at));
  // No later than now, or than it was said to be.
  at.max = local(new Date(Math.max(Date.now() + 60000, Date.parse(entry.at))));
  form.querySelector(".wrong").hidden = true;
  sheet.showModal();
  amount.focus();
  amount.select();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = {}, said = number(amount);
  if (unit() !== (entry.percent ? "percent" : "page") || said !== Number(entry.page || entry.percent)) body[unit()] = said;
  // A time that was not touched stays to the second.
  if (at.value !== local(new Date(entry.at))) body.at = new Date(at.value).toISOString();
  let answer;
  if (!await acting(form, async () => { answer = await ask("PATCH", form.dataset.path + entry.entry, body); })) return;
  sheet.close();
  await done(form.dataset.edited, answer, opener);
});
field("entry-delete").addEventListener("click", async () => {
  let answer;
  if (!await acting(form, async () => { answer = await ask("DELETE", form.dataset.path + entry.entry); })) return;
  sheet.close();
  await done(form.dataset.deleted, answer, opener);
});
