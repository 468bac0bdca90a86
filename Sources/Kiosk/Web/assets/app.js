// What all pages share: asking the service, acts on buttons and forms, live regions, news, toasts.

const texts = JSON.parse(document.getElementById("texts").textContent);

/** A text of Web/texts/script.json, its {names} filled in. */
export function text(key, values = {}) {
  return (texts[key] ?? key).replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

/** Why the service did not do what was asked: its words for a person, and its code. */
export class Refusal extends Error {
  constructor(status, error) {
    super(error?.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = error?.code;
    /** What stands there now, where something else was expected. */
    this.now = error?.now;
  }
}

// What takes longer than a touch is felt shows that it goes on.

let underWay = 0, slow = 0;
export async function during(work) {
  if ((underWay += 1) === 1) slow = setTimeout(() => document.documentElement.toggleAttribute("data-acting", true), 300);
  try {
    return await work();
  } finally {
    if ((underWay -= 1) === 0) {
      clearTimeout(slow);
      document.documentElement.removeAttribute("data-acting");
    }
  }
}

/** Asks the service; gives the answer's JSON, null for none. Throws a Refusal, or TypeError when nobody answers. */
export function ask(method, ...rest) {
  return method === "GET" ? send(method, ...rest) : during(() => send(method, ...rest));
}

async function send(method, path, body, options = {}) {
  const isPlain = body !== undefined && !(body instanceof Blob);
  const answer = await fetch(path, {
    method, ...options,
    headers: isPlain ? { "Content-Type": "application/json" } : body instanceof Blob ? { "Content-Type": body.type } : {},
    body: isPlain ? JSON.stringify(body) : body,
  });
  const json = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : null;
  if (answer.status === 401 && location.pathname !== "/sign-in") location.assign("/sign-in?to=" + encodeURIComponent(location.pathname));
  if (!answer.ok) throw new Refusal(answer.status, json?.error);
  return json;
}

const head = document.querySelector(".bar"), toasts = document.getElementById("toasts");
document.addEventListener("close", () => head.append(toasts), { capture: true });

/** A line over the page, with Undo where there is a change to take back, and a link as [address, words]; in place of what went well before. */
export function toast(words, { change, isTrouble, link } = {}) {
  const line = document.createElement("div");
  line.className = isTrouble ? "toast is-trouble" : "toast";
  const span = document.createElement("span");
  span.textContent = words;
  line.append(span);
  if (link) {
    const way = document.createElement("a");
    [way.href, way.textContent] = link;
    line.append(way);
  }
  const button = document.createElement("button");
  button.textContent = change ? text("undo") : text("close");
  if (change) [button.dataset.key, line.dataset.change] = ["u", change];
  button.addEventListener("click", async () => {
    line.remove();
    if (change) await undo({ change });
  });
  line.append(button);
  // Above a sheet that is open: what lies under it cannot be pressed.
  ([...document.querySelectorAll("dialog[open]")].at(-1) ?? head).append(toasts);
  if (!isTrouble) for (const older of toasts.querySelectorAll(".toast:not(.is-trouble)")) older.remove();
  toasts.append(line);
  while (toasts.children.length > 3) toasts.firstChild.remove();
  const later = setTimeout(() => line.remove(), isTrouble ? 12000 : 7000);
  // Without the way to the rest of a long line its beginning is there.
  if (span.scrollHeight > span.clientHeight + 1) load("toast-long").then(({ shorten }) => shorten(line, later)).catch(() => {});
  return line;
}

/** What the page before has left to be told here: words, and a change. */
const told = sessionStorage.getItem("bookplate.told");
sessionStorage.removeItem("bookplate.told");

/** Takes a change back. */
export function undo(what) {
  return attempt(async () => { await ask("POST", "/api/undo", what); undone(what.change); toast(text("undone")); await refresh(); });
}

/** What is taken back is offered no more. */
function undone(change) { toasts.querySelector(`[data-change="${CSS.escape(change)}"]`)?.remove(); }

const tries = {};
/** A script for when somebody first turns to it. A browser may remember that it could not be had: the next try has another address. */
export async function load(name) {
  try {
    return await import(`./${name}.js${tries[name] ? "?" + tries[name] : ""}`);
  } catch (error) {
    tries[name] = (tries[name] ?? 0) + 1;
    throw error;
  }
}

/** Does it, and tells when it failed. Gives whether it worked. */
export async function attempt(work) {
  try {
    await during(work);
    return true;
  } catch (error) {
    toast(error instanceof Refusal ? error.message : text("lost"), { isTrouble: true });
    return false;
  }
}

// Live regions: elements with an id and data-live are taken anew from the page's own address when something changed. One
// that a person is in just now (data-busy, an open dialog, a field with the focus) waits for the next time.

function isBusy(element) {
  return element.querySelector("[data-busy], dialog[open]") || element.matches("[data-busy]")
    || (element.contains(document.activeElement) && document.activeElement.matches("input, textarea, select"));
}

let refreshing = null, isAsked = false;

/** Takes the live regions anew. Several calls at once come to one more. */
export async function refresh() {
  isAsked = refreshing !== null;
  // The next event, or the stream's return, takes anew what could not be taken now.
  refreshing ??= renew().catch(() => {}).finally(() => { refreshing = null; });
  return refreshing;
}

/** Finds what stands where an element stood: by its id, as the link to the same place, or as the same one of as many of its kind. */
function placeOf(element) {
  const { id } = element.closest("[id]");
  if (id === element.id) return () => document.getElementById(id);
  const href = element.getAttribute("href");
  if (href) return () => [...document.links].find((link) => link.getAttribute("href") === href && link.closest("[id]").id === id);
  const kin = () => [...document.getElementById(id)?.querySelectorAll(element.localName) ?? []];
  const all = kin(), place = all.indexOf(element);
  return () => { const now = kin(); return now.length === all.length ? now[place] : null; };
}

async function renew() {
  do {
    isAsked = false;
    // The address of each round: it is part of what a page shows.
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const now = fresh.getElementById(old.id);
      if (!now || old.outerHTML === now.outerHTML) continue;
      // Who holds it may see from what is there now that there is nothing to hold any more.
      if (isBusy(old) && (old.dispatchEvent(new CustomEvent("held", { bubbles: true, detail: now })), isBusy(old))) continue;
      const find = old.contains(document.activeElement) ? placeOf(document.activeElement) : null;
      old.replaceWith(document.adoptNode(now));
      find?.()?.focus();
      now.dispatchEvent(new CustomEvent("renewed", { bubbles: true }));
    }
  } while (isAsked);
}

/** A UUID that sorts by its time (RFC 9562, version 7); crypto.randomUUID is for https alone. */
export function requestID() {
  const hex = [...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const all = Date.now().toString(16).padStart(12, "0") + "7" + hex.slice(0, 3) + "8" + hex.slice(3, 18);
  return all.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// Acts in the page itself: <button data-act="POST /api/…" data-body='{"…"}' data-told="Saved"> and
// <form data-act="PATCH /api/…">, whose named fields become JSON. data-then: an address to go to.

/** A form's fields as JSON: numbers from number fields, lists from data-list, true and false from check boxes, null when empty. */
export function values(form) {
  const result = {};
  for (const field of form.elements) {
    if (!field.name || field.disabled) continue;
    if (field.type === "radio") { if (field.checked) result[field.name] = field.value || null; continue; }
    let value = field.value.trim() === "" ? null : field.value;
    if (field.type === "checkbox") value = field.checked;
    else if (field.type === "number" && value !== null) value = Number(value);
    else if ("list" in field.dataset) value = (value ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
    result[field.name] = value;
  }
  return result;
}

/** Does what the element stands for. Gives whether it worked. */
export async function act(element, body, [method, path] = element.dataset.act.split(" ")) {
  // Pressed twice is meant once.
  if (element.hasAttribute("aria-busy")) return false;
  element.setAttribute("aria-busy", "true");
  // Pressed again, because the answer was lost, it is done once.
  if ("once" in element.dataset) body = { ...body, request: element.dataset.once ||= requestID() };
  const worked = await attempt(async () => {
    const answer = await ask(method, path, body);
    if (element.dataset.once) element.dataset.once = "";
    // What is saved is no draft any more.
    if (element.matches("dialog form")) element.reset();
    element.closest("dialog")?.close();
    if (path.endsWith("/undo") && body?.change) undone(body.change);
    if (element.dataset.told) toast(element.dataset.told, { change: answer?.change });
    if (element.dataset.then) location.assign(element.dataset.then);
    else await refresh();
  });
  element.removeAttribute("aria-busy");
  return worked;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-act]");
  if (button) act(button, button.dataset.body === undefined ? {} : JSON.parse(button.dataset.body));
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens)?.showModal();
  const dialog = event.target.closest("[data-closes]") && event.target.closest("dialog");
  // Cancel leaves it as it was; Esc only shuts it, and what is typed is there when it is opened again.
  if (dialog) { dialog.querySelector("form[data-act]")?.reset(); dialog.close(); }
});

// Where Enter begins a new line, Control-Enter saves.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || !event.target.matches("dialog textarea")) return;
  event.preventDefault();
  event.target.form?.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-act]");
  if (!form) return;
  event.preventDefault();
  act(form, values(form));
});

// Events: one stream a page. What pages want to hear of they say with on(name, take).

const takers = new Map();
export function on(name, take) {
  takers.set(name, [...(takers.get(name) ?? []), take]);
  if (stream) listen(name);
  // Who comes late hears it, too: a stream says hello only once.
  if (name === "hello" && started !== null) take({ run: started });
}

let stream, started = null;
const heard = new Set();
function listen(name) {
  if (heard.has(name)) return;
  heard.add(name);
  stream.addEventListener(name, (event) => { for (const take of takers.get(name) ?? []) take(JSON.parse(event.data)); });
}

const news = document.getElementById("news");
/** A line under the head that stays: one for each name, with buttons as [words, act]. Without words it goes. */
export function report(name, words, ...buttons) {
  const old = [...news.children].find((line) => line.dataset.name === name);
  if (words && old?.firstElementChild.textContent === words) return;
  if (words) {
    const line = document.createElement("span"), span = document.createElement("span");
    line.dataset.name = name;
    span.textContent = words;
    line.append(span, ...buttons.map(([label, act]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = label;
      button.addEventListener("click", act);
      return button;
    }));
    if (old) old.replaceWith(line); else news.append(line);
  } else old?.remove();
  news.hidden = news.childElementCount === 0;
}

/** Asks for the page first: who may not see it any more is sent to where one signs in. */
async function again() {
  try {
    const answer = await fetch(location.href, { method: "HEAD" });
    if (answer.redirected) { location.assign(answer.url); return; }
  } catch { /* Nobody answers yet; the stream tries on. */ }
  heard.clear();
  connect();
}

function connect() {
  stream = new EventSource("/api/events");
  for (const name of takers.keys()) listen(name);
  // Whether the page hears of what changes.
  const connected = (is) => { document.body.toggleAttribute("data-connected", is); document.body.toggleAttribute("data-lost", !is); };
  stream.addEventListener("error", () => {
    connected(false);
    report("lost", text("lost"));
    // The browser tries again by itself, unless a proxy answered, or this sign-in has ended.
    if (stream.readyState === EventSource.CLOSED) setTimeout(again, 2000);
  });
  stream.addEventListener("open", () => { connected(true); report("lost"); if (started !== null) refresh(); });
}

// For a page that cannot be had the browser shows its own, from which nobody without an address bar finds back.
addEventListener("click", async (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || document.body.hasAttribute("data-connected") || started === null) return;
  event.preventDefault();
  try { await fetch("/healthz"); location.assign(link.href); } catch { toast(text("lost"), { isTrouble: true }); }
});

// The first event of a stream: which run of the service this is. Another one than before has perhaps other pages; who has
// something in hand that a reload would lose cancels "restarted", and reloads when that is done.
on("hello", ({ run, change }) => {
  if (started !== null && started !== run) {
    if (document.dispatchEvent(new Event("restarted", { cancelable: true }))) location.reload();
    else report("restarted", text("restarted"), [text("reload"), () => location.reload()]);
  }
  // What happened while the page was on its way here.
  if (started === null && String(change) !== document.body.dataset.madeAt) refresh();
  started = run;
});
on("library", () => refresh());
connect();
if (told) { const [words, change] = JSON.parse(told); toast(words, { change }); }

// A cover that is gone meanwhile leaves the letter that lies under it.
document.addEventListener("error", ({ target }) => { if (target.matches?.("img.cover")) target.hidden = true; }, { capture: true });

// Keys, handheld scanners and lamps, on every page; loaded last, since they use what stands above.
import("./keys.js");
import("./lamps.js");
