#!/usr/bin/env python3
"""Makes every recording of ../frames with its answers. Usage: frames.py [name ...]

A camera over a desk: nobody there, a book that comes in, held slanted, held close, held far. MJPEG, as a camera gives it.
"""
import io
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import photos
from scene import Camera, Canvas

FRAMES = Path(__file__).resolve().parent.parent / "frames"

# A frame: the centre of the code (in frame heights from the frame's centre), pixels a module, the rotation of the book (degrees), and
# its motion during the frame (pixels, degrees).
EMPTY = [None] * 3
COMING = [(0.95, 0.40, 2.6, 38, (22, 15)), (0.66, 0.30, 2.7, 33, (18, 18)), (0.40, 0.22, 2.8, 27, (11, 20)), (0.20, 0.08, 2.9, 22, (5, 30))]
SLANTED = [(0.04, 0.02, 3.0, 24, (2.5, 60)), (0.02, 0.03, 3.0, 31, (1.5, 10)), (0.01, 0.02, 3.0, 37, (2.0, 100))]
CLOSE = [(-0.10, 0.10, 4.8, 6, (2.5, 80)), (-0.12, 0.12, 5.0, 4, (1.5, 10)), (-0.13, 0.13, 5.1, 3, (3.5, 150))]
FAR = [(0.06, -0.10, 2.05, -4, (1.2, 0)), (0.05, -0.11, 2.0, -5, None), (0.05, -0.10, 1.95, -6, (1.0, 45))]
MODULE = 1 / 3  # millimetres

RECORDINGS = {
    "desk-1280x720": (1280, 720, "desk", photos.pride, 350, dict(base=(0.74, 0.70, 0.63))),
    "shelf-1920x1080": (1920, 1080, "cloth", photos.achebe, 420, dict(base=(0.60, 0.60, 0.55), stripe=(0.36, 0.42, 0.52))),
}


def frame(canvas, light, cover, place, number):
    canvas.light, canvas.codes, canvas.seed = light.copy(), [], 500 + 17 * number
    camera, motion, thickness = canvas.camera, None, 16
    if place:
        x, y, pixels, angle, motion = place
        distance = camera.focal * MODULE / pixels
        across, down = (value * camera.height * MODULE / pixels for value in (x, y))
        left, top, right, bottom = cover.codes[0][3]
        u, v = (left + right - cover.size[0]) / 2, (cover.size[1] - top - bottom) / 2
        a = np.radians(angle)
        at = (across - u * np.cos(a) + v * np.sin(a), -down - u * np.sin(a) - v * np.cos(a))
        canvas.book(cover, at, angle, thickness, base=camera.eye[2] - distance - thickness, light=(-0.4, 0.7))
    canvas.lamp(215, 0.5, (1, 0.95, 0.86))
    size = (canvas.camera.width, canvas.camera.height)
    picture = canvas.photo(size, defocus=0.7, motion=motion, grain=0.004, shot=0.012, sharpen=40)
    answers = []
    for kind, payload, addon, corners in canvas.visible_codes():
        if (corners >= 0).all() and (corners < size).all():
            module = min(np.hypot(*(corners[1] - corners[0])), np.hypot(*(corners[2] - corners[3]))) / 95
            answers.append((f"{kind} {payload}" + (f" +{addon}" if addon else ""), module))
    return picture, answers


def make(name):
    width, height, table, cover, distance, options = RECORDINGS[name]
    canvas = Canvas(Camera(width, height, distance=distance), 300, table, **options)
    canvas.pencil((-120, -60), (-60, 40))
    light, cover = canvas.light.copy(), cover()
    jpegs, lines, modules = [], [], []
    for number, place in enumerate(EMPTY + COMING + SLANTED + CLOSE + FAR):
        picture, answers = frame(canvas, light, cover, place, number)
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=40 if height > 720 else 46, subsampling="4:2:2")
        jpegs.append(data.getvalue())
        lines.append(" ".join([str(number)] + [text for text, _ in answers]))
        modules += [f"{number}: {module:.1f}" for _, module in answers]
    (FRAMES / f"{name}.mjpeg").write_bytes(b"".join(jpegs))
    (FRAMES / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return f"{name}: {len(jpegs)} frames, {sum(map(len, jpegs)) // 1024} KiB  [{', '.join(modules)} px a module]"


def main():
    FRAMES.mkdir(exist_ok=True)
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(make, sys.argv[1:] or list(RECORDINGS)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
