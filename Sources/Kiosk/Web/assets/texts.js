// The texts that scripts show, in the page's language.

const texts = JSON.parse(document.getElementById("texts").textContent);

/** Returns a text with its {names} filled in. */
export function fillIn(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

/** Returns a text of Web/texts/script.json, with its {names} filled in. */
export function text(key, values) { return fillIn(texts[key] ?? key, values); }

/**
 * The page's language, for dates and numbers. English is written as in Britain, day before month, like the rest of the
 * page.
 */
export const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
