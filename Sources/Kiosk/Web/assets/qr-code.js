// QR codes that the service has made.

/** Returns a picture of a code, which is black on white also in the dark. */
export function drawQRCode({ side, path }, label) {
  const make = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const picture = make("svg", {
    class: "qr-code", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges",
  });
  picture.append(make("path", { fill: "#fff", d: `M0 0h${side}v${side}H0z` }), make("path", { fill: "#000", d: path }));
  return picture;
}
