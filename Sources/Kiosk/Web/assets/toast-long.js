// A line over the page that is longer than it has room for: its beginning, and a button for the rest.

import { text } from "./app.js";

/** @param timer: that takes the line away; who reads it has all the time. */
export function shorten(line, timer) {
  const span = line.firstElementChild, more = document.createElement("button");
  const isCut = () => span.scrollHeight > span.clientHeight + 1;
  line.classList.add("is-long");
  // The other arrangement may have room enough.
  if (!isCut()) return;
  more.textContent = text("more");
  more.addEventListener("click", () => {
    clearTimeout(timer);
    line.classList.add("is-whole");
    // What is longer than the screen is moved with the arrows.
    span.tabIndex = 0;
    span.focus();
    more.remove();
  });
  line.append(more);
}
