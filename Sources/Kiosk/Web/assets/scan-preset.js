// What the next books are saved with. A tag typed and not entered yet counts when the field is left.

import { ask, attempt, refresh } from "./app.js";

async function sendPreset(form, tags) {
  const fields = form.elements;
  const body = { shelf: fields.shelf.value.trim() || null, tags, status: fields.status.value, wishlist: fields.wishlist.checked };
  form.dataset.tags = JSON.stringify(tags);
  // While the next tag is typed the form is not taken anew.
  if (fields.tag.value.trim() !== "") {
    const chip = document.createElement("button");
    [chip.type, chip.className, chip.dataset.untag, chip.textContent] = ["button", "chip", tags.at(-1), `${tags.at(-1)} ✕`];
    fields.tag.before(chip);
    fields.tag.value = "";
  }
  await attempt(() => ask("PUT", "/api/station/preset", body));
  await refresh();
}
const tagsOf = (form) => JSON.parse(form.dataset.tags);
function withTyped(form) {
  const tag = form.elements.tag.value.trim(), tags = tagsOf(form);
  return tag === "" ? tags : [...tags.filter((other) => other.toLowerCase() !== tag.toLowerCase()), tag];
}

let suggesting = 0;
async function suggest(field) {
  const isShelf = field.name === "shelf", mine = ++suggesting;
  const found = await fetch(`/api/suggestions?kind=${isShelf ? "shelf" : "tag"}&limit=12&beginning=${encodeURIComponent(field.value.trim())}`);
  // Without suggestions a person types the whole name.
  if (!found.ok || mine !== suggesting) return;
  const names = (await found.json()).suggestions ?? [];
  document.getElementById(isShelf ? "shelf-names" : "tag-names").replaceChildren(...names.map((name) => new Option("", name.name ?? name)));
}

export function take(event) {
  const { target, type } = event, form = target.closest("#preset");
  if (!form) return;
  if (type === "submit") event.preventDefault();
  if (type === "change") sendPreset(form, withTyped(form));
  // One of the suggestions was chosen: no key ends that, and it is the person's last word.
  if (type === "input" && target.hasAttribute("list") && (!event.inputType || event.inputType === "insertReplacementText")) sendPreset(form, withTyped(form));
  const chip = type === "click" && target.closest("[data-untag]");
  if (chip) sendPreset(form, tagsOf(form).filter((tag) => tag !== chip.dataset.untag));
  if (["input", "focusin"].includes(type) && target.matches("#preset-shelf, #preset-tag")) suggest(target).catch(() => {});
}
for (const name of ["focusin", "input", "change", "click", "submit"]) document.addEventListener(name, take);
