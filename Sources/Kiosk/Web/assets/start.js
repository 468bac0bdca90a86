// The first steps of an empty library: photos are read here, and their books wait on the Scan page.

import { on } from "./events.js";
import "./photos.js";

const captured = document.getElementById("start-captured");
on("batch", () => { captured.hidden = false; });
