// The books before the ones at which a list was opened, for example at a letter. They are put before the others, and the
// page stays where it is. The address then begins with them, so that they are shown again after a change in the library.

import { describeFailure } from "./acts.js";
import { toast } from "./messages.js";
import { fetchPage } from "./requests.js";

const most = 500;
let isFetching = false;

/**
 * Shows the books before the first one.
 *
 * @param showList shows the selection in the rows, and watches the end of the list again
 */
async function showEarlier(link, showList) {
  if (isFetching) return;
  isFetching = true;
  link.setAttribute("aria-busy", "true");
  try {
    const page = await fetchPage(link.href);
    if (!link.isConnected) return;
    const hits = document.getElementById("hits"), first = hits.firstElementChild, top = first?.getBoundingClientRect().top;
    hits.prepend(...page.querySelectorAll("#hits > .hit"));
    const earlier = page.getElementById("earlier"), params = new URLSearchParams(location.search);
    const start = earlier && new URL(earlier.href).searchParams.get("before");
    for (const name of ["after", "before"]) params.delete(name);
    if (start) { link.href = earlier.href; params.set("after", start); } else link.closest(".more").remove();
    // More books than this are never shown again, so the list is not replaced.
    if (hits.childElementCount <= most) params.set("limit", hits.childElementCount); else hits.dataset.busy = "";
    history.replaceState(history.state, "", "?" + params);
    if (first) scrollBy(0, first.getBoundingClientRect().top - top);
    showList();
  } catch (error) {
    toast(describeFailure(error), { isError: true });
  } finally { isFetching = false; link.removeAttribute("aria-busy"); }
}

export function startEarlier(showList) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#earlier");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showEarlier(link, showList);
  });
}
