// The Library page: results with every letter, filters, more when scrolled.
import { attempt, Refusal, text, toast } from "./app.js";
import { renewed } from "./library-choose.js";

const byID = (id) => document.getElementById(id);
const q = byID("q"), sort = byID("sort"), filters = byID("filters");

// The list that is shown is the page's address. Another one is asked for, and its parts put in place; the newest wins.

let turn = 0, going;
const parsed = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

async function go(params, { keep = true } = {}) {
  for (const name of ["after", "limit"]) params.delete(name);
  for (const [name, value] of [...params]) if (value === "") params.delete(name);
  const address = "/library" + (params.size ? "?" + params : "");
  const mine = ++turn;
  going?.abort();
  going = new AbortController();
  const slow = setTimeout(() => document.body.classList.add("busy"), 300);
  try {
    const answer = await fetch(address, { signal: going.signal });
    const page = await parsed(answer);
    if (mine !== turn) return;
    if (!answer.ok || !page.getElementById("found")) { location.assign(address); return; }
    history[keep ? "replaceState" : "pushState"](null, "", address);
    for (const id of ["views", "found"]) byID(id).replaceWith(document.adoptNode(page.getElementById(id)));
    renewCarried(page);
    // In the trash there is something else to do.
    byID("bulk").replaceChildren(...page.getElementById("bulk").children);
    if (document.activeElement !== q) q.value = params.get("q") ?? "";
    sort.replaceChildren(...page.getElementById("sort").children);
    sort.value = params.get("sort") ?? "";
    placed();
    // A region that is replaced is not read out; this one stays.
    byID("said").textContent = byID("total").textContent;
    if (filters.open) await showFilters();
  } catch (error) {
    if (error.name !== "AbortError") toast(error instanceof TypeError ? text("lost") : String(error.message), { isTrouble: true });
  } finally {
    clearTimeout(slow);
    if (mine === turn) document.body.classList.remove("busy");
  }
}

function renewCarried(page) {
  const form = byID("find");
  for (const old of form.querySelectorAll("input[type=hidden]")) old.remove();
  form.prepend(...page.querySelectorAll("#find input[type=hidden]"));
}

const now = () => new URLSearchParams(location.search);

let typing;
function search() {
  clearTimeout(typing);
  const params = now();
  params.set("q", q.value.trim());
  go(params);
}
q.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(search, 60); });
q.addEventListener("click", () => q.focus());
q.addEventListener("keydown", (event) => { if (event.key === "ArrowDown") { event.preventDefault(); document.querySelector(".hit .name")?.focus(); } });
sort.addEventListener("change", () => { const params = now(); params.set("sort", sort.value); if (!sort.value) params.delete("reverse"); go(params); });
byID("find").addEventListener("submit", (event) => { event.preventDefault(); search(); });
document.addEventListener("click", (event) => {
  const link = event.target.closest("#views a, .tools a, .empty a[href^='/library']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const params = new URLSearchParams(new URL(link.href).search);
  if (link.closest(".empty")) q.value = params.get("q") ?? "";
  go(params, { keep: false });
});
addEventListener("popstate", () => location.reload());

// Filters: their counts are asked for only while the panel is open; the newest panel wins.

let panel = 0;
function showFilters() {
  const mine = ++panel;
  return attempt(async () => {
    const answer = await fetch(byID("found").dataset.panel);
    if (!answer.ok) throw new Refusal(answer.status, (await answer.json()).error);
    const page = await parsed(answer);
    if (mine !== panel) return;
    const fresh = page.getElementById("facets"), old = byID("facets"), focused = document.activeElement;
    const name = (part) => part.querySelector("legend").textContent;
    const opened = [...old.querySelectorAll("fieldset:has(details[open])")].map(name);
    for (const part of fresh.querySelectorAll("fieldset")) if (opened.includes(name(part))) part.querySelector("details")?.setAttribute("open", "");
    const again = old.contains(focused) && focused.name ? [...fresh.elements].find((field) => field.name === focused.name && (field.type !== "checkbox" || field.value === focused.value)) : null;
    old.replaceWith(fresh);
    again?.focus();
  });
}
filters.addEventListener("toggle", () => { if (filters.open) showFilters(); });
filters.addEventListener("change", (event) => {
  const form = event.target.form;
  if (!form || !form.reportValidity()) return;
  go(new URLSearchParams(new FormData(form)));
});
filters.addEventListener("submit", (event) => { event.preventDefault(); go(new URLSearchParams(new FormData(event.target))); });

// More: the next page is put behind this one when its end comes near. The address then says how many there are, so that a change
// in the library, a reload and the way back show as many again.

const most = 500;
let fetching = false;
async function more() {
  const link = byID("more");
  if (!link || fetching) return;
  fetching = true;
  link.setAttribute("aria-busy", "true");
  const mine = turn;
  try {
    const answer = await fetch(link.href);
    const page = await parsed(answer);
    if (!answer.ok || mine !== turn || !link.isConnected) return;
    byID("hits").append(...page.querySelectorAll("#hits > .hit"));
    const next = page.getElementById("more");
    if (next) link.href = next.href; else link.closest(".more").remove();
    const params = now(), count = document.querySelectorAll("#hits > .hit").length;
    if (count <= most) { params.set("limit", count); history.replaceState(null, "", "?" + params); }
    else byID("hits").dataset.busy = "";
    placed();
  } catch { /* The button is still there. */ } finally { fetching = false; link.removeAttribute("aria-busy"); }
}
const nearEnd = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) more(); }, { rootMargin: "600px" });
function watchEnd() {
  nearEnd.disconnect();
  const link = byID("more");
  if (link) nearEnd.observe(link);
}
document.addEventListener("renewed", watchEnd);
function placed() { renewed(); watchEnd(); }
document.addEventListener("click", (event) => { if (event.target.closest("#more")) { event.preventDefault(); more(); } });

watchEnd();
if (filters.open) showFilters();
