// The Library page, with results that are updated with every letter, and more books when a person scrolls down.

import { describeFailure } from "./acts.js";
import "./bulk.js";
import { renewFilters, startFilters } from "./filter-panel.js";
import { startEarlier } from "./letters.js";
import { toast } from "./messages.js";
import { startSavedFilters } from "./saved-filters.js";
import { showSelection } from "./selection.js";

const find = (id) => document.getElementById(id);
const q = find("q"), sort = find("sort");

// The address determines the list. When it changes, the new list is fetched, and its parts replace the parts of the
// page. Only the answer to the newest request counts.

let latest = 0, request;
/** The parameters of the list that was asked for last. Those of the address are older while it is fetched. */
let last = new URLSearchParams(location.search);
const readParams = () => new URLSearchParams(last);
const parse = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

async function go(wanted, { keep = true } = {}) {
  const params = last = new URLSearchParams([...wanted].filter(([name, value]) => value !== "" && !["after", "before", "limit"].includes(name)));
  const address = "/library" + (params.size ? "?" + params : "");
  const mine = ++latest;
  request?.abort();
  request = new AbortController();
  const slow = setTimeout(() => document.body.classList.add("busy"), 300);
  try {
    const answer = await fetch(address, { signal: request.signal });
    const page = await parse(answer);
    if (mine !== latest) return;
    if (!answer.ok || !page.getElementById("found")) { location.assign(address); return; }
    history[keep ? "replaceState" : "pushState"](keep ? history.state : null, "", address);
    const focused = document.activeElement.id;
    for (const id of ["views", "found"]) find(id).replaceWith(document.adoptNode(page.getElementById(id)));
    if (focused && document.activeElement === document.body) find(focused)?.focus();
    replaceHidden(page);
    // The acts for the trash are different.
    find("bulk").replaceChildren(...page.getElementById("bulk").children);
    if (document.activeElement !== q) q.value = params.get("q") ?? "";
    // A search can name an order, too.
    const chosenSort = page.getElementById("sort").value;
    sort.replaceChildren(...page.getElementById("sort").children);
    sort.value = chosenSort;
    showList();
    // Screen readers read changes in an element that stays, but not in an element that is replaced.
    find("announcement").textContent = find("total").textContent;
    renewFilters();
  } catch (error) {
    if (error.name !== "AbortError") toast(describeFailure(error), { isError: true });
  } finally {
    clearTimeout(slow);
    if (mine === latest) document.body.classList.remove("busy");
  }
}

/** Replaces the hidden fields, which pass the filters on to the next search. */
function replaceHidden(page) {
  const form = find("find");
  for (const old of form.querySelectorAll("input[type=hidden]")) old.remove();
  form.prepend(...page.querySelectorAll("#find input[type=hidden]"));
}

let typing;
function search() {
  clearTimeout(typing);
  const params = readParams();
  params.set("q", q.value.trim());
  go(params);
}
q.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(search, 60); });
q.addEventListener("click", () => q.focus());
q.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown") return;
  event.preventDefault();
  document.querySelector(".hit .name")?.focus();
});
sort.addEventListener("change", () => {
  const params = readParams();
  params.set("sort", sort.value);
  if (!sort.value) params.delete("reverse");
  go(params);
});
find("find").addEventListener("submit", (event) => { event.preventDefault(); search(); });
document.addEventListener("click", (event) => {
  const link = event.target.closest("#views a:not(#filters), .tools a, .empty a");
  // Links to other pages are left alone.
  if (link?.pathname !== location.pathname || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const params = new URLSearchParams(new URL(link.href).search);
  if (link.closest(".empty, .saved") || params.get("q") !== readParams().get("q")) q.value = params.get("q") ?? "";
  go(params, { keep: false });
});
// More books. The next books are appended when a person comes near the end of the list. The address then says how many
// books there are, so that just as many are shown after a change in the library, after a reload, and when the person
// comes back.

const most = 500;
let fetching = false;
async function showMore() {
  const link = find("more");
  if (!link || fetching) return;
  fetching = true;
  link.setAttribute("aria-busy", "true");
  const mine = latest;
  try {
    const answer = await fetch(link.href);
    const page = await parse(answer);
    if (!answer.ok || mine !== latest || !link.isConnected) return;
    find("hits").append(...page.querySelectorAll("#hits > .hit"));
    const next = page.getElementById("more");
    if (next) link.href = next.href; else link.closest(".more").remove();
    const params = new URLSearchParams(location.search), count = document.querySelectorAll("#hits > .hit").length;
    if (count <= most) { params.set("limit", count); history.replaceState(history.state, "", "?" + params); }
    else find("hits").dataset.busy = "";
    showList();
  } catch { /* The person can still press the button. */ } finally { fetching = false; link.removeAttribute("aria-busy"); }
}
const nearEnd = new IntersectionObserver((entries) => {
  if (entries.some((entry) => entry.isIntersecting)) showMore();
}, { rootMargin: "600px" });
function watchEnd() {
  nearEnd.disconnect();
  const link = find("more");
  if (link) nearEnd.observe(link);
}
document.addEventListener("renewed", (event) => { watchEnd(); if (event.target.id === "found") renewFilters(); });
function showList() { showSelection(); watchEnd(); }
document.addEventListener("click", (event) => { if (event.target.closest("#more")) { event.preventDefault(); showMore(); } });

watchEnd();
startEarlier(showList);
startFilters((params) => { params.set("q", q.value.trim()); go(params); }, readParams);
startSavedFilters((params) => { q.value = params.get("q") ?? ""; go(params, { keep: false }); });
