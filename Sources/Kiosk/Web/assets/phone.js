// The page that an invitation opens on a phone. The token is in the fragment of the address, which no server sees.

const message = document.getElementById("message"), token = location.hash.slice(1);

async function enter() {
  // Without an invitation, this is an old tab or a bookmark.
  if (!token) return location.replace("/scan");
  // The token must not stay in the history.
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("/api/phones", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ token }),
  });
  if (answer.ok) return location.replace("/scan");
  message.textContent = (await answer.json().catch(() => null))?.error?.message ?? message.dataset.lost;
}

enter().catch(() => { message.textContent = message.dataset.lost; });
