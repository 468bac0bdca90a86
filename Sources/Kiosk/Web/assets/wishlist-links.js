// The page on which a wishlist is shared. A new link is shown once, because the service keeps only the hash of its token.

import { attempt } from "./acts.js";
import { refresh } from "./live.js";
import { toast } from "./messages.js";
import { drawQRCode } from "./qr-code.js";
import { callAPI } from "./requests.js";

const section = document.getElementById("new-link"), field = document.getElementById("link-address");
const copy = document.getElementById("copy-link");

document.addEventListener("click", (event) => {
  if (!event.target.closest("#make-link")) return;
  attempt(async () => {
    const { address, code } = await callAPI("POST", "/api/wishlist-links", {});
    field.value = address;
    document.getElementById("link-code").replaceChildren(...(code ? [drawQRCode(code, section.dataset.code)] : []));
    section.hidden = false;
    await refresh();
    field.focus();
    field.select();
  });
});

copy.addEventListener("click", async () => {
  field.select();
  // The clipboard of scripts exists only on https and on this machine; elsewhere, the old command still copies.
  const isCopied = navigator.clipboard
    ? await navigator.clipboard.writeText(field.value).then(() => true, () => false) : document.execCommand("copy");
  if (isCopied) toast(copy.dataset.copied);
});
