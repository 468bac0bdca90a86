// The sheet that invites a phone, with a QR code that lets it in once.

import { drawQRCode } from "./qr-code.js";
import { callAPI, Refusal } from "./requests.js";

const sheet = document.getElementById("phone-sheet");
const find = (id) => sheet.querySelector(`#phone-${id}`);

async function invite() {
  find("code").replaceChildren();
  for (const name of ["address", "settings", "plain", "warning"]) find(name).hidden = true;
  find("text").textContent = "";
  sheet.showModal();
  try {
    const { address, code, isEncrypted, warns } = await callAPI("POST", "/api/phones/invitations", {});
    find("text").textContent = sheet.dataset.scan;
    if (code) find("code").replaceChildren(drawQRCode(code, sheet.dataset.code));
    find("address").textContent = address;
    for (const [name, isShown] of [["address", true], ["warning", warns], ["plain", !isEncrypted]]) find(name).hidden = !isShown;
  } catch (error) {
    find("text").textContent = error instanceof Refusal ? error.message : sheet.dataset.lost;
    find("settings").hidden = !["noCode", "notOpen"].includes(error.code);
  }
}

document.getElementById("phone-open").addEventListener("click", invite);
