// Completes names while they are typed, in each <input data-complete="author|tag|shelf|publisher|series">. It follows
// the combobox pattern of ARIA 1.2: the focus stays in the field, arrow keys move through the list, Enter chooses a
// name, and Esc closes the list. After a choice, the field sends the event "taken".

import { callAPI } from "./requests.js";

let number = 0;

/** Adds a list of names to a field. */
export function complete(field) {
  if (field.dataset.completes) return;
  // The field of a sheet may be for tags at one time and for shelves at another.
  const kind = () => field.dataset.complete;
  const list = document.createElement("ul");
  field.dataset.completes = list.id = `names-${++number}`;
  list.className = "names";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", field.labels?.[0]?.textContent ?? field.getAttribute("aria-label") ?? "");
  list.hidden = true;
  field.after(list);
  field.parentElement.classList.add("completes");
  const roles = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id };
  for (const [name, value] of Object.entries(roles)) field.setAttribute(name, value);
  field.autocomplete = "off";

  let latest = 0, chosen = -1, timer;
  const listOptions = () => [...list.children];

  function close() {
    clearTimeout(timer);
    latest++;
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function point(index) {
    chosen = index;
    listOptions().forEach((option, at) => option.setAttribute("aria-selected", at === chosen));
    const option = listOptions()[chosen];
    if (option) { field.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); }
    else field.removeAttribute("aria-activedescendant");
  }

  function choose(option) {
    field.value = option.dataset.name;
    close();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    close();
    field.dispatchEvent(new CustomEvent("taken", { bubbles: true }));
  }

  async function show() {
    const mine = ++latest;
    const beginning = field.value.trim();
    let names;
    try {
      const query = `kind=${kind()}&limit=8&beginning=${encodeURIComponent(beginning.slice(0, 200))}`;
      const answer = await callAPI("GET", `/api/suggestions?${query}`);
      names = answer.suggestions;
    } catch { return; } // Without completion, the person types the whole name.
    if (mine !== latest || document.activeElement !== field) return;
    const previous = listOptions()[chosen]?.dataset.name;
    list.replaceChildren(...names.filter(({ name }) => name !== beginning).map(({ name, count }, index) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.name = name;
      const label = document.createElement("span"), books = document.createElement("span");
      label.textContent = name;
      label.dir = "auto";
      books.textContent = count;
      books.className = "faint small";
      option.append(label, books);
      return option;
    }));
    list.hidden = list.children.length === 0;
    // A list that arrives late keeps the option to which the person has moved.
    point(listOptions().findIndex((option) => option.dataset.name === previous));
    field.setAttribute("aria-expanded", !list.hidden);
  }

  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 60); });
  // Tags and shelves are offered before anything is typed, because there are only a few of them.
  field.addEventListener("focus", () => { if (field.value === "" && kind() !== "author") show(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const count = listOptions().length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { show(); return; }
      const step = event.key === "ArrowDown" ? 1 : -1;
      point(chosen < 0 ? (step > 0 ? 0 : count - 1) : (chosen + step + count) % count);
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      choose(listOptions()[chosen]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
  // A press on the list leaves the focus in the field.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => { const option = event.target.closest("[role=option]"); if (option) choose(option); });
}

/** Adds a list of names to every field of the page that has data-complete. */
export function completeAll() { for (const field of document.querySelectorAll("input[data-complete]")) complete(field); }
