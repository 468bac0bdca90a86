// Completes names while they are typed: <input data-complete="author|tag|shelf">. The combobox pattern of ARIA 1.2: the focus stays
// in the field, arrows move through the list, Enter takes, Esc closes. Taking sends "taken" from the field.
import { ask } from "./app.js";

let number = 0;

/** Gives a field its list of names. */
export function complete(field) {
  if (field.dataset.completes) return;
  // One field may be for tags now and for shelves then.
  const kind = () => field.dataset.complete;
  const list = document.createElement("ul");
  field.dataset.completes = list.id = `names-${++number}`;
  list.className = "names";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", field.labels?.[0]?.textContent ?? field.getAttribute("aria-label") ?? "");
  list.hidden = true;
  field.after(list);
  field.parentElement.classList.add("completes");
  for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-expanded", "false"], ["aria-controls", list.id]]) field.setAttribute(name, value);
  field.autocomplete = "off";

  let asked = 0, chosen = -1, timer;
  const options = () => [...list.children];

  function close() {
    clearTimeout(timer);
    asked++;
    list.hidden = true;
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function choose(index) {
    chosen = index;
    options().forEach((option, at) => option.setAttribute("aria-selected", at === chosen));
    const option = options()[chosen];
    if (option) { field.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); }
    else field.removeAttribute("aria-activedescendant");
  }

  function take(option) {
    field.value = option.dataset.name;
    close();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    close();
    field.dispatchEvent(new CustomEvent("taken", { bubbles: true }));
  }

  async function show() {
    const turn = ++asked;
    const beginning = field.value.trim();
    let names;
    try {
      const answer = await ask("GET", `/api/suggestions?kind=${kind()}&limit=8&beginning=${encodeURIComponent(beginning.slice(0, 200))}`);
      names = answer.suggestions;
    } catch { return; } // Completion is an offer: without it the name is typed to its end.
    if (turn !== asked || document.activeElement !== field) return;
    const pointed = options()[chosen]?.dataset.name;
    list.replaceChildren(...names.filter(({ name }) => name !== beginning).map(({ name, count }, index) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${index}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.name = name;
      const label = document.createElement("span"), books = document.createElement("span");
      label.textContent = name;
      books.textContent = count;
      books.className = "faint small";
      option.append(label, books);
      return option;
    }));
    list.hidden = list.children.length === 0;
    // A list that comes late takes nobody's choice away.
    choose(options().findIndex((option) => option.dataset.name === pointed));
    field.setAttribute("aria-expanded", !list.hidden);
  }

  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(show, 60); });
  // Of tags and shelves there are few: they are offered before anything is typed.
  field.addEventListener("focus", () => { if (field.value === "" && kind() !== "author") show(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const count = options().length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { show(); return; }
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(chosen < 0 ? (step > 0 ? 0 : count - 1) : (chosen + step + count) % count);
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      event.stopImmediatePropagation();
      take(options()[chosen]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
  // Before the field loses the focus.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => { const option = event.target.closest("[role=option]"); if (option) take(option); });
}

/** Every field of a part of the page that asks for it. */
export function completeAll(root = document) { for (const field of root.querySelectorAll("input[data-complete]")) complete(field); }

completeAll();
