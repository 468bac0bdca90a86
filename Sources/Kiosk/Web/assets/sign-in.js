// The sign-in page: sends the code, and shows the result below the field.

import "./touch-typing.js";

const form = document.getElementById("sign-in");
const field = document.getElementById("code");
const message = document.getElementById("message");
const button = form.querySelector("button");

function show(text) {
  message.textContent = text;
  field.setAttribute("aria-invalid", text !== "");
  if (text) field.select();
}

async function signIn() {
  const answer = await fetch("/api/sign-in", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: field.value }),
  });
  if (answer.ok) return location.replace(form.dataset.then);
  const seconds = answer.headers.get("Retry-After");
  const error = (await answer.json().catch(() => null))?.error;
  if (answer.status === 429) show(form.dataset.throttled.replace("{seconds}", seconds));
  else if (error?.code === "noCode") show(form.dataset.noCode);
  else if (error?.code === "wrongCode") show(form.dataset.wrong);
  else show(error?.message ?? form.dataset.lost);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  show("");
  button.disabled = true;
  try { await signIn(); } catch { show(form.dataset.lost); } finally { button.disabled = false; }
});
