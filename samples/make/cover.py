"""Back covers, boxes and magazines: a picture at SCALE pixels per millimetre with its codes."""
import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

import barcode
import fonts
import texture
from books import BOOKS, IMPRINTS, digits
from text import paragraph

SCALE = 12


def mm(x):
    return int(round(x * SCALE))


def rgb(c):
    return tuple(int(round(255 * v)) for v in c)


def to_picture(array):
    return Image.fromarray((np.clip(array, 0, 1) * 255).astype(np.uint8), "RGB")


class Cover:
    def __init__(self, size, background, seed, box=False, spine_text=""):
        self.size, self.seed, self.box, self.spine_text = size, seed, box, spine_text
        self.picture = to_picture(background).resize((mm(size[0]), mm(size[1])), Image.BICUBIC)
        self.pen = ImageDraw.Draw(self.picture)
        self.codes = []
        self.spine_colour = None

    def kind(self, payload):
        if payload.startswith("9790"):
            return "ismn"
        if payload[:3] in ("978", "979"):
            return "isbn"
        if payload.startswith("977"):
            return "issn"
        return "upc" if payload.startswith("0") else "ean13"

    def code(self, payload, at, addon=None, module=4, height=62, label=None, panel=2.2, anchor="bottom right",
             paper=(252, 252, 250), ink=(22, 20, 22), bare=False):
        """Puts a symbol on the cover; `at` is the named corner of its panel in millimetres."""
        symbol, bars = barcode.draw(payload, addon, module, height, ink, paper)
        top = mm(4.4) if label else 0
        pad = mm(panel)
        w, h = symbol.width + pad * 2, symbol.height + top + pad * 2
        x, y = mm(at[0]), mm(at[1])
        x -= w if "right" in anchor else w // 2 if "middle" in anchor else 0
        y -= h if "bottom" in anchor else 0
        if not bare:
            self.pen.rectangle([x, y, x + w - 1, y + h - 1], fill=paper)
        if label:
            self.pen.text((x + pad + bars[0] + (bars[2] - bars[0]) // 2, y + pad + mm(1.5)), label,
                          font=fonts.get("sans", mm(2.75)), fill=ink, anchor="mm")
        if bare:
            region = self.picture.crop((x + pad, y + pad + top, x + pad + symbol.width, y + pad + top + symbol.height))
            symbol = ImageChops.multiply(region, symbol)
        self.picture.paste(symbol, (x + pad, y + pad + top))
        ox, oy = (x + pad) / SCALE, (y + pad + top) / SCALE
        box = tuple(v / SCALE + o for v, o in zip(bars, (ox, oy, ox, oy)))
        self.codes.append((self.kind(payload), payload, addon, box))
        return x / SCALE, y / SCALE, (x + w) / SCALE, (y + h) / SCALE

    def wear(self, amount=1.0, crease="right"):
        """Adds rubbed edges and corners, a crease beside the spine, fine dust, and slightly uneven ink."""
        w, h = self.picture.size
        f = 3
        y, x = np.mgrid[0:h // f, 0:w // f].astype(np.float32) * f / SCALE
        W, H = self.size
        n = texture.Noise(self.seed + 77)
        edge = np.minimum(np.minimum(x, W - x), np.minimum(y, H - y))
        corner = np.minimum.reduce([np.hypot(x - a, y - b) for a in (0, W) for b in (0, H)])
        rub = np.exp(-edge / 0.5) * texture.smooth(n.octaves(x * 0.25, y * 0.25, 3), 0.45, 0.8)
        rub += np.exp(-corner / (1.3 * amount)) * 0.7
        light = 0.34 * amount * np.clip(rub, 0, 1)
        shade = 1 - 0.05 * np.exp(-edge / 6) + 0.05 * (n.octaves(x * 0.008, y * 0.008, 3) - 0.5)
        c = W - 6.5 if crease == "right" else 6.5
        if crease:
            shade -= 0.13 * amount * np.exp(-((x - c) / 0.5) ** 2)
            shade += 0.10 * amount * np.exp(-((x - c + 1.0) / 0.7) ** 2)
            bow = x - c if crease == "right" else c - x
            shade -= 0.10 * np.exp(-np.clip(-bow, 0, None) / 7)
        scuff = texture.smooth(n(x * 0.03 + y * 0.05, y * 1.3 + 0.7 * x), 0.955, 0.99) * 0.10 * amount
        a = np.asarray(self.picture, np.float32) / 255
        up = lambda m: np.asarray(Image.fromarray(m.astype(np.float32)).resize((w, h), Image.BICUBIC))[..., None]
        a = a * up(shade) + (0.93 - a) * up(np.clip(light + scuff, 0, 1))
        self.picture = to_picture(a)
        self.pen = ImageDraw.Draw(self.picture)
        return self

    def bend(self, amount=0.035):
        """A lifted cover: narrower and lighter towards one edge."""
        w, h = self.picture.size
        x = np.arange(w) / w
        source = x + amount * np.sin(np.pi * x)
        index = np.clip(source * w, 0, w - 1)
        a = np.asarray(self.picture, np.float32)
        i = index.astype(int)
        f = (index - i)[None, :, None].astype(np.float32)
        j = np.minimum(i + 1, w - 1)
        light = 1 + 0.16 * np.cos(np.pi * x * 1.2 + 0.4)
        a = (a[:, i] * (1 - f) + a[:, j] * f) * light[None, :, None]
        self.picture = Image.fromarray(np.clip(a, 0, 255).astype(np.uint8))
        table = source * self.size[0]
        back = lambda v: float(np.interp(v, table, x * self.size[0]))
        self.codes = [(k, p, d, (back(b[0]), b[1], back(b[2]), b[3])) for k, p, d, b in self.codes]
        return self

    def side(self, is_spine, width, height):
        """Returns the look of an edge: the spine, a box's wall, or the pages."""
        width, height = max(width, 8), max(height, 8)
        if is_spine or self.box:
            a = np.asarray(self.picture.crop((self.picture.width - mm(4), 0, self.picture.width, self.picture.height)))
            colour = np.median(a.reshape(-1, 3), 0) if self.spine_colour is None else np.array(rgb(self.spine_colour))
            round_ = 0.72 + 0.35 * np.sin(np.linspace(0.25, np.pi - 0.1, height))[:, None, None]
            picture = Image.fromarray(np.clip(np.ones((height, width, 1)) * colour * round_, 0, 255).astype(np.uint8))
            if is_spine and self.spine_text and height > 20:
                pale = colour.mean() < 128
                ImageDraw.Draw(picture).text((width * 0.5, height * 0.52), self.spine_text, anchor="mm",
                                             font=fonts.get("libertine-bold", int(height * 0.42)),
                                             fill=(238, 232, 215) if pale else (35, 32, 34))
            return picture
        rng = np.random.default_rng(self.seed + height)
        sheets = rng.normal(0.84, 0.075, (height, 1))
        fade = rng.normal(1, 0.015, (1, width))
        wave = 1 + 0.03 * np.sin(np.linspace(0, 9, width))[None, :]
        tone = np.clip(sheets * fade * wave, 0, 1)
        tone[: max(1, height // 30)] *= 0.8
        colour = tone[..., None] * np.array([1.0, 0.965, 0.89])
        return to_picture(colour)


# pieces -------------------------------------------------------------------------------------

def portrait(width, height, seed, tint=(0.9, 0.85, 0.78)):
    """Draws a grainy author photograph of nobody: a lit face, hair, shoulders, a blurred room."""
    rng = np.random.default_rng(seed)
    n = texture.Noise(seed)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = (x / width - 0.5) * width / height, y / height
    room = 0.32 + 0.35 * n.octaves(x * 3, y * 2.4, 2) + 0.12 * x
    lean = rng.uniform(-0.06, 0.06)

    def blob(cx, cy, rx, ry, power=2.0):
        return np.abs((x - cx) / rx) ** power + np.abs((y - cy) / ry) ** power

    tone = room
    over = lambda base, value, d, soft=0.07: base + (value - base) * (1 - texture.smooth(d, 1 - soft, 1 + soft))
    hair, skin, coat = rng.uniform(0.06, 0.5), rng.uniform(0.55, 0.8), rng.uniform(0.08, 0.3)
    strands = 0.12 * (n(x * 60 + 10 * y, y * 8) - 0.5)
    long_hair = rng.random() < 0.5
    if long_hair:
        tone = over(tone, hair + strands, blob(lean, 0.48, 0.25, 0.34, 2.6), 0.12)
    tone = over(tone, coat + 0.05 * n(x * 40, y * 40), blob(lean * 0.3, 1.16, 0.50, 0.42, 2.6))
    tone = over(tone, skin * 0.72, blob(lean, 0.72, 0.088, 0.16))
    light = skin * (0.98 - 0.9 * (x - lean + 0.08) - 0.12 * (y - 0.4))
    face = blob(lean, 0.44, 0.165, 0.225, 2.2)
    tone = over(tone, hair + strands, blob(lean, 0.385, 0.20, 0.23, 2.3), 0.1)
    tone = over(tone, light, face)
    for side in (-1, 1):
        tone = over(tone, skin * 0.38, blob(lean + side * 0.068, 0.415, 0.030, 0.011), 0.8)
        tone = over(tone, hair * 0.9, blob(lean + side * 0.07, 0.38, 0.042, 0.009), 0.9)
    tone = over(tone, skin * 0.66, blob(lean + 0.014, 0.475, 0.017, 0.052), 0.9)
    tone = over(tone, skin * 0.5, blob(lean, 0.55, 0.056, 0.011), 0.8)
    fringe = blob(lean - 0.05, 0.27, 0.17, 0.085, 2.0)
    tone = over(tone, hair + strands, fringe, 0.2)
    tone = tone + rng.normal(0, 0.03, tone.shape)
    picture = to_picture(np.clip(tone, 0, 1)[..., None] * np.asarray(tint))
    return picture.filter(ImageFilter.GaussianBlur(width / 130))


def imprint(cover, x, y, seed, ink, accent):
    """Draws an invented publisher's mark with its name; (x, y) is the bottom left in millimetres."""
    k = seed % len(IMPRINTS)
    pen, r = cover.pen, mm(3.6)
    cx, cy = mm(x) + r, mm(y) - r
    if k % 3 == 0:
        pen.ellipse([cx - r, cy - r, cx + r, cy + r], outline=accent, width=mm(0.5))
        pen.polygon([(cx - r * 0.5, cy + r * 0.5), (cx, cy - r * 0.7), (cx + r * 0.5, cy + r * 0.5)], fill=accent)
    elif k % 3 == 1:
        pen.rectangle([cx - r * 0.8, cy - r, cx + r * 0.8, cy + r], fill=accent)
        pen.ellipse([cx - r * 0.4, cy - r * 0.6, cx + r * 0.4, cy + r * 0.2], fill=ink)
    else:
        for t in range(3):
            pen.arc([cx - r + t * r * 0.3, cy - r + t * r * 0.3, cx + r - t * r * 0.3, cy + r - t * r * 0.3], 200, 340 + 50 * t,
                    fill=accent, width=mm(0.6))
    pen.text((cx + r + mm(1.5), cy), IMPRINTS[k].upper(), font=fonts.get("lato-bold", mm(2.7)), fill=ink, anchor="lm")


PRICES = {"en": ["US $17.00 / $23.00 CAN", "US $9.99 / $12.99 CAN", "UK £8.99", "$18.00 USA"],
          "de": ["€ 12,00 [D]   € 12,40 [A]"], "fr": ["catégorie F4   ·   8,10 €"], "es": ["PVP 13,95 €"]}
NOTES = {"en": [["With a new introduction and notes on the text."], ["Also in this series, uniform in size and price: ask your bookseller."], []],
         "de": [["Mit einem Nachwort und einer Zeittafel."], ["Ungekürzte Ausgabe."], []],
         "fr": [["Texte intégral."], ["Dossier et notes réalisés pour cette édition."], []],
         "es": [["Edición con introducción y notas."], ["Texto íntegro, con una cronología."], []]}
ITALIC = {"garamond": "garamond-italic", "libertine": "libertine-italic", "lato": "lato-italic"}
WEB = {"en": "www.{}.example", "de": "www.{}.example", "fr": "www.{}.example", "es": "www.{}.example"}


def back_cover(isbn, size=(128, 198), seed=1, background=None, ink=(0.95, 0.94, 0.9), accent=(0.9, 0.7, 0.3),
               body="garamond", head="libertine-display", look="classic", addon=None, module=4, height=62, author_photo=False,
               code_at="right", price=None, wear=1.0, label=True, panel=2.2, paper=(252, 252, 250), crease="right"):
    title, author, tagline, paragraphs, category = BOOKS[isbn]
    W, H = size
    if background is None:
        background = texture.gradient(mm(W) // 3, mm(H) // 3, (0.15, 0.2, 0.3), (0.08, 0.1, 0.18))
    cover = Cover(size, background, seed, spine_text=f"{author.split(' · ')[0].upper()}    {title}")
    lang = {"3": "de", "2": "fr", "8": "es"}.get(isbn[4], "en") if isbn.startswith("978") else "en"
    ink_, accent_ = rgb(ink), rgb(accent)
    pen = cover.pen
    margin = 11.0
    x, width = margin, W - 2 * margin
    top = 13.0
    body_ink = ink_
    if look == "panel":  # a pale sheet over the cover picture
        x, width, top = 13.0, W - 26.0, 15.0
        body_ink = (38, 34, 34)
    if look == "band":
        pen.rectangle([0, 0, mm(W), mm(30)], fill=accent_)
        pen.text((mm(W / 2), mm(11.5)), author.split(" · ")[0].upper(), font=fonts.get("lato-bold", mm(4.0)), fill=ink_ if sum(accent) < 1.6 else (25, 25, 28), anchor="mm")
        pen.text((mm(W / 2), mm(19.8)), title, font=fonts.get("libertine-bold", mm(6.8 if len(title) < 24 else 5.2)), fill=ink_ if sum(accent) < 1.6 else (25, 25, 28), anchor="mm")
        y = mm(37)
    elif look == "rule":
        y = paragraph(pen, (mm(x), mm(top)), title, head, mm(8.2 if len(title) < 22 else 6.4), mm(width), accent_, 1.15, "left")
        y = paragraph(pen, (mm(x), y + mm(0.5)), author, "lato", mm(3.5 if len(author) < 40 else 2.8), mm(width), body_ink, 1.3, "left")
        pen.line([mm(x), y + mm(2.4), mm(x + 22), y + mm(2.4)], fill=accent_, width=mm(0.7))
        y += mm(6.5)
    else:
        y = mm(top)
    bottom = mm(H - 52 if look != "panel" else H - 56)
    if author_photo:
        bottom -= mm(4)
    bold = {"garamond": "garamond-bold", "libertine": "libertine-bold", "lato": "lato-bold", "sans": "sans-bold", "dejavu": "libertine-bold"}[body]

    def set_all(draw, size_mm):
        yy = y
        s = mm(size_mm)
        if look in ("classic", "panel"):
            yy = paragraph(draw, (mm(x), yy), tagline, bold, int(s * 1.45), mm(width), accent_, 1.22, "left") + s * 0.9
        else:
            yy = paragraph(draw, (mm(x), yy), tagline, bold, int(s * 1.12), mm(width), body_ink, 1.25, "left") + s * 0.7
        for p in paragraphs:
            yy = paragraph(draw, (mm(x), yy), p, body, s, mm(width), body_ink, 1.38) + s * 0.55
        for p in NOTES.get(lang, NOTES["en"])[seed % 3]:
            yy = paragraph(draw, (mm(x), yy + s * 0.4), p, ITALIC.get(body, body), int(s * 0.92), mm(width), body_ink, 1.35, "left")
        return yy

    for size_mm in np.arange(W / 25 if body == "garamond" else W / 28, 2.2, -0.1):
        scratch = ImageDraw.Draw(Image.new("RGB", (8, 8)))
        if set_all(scratch, size_mm) < bottom:
            break
    if look == "panel":
        end = set_all(scratch, size_mm) / SCALE
        pen.rounded_rectangle([mm(7), mm(8), mm(W - 7), mm(end + 5)], radius=mm(1.2), fill=(247, 243, 233))
    y = set_all(pen, size_mm)
    floor = H - 11.0
    if look == "panel":
        floor = H - 9.0
    if author_photo:
        ph, pw = 30.0, 23.0
        px, py = (x, floor - ph - 1) if code_at == "right" else (W - margin - pw, floor - ph - 1)
        photo = portrait(mm(pw) // 2, mm(ph) // 2, seed + 3).resize((mm(pw), mm(ph)), Image.BICUBIC)
        cover.picture.paste(photo, (mm(px), mm(py)))
        pen.rectangle([mm(px), mm(py), mm(px + pw), mm(py + ph)], outline=(240, 240, 236) if sum(ink) > 1.5 else (60, 60, 60), width=mm(0.3))
        if W > 120:
            tx = px + pw + 2.5
            paragraph(pen, (mm(tx), mm(py + 1)), author, "lato-bold", mm(2.5), mm(22), ink_, 1.25, "left")
            pen.text((mm(tx), mm(py + ph - 6)), category.upper()[:16], font=fonts.get("lato", mm(2.0)), fill=ink_)
            pen.text((mm(tx), mm(py + ph - 2.8)), price or PRICES[lang][seed % len(PRICES[lang])][:12].strip(" /"), font=fonts.get("lato", mm(2.0)), fill=ink_)
    payload = digits(isbn)
    text = f"ISBN {isbn}" if label else None
    options = dict(addon=addon, module=module, height=height, label=text, panel=panel, paper=paper)
    if code_at == "right":
        cover.code(payload, (W - margin, floor), anchor="bottom right", **options)
    elif code_at == "left":
        cover.code(payload, (margin, floor), anchor="bottom left", **options)
    else:
        cover.code(payload, (W / 2, floor), anchor="bottom middle", **options)
    if not author_photo:
        fx = margin if code_at == "right" else W - margin - 42
        if code_at != "middle":
            pen.text((mm(fx), mm(floor - 22)), category.upper(), font=fonts.get("lato-bold", mm(2.4)), fill=ink_ if look == "panel" else accent_)
            pen.text((mm(fx), mm(floor - 18)), price or PRICES[lang][seed % len(PRICES[lang])], font=fonts.get("lato", mm(2.4)), fill=ink_)
            pen.text((mm(fx), mm(floor - 12.5)), WEB[lang].format(IMPRINTS[seed % len(IMPRINTS)].lower().replace(" & ", "").replace(" ", "")),
                     font=fonts.get("lato", mm(2.2)), fill=ink_)
            imprint(cover, fx, floor, seed, ink_, accent_)
    return cover.wear(wear, crease)


def old_back(number, isbn, size=(106, 178), seed=1, background=None, ink=(0.13, 0.11, 0.1), accent=(0.62, 0.12, 0.1)):
    """The back of a paperback from before bar codes: a blurb, prices, and its number in small print."""
    title, author, tagline, paragraphs, category = BOOKS[isbn]
    W, H = size
    cover = Cover(size, background, seed, spine_text=f"{author.upper()}    {title}")
    pen = cover.pen
    y = paragraph(pen, (mm(9), mm(12)), title, "libertine-display", mm(7.2), mm(W - 18), rgb(accent), 1.15, "left")
    y = paragraph(pen, (mm(9), y + mm(1)), author, "libertine-italic", mm(4.2), mm(W - 18), rgb(ink), 1.3, "left") + mm(4)
    for words in [tagline] + paragraphs:
        y = paragraph(pen, (mm(9), y), words, "garamond", mm(3.9), mm(W - 18), rgb(ink), 1.36) + mm(2)
    pen.line([mm(9), mm(H - 21), mm(W - 9), mm(H - 21)], fill=rgb(accent), width=mm(0.4))
    small = fonts.get("libertine", mm(2.7))
    pen.text((mm(9), mm(H - 18)), "For copyright reasons this edition is not for sale in the U.S.A.", font=fonts.get("libertine-italic", mm(2.5)), fill=rgb(ink))
    pen.text((mm(9), mm(H - 13.5)), "United Kingdom 35p   Australia $1.20   Canada $1.75", font=small, fill=rgb(ink))
    pen.text((mm(W - 9), mm(H - 9.4)), number, font=small, fill=rgb(ink), anchor="ra")
    pen.text((mm(9), mm(H - 9.4)), category, font=small, fill=rgb(ink))
    return cover.wear(1.0, "right")


def imprint_page(number, isbn, size=(110, 178), seed=1):
    """The page behind the title: who printed the book, when, and its number."""
    title, author, *_ = BOOKS[isbn]
    W, H = size
    cover = Cover(size, texture.linen(texture.gradient(mm(W) // 3, mm(H) // 3, (0.95, 0.93, 0.87), (0.92, 0.89, 0.82)), seed, 0.015), seed)
    pen = cover.pen
    y = mm(H * 0.46)
    for lines in [["Larkspur Books Ltd, 14 Weir Lane, Wells, Somerset", "Larkspur Books, 27 Quay Street, Auckland 1, New Zealand"],
                  ["First published 1969", "Published in Larkspur Books 1973", "Reprinted 1974, 1976 (twice), 1978"],
                  [f"Copyright © {author}, 1969"], [number],
                  ["Made and printed in Great Britain by", "Weir & Daughters Ltd, Wells", "Set in Monotype Garamond"]]:
        for line in lines:
            y = paragraph(pen, (mm(14), y), line, "garamond", mm(2.9), mm(W - 24), (42, 38, 36), 1.3, "left")
        y += mm(3)
    paragraph(pen, (mm(14), y), "This book is sold subject to the condition that it shall not, by way of trade or otherwise, be lent, re-sold, "
              "hired out or otherwise circulated without the publisher's prior consent in any form of binding or cover other than that in "
              "which it is published.", "garamond-italic", mm(2.4), mm(W - 24), (42, 38, 36), 1.28)
    return cover.wear(0.4, "left")


def japanese_back(seed=31, size=(105, 148)):
    """A Japanese pocket edition: two codes one above the other, the second for price and category."""
    isbn = "978-4-06-274868-1"
    title, author, tagline, paragraphs, _ = BOOKS[isbn]
    W, H = size
    cover = Cover(size, texture.linen(np.ones((mm(H) // 3, mm(W) // 3, 3)) * np.array([0.965, 0.955, 0.93]), seed, 0.012), seed,
                  spine_text=f"{title}  {author}")
    pen, ink = cover.pen, (30, 30, 34)
    pen.rectangle([0, mm(H - 9), mm(W), mm(H)], fill=(32, 92, 72))
    pen.rectangle([0, mm(H - 10.2), mm(W), mm(H - 9.6)], fill=(176, 38, 46))
    cover.code(digits(isbn), (8, 8), anchor="top left", panel=0.6, module=3, height=38, paper=(250, 248, 243))
    cover.code("1920193005509", (8, 26), anchor="top left", panel=0.6, module=3, height=38, paper=(250, 248, 243))
    x = 44
    for k, (text, role, size_) in enumerate([(f"ISBN{isbn}", "gothic", 2.6), ("C0193 ¥550E", "gothic", 2.6), ("定価：本体550円（税別）", "gothic", 2.6)]):
        pen.text((mm(x), mm(10 + 4.6 * k)), text, font=fonts.get(role, mm(size_)), fill=ink)
    pen.text((mm(x), mm(30)), title, font=fonts.get("mincho", mm(6.6)), fill=(32, 92, 72))
    pen.text((mm(x), mm(39)), author, font=fonts.get("mincho", mm(4.2)), fill=ink)
    y = paragraph(pen, (mm(12), mm(58)), tagline, "mincho", mm(3.9), mm(W - 24), (176, 38, 46), 1.6, "left")
    for p in paragraphs:
        y = paragraph(pen, (mm(12), y + mm(2)), p, "mincho", mm(3.3), mm(W - 24), ink, 1.75, "left")
    return cover.wear(0.8, "left")


def front_cover(title, author, seed, background, size=(128, 198), ink=(0.96, 0.94, 0.88)):
    W, H = size
    cover = Cover(size, background, seed, spine_text=f"{author.upper()}    {title}")
    pen = cover.pen
    y = mm(22)
    for word in title.upper().split("|"):
        font = fonts.get("libertine-display", mm(14.5))
        scale = min(1.0, (W - 20) * SCALE / font.getlength(word))
        font = fonts.get("libertine-display", int(mm(14.5) * scale))
        pen.text((mm(W / 2), y), word, font=font, fill=rgb(ink), anchor="mm")
        y += int(mm(14.5) * scale * 1.12)
    pen.line([mm(W / 2 - 14), y, mm(W / 2 + 14), y], fill=rgb(ink), width=mm(0.4))
    pen.text((mm(W / 2), mm(H - 22)), author.upper(), font=fonts.get("lato-bold", mm(5.6)), fill=rgb(ink), anchor="mm")
    pen.text((mm(W / 2), mm(H - 14)), "a novel", font=fonts.get("garamond-italic", mm(4.6)), fill=rgb(ink), anchor="mm")
    return cover.wear(1.0, "left")


def magazine(seed=41, size=(170, 226)):
    W, H = size
    cover = Cover(size, texture.hills(mm(W) // 3, mm(H) // 3, seed, (0.93, 0.62, 0.42), (0.98, 0.86, 0.66), (0.60, 0.55, 0.62), (0.10, 0.19, 0.24), horizon=0.5), seed)
    pen = cover.pen
    pen.text((mm(W / 2), mm(24)), "TIDEWRACK", font=fonts.get("lato-black", mm(25.5)), fill=(250, 246, 236), anchor="mm")
    pen.text((mm(11), mm(39)), "THE QUARTERLY OF COASTS AND WEATHER", font=fonts.get("lato-bold", mm(3.6)), fill=(250, 246, 236))
    pen.text((mm(W - 11), mm(39)), "No 14 · SUMMER", font=fonts.get("lato-bold", mm(3.6)), fill=(250, 246, 236), anchor="ra")
    for y, big, small in [(70, "The last lighthouse keepers", "Four winters on a rock in the north"),
                          (92, "How to read a tide table", "And why yours is wrong"),
                          (176, "Salt marsh", "A map you can walk on, sixteen pages")]:
        x = 11 if y < 150 else 80
        pen.text((mm(x), mm(y)), big, font=fonts.get("libertine-display", mm(8.6)), fill=(255, 250, 236))
        pen.text((mm(x), mm(y + 10)), small, font=fonts.get("lato", mm(3.9)), fill=(255, 250, 236))
    pen.text((mm(W - 11), mm(H - 12)), "£7.50   €10.90   $14.99", font=fonts.get("lato-bold", mm(3.2)), fill=(250, 246, 236), anchor="ra")
    cover.code("9772049363002", (9, H - 8), addon="14", anchor="bottom left", module=4, height=56, panel=1.6)
    return cover.wear(0.5, "left")


def sheet_music(seed=43, size=(228, 302)):
    W, H = size
    cover = Cover(size, texture.linen(np.ones((mm(H) // 4, mm(W) // 4, 3)) * np.array([0.93, 0.895, 0.80]), seed, 0.015), seed)
    pen, ink = cover.pen, (92, 30, 34)
    pen.rectangle([mm(9), mm(9), mm(W - 9), mm(H - 9)], outline=ink, width=mm(0.8))
    pen.rectangle([mm(10.6), mm(10.6), mm(W - 10.6), mm(H - 10.6)], outline=ink, width=mm(0.25))
    pen.text((mm(W / 2), mm(32)), "MUSIC FOR YOUNG PIANISTS", font=fonts.get("libertine-display", mm(10)), fill=ink, anchor="mm")
    pen.text((mm(W / 2), mm(42)), "in the same series", font=fonts.get("garamond-italic", mm(5.4)), fill=ink, anchor="mm")
    pieces = [("A. Halloran", "Six Little Nocturnes", "easy"), ("M. Wiesengrund", "Die Uhr im Flur. Zwölf Stücke", "easy"), ("J. Okafor", "Market Day, for four hands", "moderate"),
              ("C. Lemaire", "Jardin sous la pluie fine", "moderate"), ("T. Brandvold", "Folk tunes from the fjord", "easy"), ("R. Castellanos", "Tres milongas tranquilas", "moderate"),
              ("E. Sato", "Paper boats", "very easy"), ("H. Pryce", "Sonatina in G", "moderate"), ("L. Novotná", "Winter Inventions", "harder")]
    for k, (who, what, level) in enumerate(pieces):
        y = mm(62 + 11.5 * k)
        pen.text((mm(24), y), who, font=fonts.get("garamond-bold", mm(5.2)), fill=(40, 34, 34))
        pen.text((mm(78), y), what, font=fonts.get("garamond", mm(5.2)), fill=(40, 34, 34))
        pen.text((mm(W - 24), y), level, font=fonts.get("garamond-italic", mm(4.8)), fill=ink, anchor="ra")
    rng = np.random.default_rng(seed)
    for row in range(2):
        y0 = 186 + 30 * row
        for k in range(5):
            pen.line([mm(24), mm(y0 + 2.2 * k), mm(W - 24), mm(y0 + 2.2 * k)], fill=(40, 34, 34), width=mm(0.22))
        for k in range(22):
            nx, step = 34 + 7.6 * k, int(rng.integers(0, 9))
            ny = y0 + 1.1 * step
            pen.ellipse([mm(nx - 1.5), mm(ny - 1.05), mm(nx + 1.5), mm(ny + 1.05)], fill=(40, 34, 34))
            up = step > 4
            pen.line([mm(nx + (1.4 if up else -1.4)), mm(ny), mm(nx + (1.4 if up else -1.4)), mm(ny + (-7.5 if up else 7.5))], fill=(40, 34, 34), width=mm(0.3))
    pen.text((mm(24), mm(H - 30)), "Tern & Oak Music", font=fonts.get("libertine-bold", mm(5.4)), fill=ink)
    pen.text((mm(24), mm(H - 22)), "T&O 1156", font=fonts.get("lato", mm(3.6)), fill=ink)
    cover.code("9790060115615", (W - 20, H - 18), anchor="bottom right", label="ISMN 979-0-060-11561-5", module=4, height=52)
    return cover.wear(0.8, "right")


def tea_box(seed=51, size=(150, 78)):
    W, H = size
    cover = Cover(size, texture.bands(mm(W) // 3, mm(H) // 3, seed, [(0.13, 0.33, 0.27), (0.16, 0.40, 0.31), (0.11, 0.28, 0.24)]), seed, box=True)
    pen, pale = cover.pen, (244, 236, 214)
    pen.ellipse([mm(8), mm(8), mm(70), mm(70)], fill=pale)
    pen.text((mm(39), mm(28)), "Harbour", font=fonts.get("libertine-display", mm(12)), fill=(30, 74, 60), anchor="mm")
    pen.text((mm(39), mm(40)), "BREAKFAST TEA", font=fonts.get("lato-bold", mm(4.6)), fill=(160, 74, 40), anchor="mm")
    pen.text((mm(39), mm(50)), "40 bags · 125 g", font=fonts.get("lato", mm(4)), fill=(30, 74, 60), anchor="mm")
    paragraph(pen, (mm(82), mm(9)), "Boil fresh water. One bag a cup, four minutes, then milk if you like. Keep dry. Ingredients: black tea.", "lato", mm(2.9), mm(58), pale, 1.35, "left")
    cover.code("0036000291452", (W - 9, H - 6), anchor="bottom right", module=4, height=58, panel=1.0)
    return cover.wear(0.5, None)


def pencil_box(seed=53, size=(182, 66)):
    W, H = size
    cover = Cover(size, texture.gradient(mm(W) // 3, mm(H) // 3, (0.90, 0.75, 0.16), (0.86, 0.62, 0.10)), seed, box=True)
    pen, dark = cover.pen, (34, 34, 46)
    pen.rectangle([0, 0, mm(62), mm(H)], fill=(28, 44, 84))
    pen.text((mm(31), mm(25)), "LINEA", font=fonts.get("lato-black", mm(15)), fill=(244, 226, 120), anchor="mm")
    pen.text((mm(31), mm(39)), "graphite 12", font=fonts.get("lato-light", mm(6.2)), fill=(255, 255, 255), anchor="mm")
    for k, g in enumerate(["4B", "2B", "B", "HB", "F", "H"]):
        pen.rectangle([mm(70), mm(10 + 8 * k), mm(106), mm(14.5 + 8 * k)], fill=dark)
        pen.text((mm(111), mm(12.2 + 8 * k)), g, font=fonts.get("lato-bold", mm(4.2)), fill=dark, anchor="lm")
    cover.code("4006381333931", (W - 8, H - 8), anchor="bottom right", module=4, height=66, panel=1.4)
    return cover.wear(0.6, None)
