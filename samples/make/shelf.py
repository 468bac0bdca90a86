"""Spines on a shelf, for the photo without a code."""
import numpy as np
from PIL import Image, ImageDraw

import fonts
from books import BOOKS
from cover import rgb, to_picture
import texture


def spine_row(canvas, floor=-95.0, scale=9):
    """Stands books side by side: the camera looks straight at the wall, so the spines lie in z = 0."""
    rng = np.random.default_rng(canvas.seed)
    x = -190.0
    entries = [(t, a) for t, a, *_ in BOOKS.values()]
    k = 0
    canvas.shadow([[-230, 118, 0], [230, 118, 0], [230, floor, 0], [-230, floor, 0]], 0.75, 14)
    while x < 196:
        title, author = entries[k % len(entries)]
        k += 1
        if any(ord(c) > 0x2fff for c in title):
            continue
        w, h = float(rng.uniform(13, 31)), float(rng.uniform(172, 206))
        hue = rng.random(3) * 0.55 + rng.choice([0.05, 0.25, 0.38])
        hue = 0.5 * hue + 0.5 * hue.mean() * np.array([1.05, 0.97, 0.86])
        W, H = int(w * scale), int(h * scale)
        u = np.linspace(-1, 1, W)[None, :, None]
        base = np.ones((H, W, 3)) * hue * (0.62 + 0.42 * np.sqrt(np.clip(1 - (u + 0.15) ** 2 * 0.75, 0, 1)))
        n = texture.Noise(k)
        yy, xx = np.mgrid[0:H, 0:W].astype(np.float32)
        base *= (0.93 + 0.14 * n.octaves(xx * 0.02, yy * 0.02, 3))[..., None]
        crease = np.exp(-((u - rng.uniform(-0.3, 0.3)) / 0.05) ** 2) * 0.12 * rng.random()
        picture = to_picture(np.clip(base + crease, 0, 1))
        ink = (242, 234, 214) if hue.mean() < 0.5 else (30, 26, 30)
        strip = Image.new("RGBA", (H, W))
        pen = ImageDraw.Draw(strip)
        role = ["libertine-bold", "lato-bold", "garamond", "sans-bold", "libertine-display"][k % 5]
        size = int(min(w * 0.42, 9) * scale)
        while fonts.get(role, size).getlength(title) > H * 0.52:
            size -= 2
        pen.text((H * 0.40, W / 2), title, font=fonts.get(role, size), fill=ink, anchor="mm")
        pen.text((H * 0.93, W / 2), author.split(" · ")[0].removesuffix(", Jr.").split()[-1].upper(), font=fonts.get("lato", int(size * 0.62)), fill=ink, anchor="rm")
        if k % 3 == 0:
            pen.rectangle([H * 0.04, 0, H * 0.055, W], fill=ink)
            pen.rectangle([H * 0.955, 0, H * 0.97, W], fill=ink)
        strip = strip.rotate(-90, expand=True)
        picture.paste(strip, (0, 0), strip)
        lean = 0.0
        top = floor + h
        deep = float(rng.uniform(-3, 3))
        canvas.quad(picture, [[x + lean, top, deep], [x + w + lean, top, deep], [x + w, floor, deep], [x, floor, deep]])
        canvas.shadow([[x + w - 0.8, top, 0], [x + w + 1.2, top, 0], [x + w + 1.2, floor, 0], [x + w - 0.8, floor, 0]], 0.75, 0.9)
        x += w + float(rng.uniform(0.2, 1.2))
    board = texture.wood(*np.meshgrid(np.arange(0, 460, 0.2, dtype=np.float32), np.arange(0, 26, 0.2, dtype=np.float32)), seed=7, plank=200.0)
    canvas.quad(to_picture(board), [[-230, floor, 8], [230, floor, 8], [230, floor - 24, 8], [-230, floor - 24, 8]])
    canvas.shadow([[-230, floor - 24, 0], [230, floor - 24, 0], [230, floor - 60, 0], [-230, floor - 60, 0]], 0.7, 6)
