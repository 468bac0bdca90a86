// Signing in: sends the code, and says what came of it where the person looks.

const form = document.getElementById("sign-in");
const field = document.getElementById("code");
const told = document.getElementById("told");
const button = form.querySelector("button");

function tell(words) {
  told.textContent = words;
  field.setAttribute("aria-invalid", words !== "");
  if (words) field.select();
}

async function signIn() {
  const answer = await fetch("/api/sign-in", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: field.value }),
  });
  if (answer.ok) return location.replace(form.dataset.then);
  const seconds = answer.headers.get("Retry-After");
  const error = (await answer.json().catch(() => null))?.error;
  if (answer.status === 429) tell(form.dataset.throttled.replace("{seconds}", seconds));
  else if (error?.code === "noCode") tell(form.dataset.noCode);
  else if (error?.code === "wrongCode") tell(form.dataset.wrong);
  else tell(error?.message ?? form.dataset.lost);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  tell("");
  button.disabled = true;
  try { await signIn(); } catch { tell(form.dataset.lost); } finally { button.disabled = false; }
});
