// The texts that scripts show, in the page's language.

const texts = JSON.parse(document.getElementById("texts").textContent);

/** Returns a text, with its {names} filled in. */
export function fillIn(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);
}

/** Returns a text from Web/texts/script.json, with its {names} filled in. */
export function text(key, values) { return fillIn(texts[key] ?? key, values); }

/**
 * The page's language, which determines the form of dates and numbers. As on the rest of the page, English is British
 * English, with the day before the month.
 */
export const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;

/** Returns a date in the page's language, in the forms of Intl.DateTimeFormat. In French, the first day is "1er". */
export function formatDate(date, options) {
  const text = new Intl.DateTimeFormat(locale, options).format(date);
  return locale === "fr" ? text.replace(/(^|\s)1 (?=\p{L})/u, "$11er ") : text;
}
