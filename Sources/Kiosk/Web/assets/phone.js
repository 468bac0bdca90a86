// The page that an invitation opens on a phone. The token is in the fragment of the address, which no server sees.

const message = document.getElementById("message"), again = document.getElementById("again"), token = location.hash.slice(1);

async function enter() {
  // Without an invitation, this is an old tab or a bookmark.
  if (!token) return location.replace("/scan");
  again.hidden = true;
  let answer;
  try {
    answer = await fetch("/api/phones", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }),
    });
  } catch {
    message.textContent = message.dataset.lost;
    again.hidden = false;
    return;
  }
  if (answer.ok) return location.replace("/scan");
  message.textContent = (await answer.json().catch(() => null))?.error?.message ?? message.dataset.lost;
  again.hidden = answer.status < 500;
}

again.addEventListener("click", enter);
enter();
