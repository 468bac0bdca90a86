#!/usr/bin/env python3
"""Makes every picture of ../photos with its answer. Usage: photos.py [name ...]"""
import io
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

import barcode
import texture as t
from books import digits
from cover import (back_cover, front_cover, imprint_page, japanese_back, magazine, mm, old_back, pencil_box, sheet_music, tea_box)
from scene import Camera, Canvas, reading_order

PHOTOS = Path(__file__).resolve().parent.parent / "photos"
SUPERSAMPLE = 1.5
SCENES = {}


def photo(name, width=1600, height=1200, **save):
    def register(function):
        SCENES[name] = (function, width, height, save)
        return function
    return register


def art(size, kind, *args, **options):
    w, h = mm(size[0]) // 3, mm(size[1]) // 3
    return getattr(t, kind)(w, h, *args, **options)


def plain(size, top, low=None, seed=1, weave=0.0):
    picture = art(size, "gradient", top, low or top)
    return t.linen(picture, seed, weave) if weave else picture


A, B, C, TRADE = (128, 198), (110, 178), (135, 203), (156, 234)


def book(isbn, size=A, seed=1, art_of=None, **options):
    return back_cover(isbn, size=size, seed=seed, background=art_of, **options)


# The shelf: one look for each book, used in several photos.
def left_hand(**o):
    return book("978-0-441-47812-5", A, 2, art(A, "hills", 5, (0.50, 0.64, 0.80), (0.86, 0.91, 0.96), (0.66, 0.76, 0.86), (0.13, 0.22, 0.34)), look="panel", accent=(0.1, 0.3, 0.5), **o)


def dune(**o):
    return book("978-0-441-01359-3", A, 3, art(A, "marbled", 4, [(0.48, 0.17, 0.06), (0.62, 0.25, 0.08), (0.72, 0.36, 0.12), (0.56, 0.21, 0.07)]), author_photo=True, accent=(0.98, 0.84, 0.5), **o)


def pride(**o):
    return book("978-0-14-143951-8", B, 4, plain(B, (0.13, 0.27, 0.26), (0.08, 0.17, 0.17), 4, 0.05), look="rule", accent=(0.93, 0.76, 0.52), **o)


def crime(**o):
    return book("978-0-14-044913-6", B, 5, art(B, "bands", 8, [(0.11, 0.11, 0.13), (0.15, 0.14, 0.16), (0.09, 0.09, 0.10)]), look="band", accent=(0.72, 0.14, 0.12), body="libertine", **o)


def gatsby(**o):
    return book("978-0-7432-7356-5", C, 7, art(C, "night", 7), accent=(0.55, 0.85, 0.72), **o)


def hobbit(**o):
    return book("978-0-547-92822-7", B, 8, art(B, "hills", 12, (0.93, 0.80, 0.55), (0.98, 0.93, 0.78), (0.62, 0.66, 0.45), (0.13, 0.24, 0.13)), look="panel", accent=(0.30, 0.38, 0.12), **o)


def whale(**o):
    return book("978-0-14-243724-7", C, 9, art(C, "marbled", 21, [(0.05, 0.18, 0.28), (0.10, 0.30, 0.40), (0.30, 0.50, 0.55), (0.08, 0.24, 0.34)]), accent=(0.98, 0.95, 0.85), body="libertine", **o)


def frankenstein(**o):
    return book("978-0-14-143947-1", B, 10, art(B, "marbled", 33, [(0.16, 0.20, 0.14), (0.28, 0.32, 0.20), (0.12, 0.14, 0.12)]), look="rule", accent=(0.86, 0.82, 0.44), **o)


def foundation(**o):
    return book("978-0-553-29335-7", (106, 174), 11, art((106, 174), "night", 17, low=(0.20, 0.08, 0.12), glow=(0.75, 0.35, 0.2)), accent=(1.0, 0.78, 0.4), body="lato", **o)


def patterns(**o):
    return book("978-0-201-63361-0", TRADE, 12, plain(TRADE, (0.93, 0.94, 0.95), (0.86, 0.88, 0.91)), look="band", ink=(0.14, 0.16, 0.2), accent=(0.16, 0.36, 0.58), body="lato", **o)


def pragmatic(**o):
    return book("978-0-13-595705-9", TRADE, 13, art(TRADE, "hills", 44, (0.18, 0.26, 0.40), (0.62, 0.45, 0.42), (0.30, 0.28, 0.40), (0.05, 0.07, 0.13)), look="panel", accent=(0.55, 0.2, 0.16), body="sans", **o)


def month(**o):
    return book("978-0-201-83595-3", A, 14, plain(A, (0.90, 0.86, 0.74), (0.86, 0.80, 0.66), 14, 0.03), look="rule", ink=(0.2, 0.16, 0.12), accent=(0.52, 0.16, 0.1), **o)


def time_(**o):
    return book("978-0-553-38016-3", A, 15, art(A, "night", 29, low=(0.03, 0.10, 0.22), glow=(0.25, 0.4, 0.75)), author_photo=True, accent=(0.98, 0.86, 0.4), body="libertine", **o)


def things(**o):
    return book("978-0-465-05065-9", C, 16, plain(C, (0.96, 0.80, 0.20), (0.93, 0.72, 0.12)), look="rule", ink=(0.12, 0.11, 0.1), accent=(0.70, 0.12, 0.1), body="sans", **o)


def brave(**o):
    return book("978-0-06-085052-4", C, 17, art(C, "bands", 15, [(0.80, 0.84, 0.84), (0.86, 0.88, 0.87), (0.74, 0.80, 0.82)]), ink=(0.12, 0.15, 0.18), accent=(0.74, 0.2, 0.16), author_photo=True, **o)


def achebe(**o):
    return book("978-0-385-47454-2", A, 18, art(A, "bands", 19, [(0.72, 0.26, 0.12), (0.80, 0.44, 0.16), (0.64, 0.20, 0.12)]), look="panel", accent=(0.6, 0.2, 0.08), **o)


def dresden(**o):
    return book("978-0-385-33384-9", A, 19, plain(A, (0.80, 0.16, 0.12), (0.70, 0.10, 0.10), 19, 0.025), accent=(0.99, 0.92, 0.7), body="libertine", **o)


def moor(**o):
    return book("978-0-14-143955-6", B, 20, art(B, "hills", 61, (0.42, 0.43, 0.50), (0.78, 0.74, 0.74), (0.46, 0.42, 0.48), (0.15, 0.12, 0.14)), look="panel", accent=(0.35, 0.15, 0.3), **o)


def dracula(**o):
    return book("978-0-14-143984-6", B, 21, art(B, "marbled", 52, [(0.10, 0.02, 0.03), (0.30, 0.03, 0.05), (0.16, 0.02, 0.04), (0.05, 0.02, 0.03)]), accent=(0.93, 0.80, 0.62), **o)


def hail_mary(**o):
    return book("978-0-593-13520-4", TRADE, 22, art(TRADE, "night", 71, low=(0.02, 0.05, 0.09), top=(0.01, 0.01, 0.02), glow=(0.7, 0.42, 0.12)), accent=(0.98, 0.74, 0.3), body="sans", author_photo=True, **o)


def parfum(**o):
    return book("978-3-257-22800-7", B, 23, plain(B, (0.97, 0.96, 0.90), (0.95, 0.93, 0.86), 3, 0.02), look="rule", ink=(0.12, 0.1, 0.1), accent=(0.5, 0.1, 0.12), code_at="left", crease="right", **o)


def wolf(**o):
    return book("978-3-518-36675-2", B, 24, plain(B, (0.22, 0.30, 0.46), (0.16, 0.22, 0.36), 24, 0.04), look="rule", accent=(0.95, 0.85, 0.55), body="libertine", **o)


def tschick(**o):
    return book("978-3-499-25635-6", (115, 190), 25, plain((115, 190), (0.36, 0.68, 0.78), (0.62, 0.82, 0.80)), ink=(0.08, 0.14, 0.18), accent=(0.75, 0.12, 0.2), body="sans", **o)


def etranger(**o):
    return book("978-2-07-036002-4", B, 26, plain(B, (0.975, 0.97, 0.955)), look="rule", ink=(0.1, 0.1, 0.12), accent=(0.1, 0.1, 0.12), author_photo=True, **o)


def prince(**o):
    return book("978-2-07-061275-8", (125, 180), 27, art((125, 180), "night", 83, low=(0.25, 0.40, 0.62), top=(0.06, 0.12, 0.30), glow=(0.5, 0.55, 0.7)), look="panel", accent=(0.75, 0.5, 0.1), **o)


def peste(**o):
    return book("978-2-07-036042-0", B, 28, plain(B, (0.975, 0.97, 0.955)), ink=(0.1, 0.1, 0.12), accent=(0.45, 0.12, 0.1), **o)


def macondo(**o):
    return book("978-84-376-0494-7", B, 30, plain(B, (0.10, 0.10, 0.11), (0.13, 0.13, 0.14), 30, 0.02), look="rule", accent=(0.96, 0.80, 0.25), **o)


def interview(**o):
    return book("979-8664653403", TRADE, 32, plain(TRADE, (0.10, 0.20, 0.24), (0.05, 0.12, 0.15)), look="rule", accent=(0.3, 0.86, 0.76), body="lato", code_at="right", label=False, module=4, **o)


# The scenes ---------------------------------------------------------------------------------

def canvas(w, h, seed, table, camera, **options):
    k = SUPERSAMPLE if w * h < 6_000_000 else 1.0
    return Canvas(Camera(int(w * k), int(h * k), **camera), seed, table, **options)


@photo("frontal.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 101, "wood", dict(distance=258, tilt=3, roll=-1.5), turn=86)
    c.book(left_hand(), (0, 0), 0.8, 17)
    c.lamp(200, 0.5)
    c.leaves(0.3)
    return c, dict()


@photo("perspective.jpg", 1800, 1350)
def _(w, h):
    c = canvas(w, h, 102, "desk", dict(distance=284, tilt=44, azimuth=14, target=(4, -8)), base=(0.83, 0.81, 0.77))
    c.pencil((96, -70), (150, 110))
    c.book(pride(), (0, 0), 6, 22)
    c.lamp(160, 0.6, (1.0, 0.97, 0.92))
    return c, dict(depth=(0.42, 0.0, 2.2))


@photo("rotated-90.jpg", 1600, 1200)
def _(w, h):
    c = canvas(w, h, 103, "cloth", dict(distance=258, tilt=8), base=(0.62, 0.60, 0.55), stripe=(0.36, 0.42, 0.52))
    c.book(dune(), (2, 3), 91.5, 20)
    c.lamp(300, 0.5, (1, 0.93, 0.82))
    return c, dict()


@photo("rotated-180.jpg", 1200, 1600, quality=74)
def _(w, h):
    c = canvas(w, h, 104, "stone", dict(distance=258, tilt=6), base=(0.62, 0.61, 0.60))
    c.book(month(), (0, 4), 178, 15)
    c.lamp(30, 0.5, (0.95, 0.98, 1.0))
    c.photographer(0.28)
    return c, dict()


@photo("rotated-45.jpg", 2000, 1500, quality=75)
def _(w, h):
    c = canvas(w, h, 105, "wood", dict(distance=310, tilt=10), dark=(0.20, 0.11, 0.06), light=(0.42, 0.26, 0.15))
    c.mug((-165, 78))
    c.book(brave(), (6, 0), 44, 18)
    c.lamp(240, 0.6)
    return c, dict()


@photo("dim-light.jpg", 1200, 1600, quality=74)
def _(w, h):
    c = canvas(w, h, 106, "wood", dict(distance=267, tilt=12, roll=2), dark=(0.28, 0.16, 0.09), light=(0.50, 0.33, 0.20))
    c.book(gatsby(), (0, 0), -4, 16)
    c.lamp(230, 1.6, (1.0, 0.76, 0.46), 0.36)
    return c, dict(grain=0.0035, shot=0.020, exposure=0.95, vignette=0.5, defocus=0.8)


@photo("glare.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 107, "desk", dict(distance=258, tilt=16), base=(0.36, 0.34, 0.33))
    c.book(whale(), (0, 0), 3, 24)
    c.lamp(250, 0.4)
    c.glare((0.40, 0.30), 0.12, 1.1, 1.9, 62)
    c.glare((0.66, 0.80), 0.085, 0.34, 2.4, 62)
    return c, dict()


@photo("mild-blur.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 108, "carpet", dict(distance=249, tilt=5, roll=3), base=(0.34, 0.30, 0.27))
    c.book(hobbit(), (2, -2), -3, 19)
    c.lamp(190, 0.5, (1, 0.95, 0.86))
    return c, dict(defocus=1.2)


@photo("strong-blur.jpg", 1500, 2000)
def _(w, h):
    c = canvas(w, h, 109, "desk", dict(distance=236, tilt=6), base=(0.72, 0.66, 0.58))
    c.book(peste(), (2, 2), 2, 12)
    c.lamp(210, 0.5)
    return c, dict(defocus=1.6)


@photo("misread-blur.jpg", 1500, 2000)
def _(w, h):
    """The same book, slightly more out of focus: zbar finds a wrong number here with a right check digit."""
    return SCENES["strong-blur.jpg"][0](w, h)[0], dict(defocus=2.0)


@photo("motion-blur.jpg", 1600, 1200)
def _(w, h):
    c = canvas(w, h, 110, "cloth", dict(distance=245, tilt=7, target=(12, -36)), base=(0.30, 0.34, 0.42))
    c.book(frankenstein(), (0, 0), 4, 15)
    c.lamp(160, 0.6, (1, 0.9, 0.76), 0.8)
    return c, dict(motion=(7, 88), grain=0.004, shot=0.012)


@photo("small-in-frame.jpg", 2400, 1800, quality=70)
def _(w, h):
    c = canvas(w, h, 111, "wood", dict(distance=520, tilt=30, azimuth=-12, target=(0, 10)), dark=(0.40, 0.28, 0.18), light=(0.70, 0.54, 0.37))
    c.mug((150, 120), colour=(0.30, 0.42, 0.55))
    c.pencil((-230, -40), (-90, -120))
    c.book(foundation(), (-30, -6), 12, 21)
    c.lamp(200, 0.6)
    c.leaves(0.38)
    return c, dict()


@photo("twelve-megapixel.jpg", 4000, 3000, quality=66)
def _(w, h):
    c = canvas(w, h, 112, "wood", dict(distance=331, tilt=20, azimuth=10), dark=(0.34, 0.21, 0.12), light=(0.56, 0.39, 0.24))
    c.mug((-165, 95), colour=(0.80, 0.74, 0.64))
    c.pencil((128, -120), (166, 30))
    c.book(time_(), (0, 0), -7, 18)
    c.lamp(215, 0.55)
    c.leaves(0.34, blur=30)
    return c, dict(grain=0.0012, shot=0.004, depth=(0.40, 0.0, 3.4), sharpen=40, defocus=1.0)


@photo("exif-orientation-6.jpg", 1200, 1600, orientation=6)
def _(w, h):
    c = canvas(w, h, 113, "stone", dict(distance=258, tilt=14, azimuth=-8), base=(0.38, 0.38, 0.40))
    c.book(parfum(), (0, 0), 5, 17)
    c.lamp(330, 0.6, (0.96, 0.98, 1.0))
    return c, dict()


@photo("exif-orientation-8.jpg", 1200, 1600, orientation=8)
def _(w, h):
    c = canvas(w, h, 114, "cloth", dict(distance=258, tilt=10, azimuth=6), base=(0.66, 0.55, 0.44))
    c.book(prince(), (0, 0), -6, 11)
    c.lamp(200, 0.5, (1, 0.94, 0.84))
    c.blinds(0.34)
    return c, dict()


@photo("lossless.png", 780, 1040)
def _(w, h):
    c = canvas(w, h, 115, "desk", dict(distance=225, tilt=4, target=(0, 0)), base=(0.55, 0.60, 0.62))
    c.book(wolf(), (0, 0), -2, 14)
    c.lamp(150, 0.5)
    return c, dict(grain=0.0006, shot=0.0012, sharpen=30)


@photo("lossy.webp", 1200, 1600, quality=72)
def _(w, h):
    c = canvas(w, h, 116, "wood", dict(distance=262, tilt=18, azimuth=16), dark=(0.45, 0.34, 0.24), light=(0.74, 0.60, 0.43), turn=70)
    c.book(macondo(), (0, 0), 3, 26)
    c.lamp(170, 0.6)
    return c, dict()


@photo("progressive.jpg", 1200, 1600, progressive=True)
def _(w, h):
    c = canvas(w, h, 117, "carpet", dict(distance=275, tilt=9), base=(0.44, 0.24, 0.22))
    c.book(things().bend(), (0, 0), -5, 20)
    c.lamp(210, 0.6, (1, 0.96, 0.9))
    return c, dict()


@photo("greyscale.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 118, "cloth", dict(distance=258, tilt=12, roll=-3), base=(0.6, 0.6, 0.6))
    c.book(moor(), (0, 0), 2, 19)
    c.lamp(40, 0.7, (1, 1, 1))
    return c, dict(grey=True, grain=0.004, shot=0.012)


@photo("cmyk.jpg", 1200, 1600, quality=74, cmyk=True)
def _(w, h):
    c = canvas(w, h, 119, "desk", dict(distance=267, tilt=8), base=(0.78, 0.74, 0.68))
    c.book(tschick(), (0, 0), -3, 15)
    c.lamp(220, 0.5)
    return c, dict()


@photo("webcam-640x480.jpg", 640, 480, quality=68)
def _(w, h):
    c = canvas(w, h, 120, "cloth", dict(distance=158, tilt=9, target=(18, -46)), base=(0.24, 0.26, 0.30))
    c.book(dracula(), (0, 0), 3, 18)
    c.lamp(100, 0.7, (0.92, 1.0, 0.98), 0.95)
    return c, dict(defocus=0.6, grain=0.005, shot=0.014, vignette=0.4, sharpen=130)


@photo("hand-shadow.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 121, "wood", dict(distance=258, tilt=2), dark=(0.26, 0.17, 0.10), light=(0.47, 0.33, 0.21), turn=88)
    c.book(achebe(), (0, 0), -1.5, 14)
    c.lamp(270, 0.6, (1, 0.96, 0.88))
    c.photographer(0.62)
    return c, dict()


@photo("bent-cover.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 122, "cloth", dict(distance=258, tilt=22, azimuth=-18), base=(0.50, 0.52, 0.44), stripe=(0.70, 0.66, 0.54))
    c.book(dresden(wear=1.6).bend(0.05), (0, 0), 4, 16)
    c.lamp(190, 0.6)
    return c, dict()


@photo("three-books.jpg", 2400, 1800, quality=70)
def _(w, h):
    c = canvas(w, h, 123, "wood", dict(distance=400, tilt=8, target=(0, 0)))
    c.book(pride(), (-128, 6), 4, 22)
    c.book(etranger(), (2, 0), -3, 12)
    c.book(hobbit(), (130, 3), 2, 19)
    c.lamp(200, 0.55)
    return c, dict()


@photo("six-books.jpg", 2800, 2100, quality=72)
def _(w, h):
    c = canvas(w, h, 124, "cloth", dict(distance=498, tilt=4, target=(0, 0)), base=(0.46, 0.43, 0.38))
    for cover, at, angle, thick in [(crime(), (-126, 98), 2, 27), (wolf(), (0, 101), -3, 14), (moor(), (126, 97), 1.5, 19),
                                    (peste(), (-128, -96), -2, 13), (dracula(), (0, -97), 2, 22), (parfum(), (128, -98), -1, 16)]:
        c.book(cover, at, angle, thick)
    c.lamp(215, 0.4)
    return c, dict(vignette=0.22)


@photo("two-books-one-rotated.jpg", 2000, 1500)
def _(w, h):
    c = canvas(w, h, 125, "desk", dict(distance=335, tilt=12), base=(0.42, 0.47, 0.46))
    c.book(frankenstein(), (-88, 0), 3, 15)
    c.book(foundation(), (84, 10), 97, 21)
    c.pencil((-10, -120), (90, -96), (0.2, 0.42, 0.3))
    c.lamp(160, 0.55)
    return c, dict()


@photo("stack.jpg", 2400, 1800, quality=75)
def _(w, h):
    c = canvas(w, h, 126, "wood", dict(distance=404, tilt=34, azimuth=-20, target=(6, 4)), dark=(0.22, 0.13, 0.08), light=(0.45, 0.29, 0.17))
    z = 0
    for cover, at, angle, thick in [(patterns(), (0, 2), 3, 30), (whale(), (-30, 38), -5, 32), (tschick(), (-28, 34), 4, 16), (foundation(), (-32, 38), -3, 20)]:
        c.book(cover, at, angle, thick, base=z)
        z += thick
    c.mug((170, 120))
    c.lamp(190, 0.6, (1, 0.95, 0.86))
    return c, dict(depth=(0.36, 0.0, 2.4))


@photo("overlapping.jpg", 2200, 1650)
def _(w, h):
    c = canvas(w, h, 127, "desk", dict(distance=344, tilt=14, azimuth=6, target=(0, 0)), base=(0.70, 0.64, 0.54))
    c.book(gatsby(), (62, 36), 8, 14)
    c.book(month(), (-46, -6), -11, 15, base=14)
    c.lamp(220, 0.55)
    return c, dict()


@photo("price-add-on.jpg", 1350, 1800)
def _(w, h):
    c = canvas(w, h, 128, "wood", dict(distance=258, tilt=6, roll=1), dark=(0.40, 0.25, 0.14), light=(0.62, 0.44, 0.28), turn=84)
    c.book(crime(addon="51295", price="$12.95 US / $17.95 CAN"), (0, 0), -2, 27)
    c.lamp(200, 0.5)
    return c, dict()


@photo("price-add-on-trade.jpg", 1500, 2000)
def _(w, h):
    c = canvas(w, h, 129, "desk", dict(distance=301, tilt=16, azimuth=12), base=(0.80, 0.78, 0.74))
    c.book(pragmatic(addon="54999", price="$49.99 US"), (0, 0), 4, 20)
    c.lamp(150, 0.5, (0.97, 0.98, 1.0))
    return c, dict()


@photo("periodical.jpg", 1350, 1800)
def _(w, h):
    c = canvas(w, h, 130, "cloth", dict(distance=301, tilt=12), base=(0.70, 0.68, 0.62), stripe=(0.45, 0.25, 0.22))
    c.book(magazine(), (0, 0), 5, 5, spine="left")
    c.lamp(210, 0.5)
    c.glare((0.62, 0.30), 0.14, 0.35, 2.2, 70)
    return c, dict()


@photo("sheet-music.jpg", 1650, 2200, quality=70)
def _(w, h):
    c = canvas(w, h, 131, "wood", dict(distance=387, tilt=6), dark=(0.05, 0.05, 0.05), light=(0.12, 0.11, 0.10))
    c.book(sheet_music(), (0, 0), -2, 3)
    c.lamp(210, 0.6, (1, 0.93, 0.8))
    return c, dict()


@photo("upc-product.jpg", 1600, 1200, quality=74)
def _(w, h):
    c = canvas(w, h, 132, "stone", dict(distance=270, tilt=28, azimuth=16), base=(0.74, 0.73, 0.71))
    c.book(tea_box(), (0, 0), 3, 62, spine="none")
    c.lamp(190, 0.5)
    return c, dict()


@photo("ean13-product.jpg", 1600, 1200)
def _(w, h):
    c = canvas(w, h, 133, "desk", dict(distance=280, tilt=20, azimuth=-10), base=(0.62, 0.64, 0.66))
    c.pencil((-110, -74), (60, -88))
    c.book(pencil_box(), (0, 6), -4, 16, spine="none")
    c.lamp(200, 0.5)
    return c, dict()


@photo("book-and-product.jpg", 2000, 1500, quality=74)
def _(w, h):
    c = canvas(w, h, 134, "wood", dict(distance=400, tilt=16, target=(6, -4)), dark=(0.42, 0.31, 0.21), light=(0.70, 0.55, 0.38))
    c.book(etranger(), (-84, 6), 4, 12)
    c.book(pencil_box(), (74, -40), -8, 16, spine="none")
    c.lamp(170, 0.55)
    c.leaves(0.3)
    return c, dict()


@photo("isbn-979.jpg", 1350, 1800, quality=73)
def _(w, h):
    c = canvas(w, h, 135, "carpet", dict(distance=301, tilt=10, roll=-2), base=(0.36, 0.38, 0.36))
    c.book(interview(), (0, 0), 3, 19)
    c.lamp(220, 0.5)
    return c, dict()


@photo("two-codes-japanese.jpg", 1350, 1800)
def _(w, h):
    c = canvas(w, h, 136, "wood", dict(distance=235, tilt=8), dark=(0.50, 0.38, 0.26), light=(0.76, 0.62, 0.44), turn=87)
    c.book(japanese_back(), (0, 0), -3, 13, spine="left")
    c.lamp(200, 0.5)
    return c, dict()


@photo("no-code-front-cover.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 137, "wood", dict(distance=258, tilt=12, azimuth=-8))
    c.book(front_cover("The Left|Hand of|Darkness", "Ursula K. Le Guin", 2, art(A, "hills", 5, (0.30, 0.42, 0.62), (0.78, 0.85, 0.93), (0.56, 0.68, 0.80), (0.08, 0.15, 0.26), horizon=0.42)), (0, 0), -4, 17, spine="left")
    c.lamp(200, 0.5)
    return c, dict()


@photo("no-code-table.jpg", 1600, 1200)
def _(w, h):
    c = canvas(w, h, 138, "wood", dict(distance=420, tilt=30))
    c.mug((-70, 50))
    c.pencil((40, -70), (170, 30))
    c.pencil((60, -90), (190, -40), (0.2, 0.35, 0.6))
    c.lamp(200, 0.7)
    c.blinds(0.4)
    return c, dict()


@photo("no-code-spines.jpg", 1600, 1200)
def _(w, h):
    """A row of spines, seen from the front: books standing, so the 'covers' are spines on a shelf board."""
    from shelf import spine_row
    c = canvas(w, h, 139, "wood", dict(distance=330, tilt=0), dark=(0.20, 0.12, 0.07), light=(0.30, 0.19, 0.11), turn=0)
    spine_row(c)
    c.lamp(250, 0.7, (1, 0.93, 0.82))
    return c, dict()


@photo("printed-imprint.jpg", 1500, 2000, printed="9780140449136 0 14 044913 2")
def _(w, h):
    """A page with an ISBN only in print."""
    c = canvas(w, h, 141, "wood", dict(distance=225, tilt=9, azimuth=6, roll=1.5))
    c.book(imprint_page("ISBN 0 14 044913 2", "978-0-14-044913-6", B, 41), (0, 0), 2, 9, spine="left")
    c.lamp(215, 0.5, (1.0, 0.96, 0.9))
    return c, dict()


@photo("printed-back-sideways.jpg", 2000, 1500, printed="9780441478125 0 441 47812 3")
def _(w, h):
    """The back of a book from before bar codes, lying on its side, with the nine digits of an SBN."""
    size = (106, 178)
    c = canvas(w, h, 142, "cloth", dict(distance=225, tilt=7), base=(0.40, 0.44, 0.40))
    c.book(old_back("SBN 441 47812 3", "978-0-441-47812-5", size, 42, plain(size, (0.95, 0.88, 0.72), (0.92, 0.84, 0.66), 42, 0.02)), (0, 0), 91, 14)
    c.lamp(150, 0.5)
    return c, dict()


@photo("too-blurred.jpg", 1200, 1600)
def _(w, h):
    c = canvas(w, h, 140, "wood", dict(distance=267, tilt=8))
    c.book(dune(), (0, 0), 3, 20)
    c.lamp(200, 0.5)
    return c, dict(defocus=13, motion=(16, 30))


# Saving -------------------------------------------------------------------------------------

def save(picture, path, quality=80, progressive=False, cmyk=False, orientation=None):
    options = {}
    if path.suffix == ".jpg":
        options = dict(quality=quality, optimize=True, progressive=progressive)
        if not cmyk and picture.mode == "RGB":
            options["subsampling"] = "4:2:0"
    elif path.suffix == ".webp":
        options = dict(quality=quality, method=6)
    else:
        options = dict(optimize=True)
    if orientation:
        exif = Image.Exif()
        exif[0x0112] = orientation
        options["exif"] = exif
        picture = picture.transpose({6: Image.ROTATE_90, 8: Image.ROTATE_270}[orientation])
    if cmyk:
        picture = picture.convert("CMYK")
    picture.save(path, **options)


def make(name):
    function, width, height, options = SCENES[name]
    printed = options.pop("printed", None)
    scene, optics = function(width, height)
    save(scene.photo((width, height), **optics), PHOTOS / name, **options)
    lines = []
    for kind, payload, addon, corners in reading_order(scene.visible_codes()):
        inside = (corners >= 0).all() and (corners[:, 0] < scene.camera.width).all() and (corners[:, 1] < scene.camera.height).all()
        if not inside:
            raise ValueError(f"{name}: {payload} is not wholly in the picture")
        lines.append(f"{kind} {payload}" + (f" +{addon}" if addon else ""))
    (PHOTOS / name).with_suffix(".txt").write_text("".join(line + "\n" for line in lines))
    if printed:
        (PHOTOS / name).with_suffix(".print.txt").write_text(printed + "\n")
    modules = [min(np.hypot(*(c[1] - c[0])), np.hypot(*(c[2] - c[3]))) / 95 * width / scene.camera.width for c in [code[3] for code in scene.codes]]
    return f"{name}: {'; '.join(lines) or 'no code'}  [{', '.join(f'{m:.1f}' for m in modules)} px a module]"


def main():
    PHOTOS.mkdir(exist_ok=True)
    names = sys.argv[1:] or list(SCENES)
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(make, names):
            print(line, flush=True)


if __name__ == "__main__":
    main()
