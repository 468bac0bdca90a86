"""EAN-13, UPC-A and the EAN-2/EAN-5 add-ons, as bars (GS1 General Specifications, 5.2)."""
from PIL import Image, ImageDraw

import fonts

L = ["0001101", "0011001", "0010011", "0111101", "0100011",
     "0110001", "0101111", "0111011", "0110111", "0001011"]
R = ["".join("10"[int(b)] for b in code) for code in L]
G = [code[::-1] for code in R]
FIRST_DIGIT = ["LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG",
               "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL"]
ADDON_5 = ["GGLLL", "GLGLL", "GLLGL", "GLLLG", "LGGLL",
           "LLGGL", "LLLGG", "LGLGL", "LGLLG", "LLGLG"]
ADDON_2 = ["LL", "LG", "GL", "GG"]

QUIET_LEFT, QUIET_RIGHT, ADDON_GAP, ADDON_QUIET = 11, 7, 9, 5


def check_digit(first_twelve):
    total = sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(first_twelve))
    return str(-total % 10)


def is_valid(payload):
    return len(payload) == 13 and payload.isdigit() and check_digit(payload[:12]) == payload[12]


def ean13_modules(payload):
    if not is_valid(payload):
        raise ValueError(f"{payload}: wrong check digit")
    sets = FIRST_DIGIT[int(payload[0])]
    left = "".join((L if s == "L" else G)[int(d)] for s, d in zip(sets, payload[1:7]))
    right = "".join(R[int(d)] for d in payload[7:])
    return "101" + left + "01010" + right + "101"


def addon_modules(digits):
    if len(digits) == 2:
        sets = ADDON_2[int(digits) % 4]
    else:
        d = [int(c) for c in digits]
        sets = ADDON_5[(3 * (d[0] + d[2] + d[4]) + 9 * (d[1] + d[3])) % 10]
    parts = [(L if s == "L" else G)[int(c)] for s, c in zip(sets, digits)]
    return "1011" + "01".join(parts)


def draw(payload, addon=None, module=4, height=62, ink=(20, 18, 20), paper=(255, 255, 255)):
    """Returns the symbol with its quiet zones, and the box (x0, y0, x1, y1) of the main symbol's bars."""
    bars = ean13_modules(payload)
    extra = addon_modules(addon) if addon else ""
    width = QUIET_LEFT + 95 + (ADDON_GAP + len(extra) + ADDON_QUIET if extra else QUIET_RIGHT)
    guard, m = 5, module
    picture = Image.new("RGB", (width * m, (height + 10) * m), paper)
    pen = ImageDraw.Draw(picture)
    upc = payload[0] == "0"
    tall = set(range(0, 3)) | set(range(45, 50)) | set(range(92, 95))
    if upc:  # the first and the last digit of a UPC-A have tall bars
        tall |= set(range(3, 10)) | set(range(85, 92))

    def bar(x, y0, y1):
        pen.rectangle([x * m, y0 * m, (x + 1) * m - 1, y1 * m - 1], fill=ink)

    for i, b in enumerate(bars):
        if b == "1":
            bar(QUIET_LEFT + i, 0, height + (guard if i in tall else 0))

    font = fonts.get("ocr", int(9.4 * m))

    def text(x, y, s):
        pen.text((x * m, y * m), s, font=font, fill=ink, anchor="mt")

    y = height + 1.2
    q = QUIET_LEFT
    if upc:
        text(q - 6, y, payload[1])
        for k, d in enumerate(payload[2:7]):
            text(q + 10 + 7 * k + 3.5, y, d)
        for k, d in enumerate(payload[7:12]):
            text(q + 50 + 7 * k + 3.5, y, d)
        text(q + 95 + 4.5, y, payload[12])
    else:
        text(q - 6, y, payload[0])
        for k, d in enumerate(payload[1:7]):
            text(q + 3 + 7 * k + 3.5, y, d)
        for k, d in enumerate(payload[7:]):
            text(q + 50 + 7 * k + 3.5, y, d)
    if extra:
        x0 = q + 95 + ADDON_GAP
        for i, b in enumerate(extra):
            if b == "1":
                bar(x0 + i, 10, height + guard)
        for k, d in enumerate(addon):
            text(x0 + 4 + 9 * k + 3.5, 0.5, d)
    return picture, (q * m, 0, (q + 95) * m, (height + guard) * m)
