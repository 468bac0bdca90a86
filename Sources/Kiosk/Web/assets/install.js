// On other devices than the station itself: the service worker, with which the pages can be installed as an app, and
// what to do if the browser refuses it.

const line = document.getElementById("install-text"), button = document.getElementById("install");
let offer = null;

function explain(sentence) {
  if (!line) return;
  line.firstElementChild.textContent = sentence;
  line.hidden = false;
}

async function register() {
  // Browsers offer service workers only to pages that come over https.
  if (!navigator.serviceWorker) return explain(line?.dataset.plain);
  const { shell } = document.querySelector("script[data-shell]").dataset;
  try {
    await navigator.serviceWorker.register(`/assets/service-worker.js?${shell}`, { scope: "/", type: "module", updateViaCache: "none" });
  } catch (error) {
    // The person has continued past a warning, and the browser does not trust the certificate.
    if (error.name !== "SecurityError") return;
    explain(line?.dataset.untrusted);
    line?.querySelector("a").toggleAttribute("hidden", false);
  }
}

addEventListener("beforeinstallprompt", (event) => {
  if (!button) return;
  event.preventDefault();
  offer = event;
  button.hidden = false;
});
button?.addEventListener("click", () => {
  button.hidden = true;
  offer.prompt();
});
register();
