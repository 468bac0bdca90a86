"""Procedural surfaces: noise, table tops, and pictures for covers. All coordinates are millimetres."""
import numpy as np

SIDE = 256


class Noise:
    """Tileable value noise and its octaves, from one seed."""

    def __init__(self, seed):
        self.lattice = np.random.default_rng(seed).random((SIDE, SIDE), dtype=np.float32)

    def __call__(self, x, y):
        x0, y0 = np.floor(x), np.floor(y)
        fx, fy = (x - x0).astype(np.float32), (y - y0).astype(np.float32)
        fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
        ix, iy = x0.astype(np.int32) % SIDE, y0.astype(np.int32) % SIDE
        jx, jy = (ix + 1) % SIDE, (iy + 1) % SIDE
        t = self.lattice
        top = t[iy, ix] * (1 - fx) + t[iy, jx] * fx
        low = t[jy, ix] * (1 - fx) + t[jy, jx] * fx
        return top * (1 - fy) + low * fy

    def octaves(self, x, y, n=4, gain=0.5):
        total, weight, norm = 0, 1.0, 0
        for k in range(n):
            total = total + weight * self(x * 2 ** k + 17.3 * k, y * 2 ** k + 9.1 * k)
            norm += weight
            weight *= gain
        return total / norm


def mix(a, b, t):
    a, b = np.asarray(a, np.float32), np.asarray(b, np.float32)
    return a + (b - a) * np.asarray(t, np.float32)[..., None]


def smooth(x, lo, hi):
    t = np.clip((x - lo) / (hi - lo), 0, 1)
    return t * t * (3 - 2 * t)


def wood(x, y, seed, dark=(0.36, 0.22, 0.12), light=(0.62, 0.43, 0.26), plank=118.0):
    n = Noise(seed)
    row = np.floor(y / plank)
    shift = n(row * 7.7, row * 3.1)
    u, v = x + shift * 900, y + 40 * shift
    bend = n.octaves(u * 0.004, v * 0.016, 3)
    rings = 0.5 + 0.5 * np.sin((v + 70 * bend) * 0.30 + 5 * n(u * 0.008, v * 0.05))
    fibre = n.octaves(u * 0.03, v * 1.1, 3)
    pores = smooth(n(u * 0.12, v * 3.2), 0.72, 0.95)
    tone = 0.20 * rings + 0.55 * fibre + 0.35 * (shift - 0.5) + 0.2 * bend
    colour = mix(dark, light, np.clip(tone, 0, 1))
    colour *= (1 - 0.28 * pores)[..., None]
    edge = np.abs(y / plank - np.round(y / plank)) * plank
    colour *= (0.25 + 0.75 * smooth(edge, 0.3, 1.6))[..., None]
    return colour


def cloth(x, y, seed, base=(0.55, 0.5, 0.44), thread=1.3, stripe=None):
    n = Noise(seed)
    wx = x + 1.1 * n(x * 0.06, y * 0.06)
    wy = y + 1.1 * n(x * 0.06 + 40, y * 0.06)
    warp = np.sin(wx * 2 * np.pi / thread) * np.cos(wy * np.pi / thread)
    weft = np.sin(wy * 2 * np.pi / thread) * np.cos(wx * np.pi / thread)
    slub = n(wx * 0.7, wy * 0.05) + n(wx * 0.05, wy * 0.7)
    shade = 0.86 + 0.10 * (warp + weft) * 0.5 + 0.16 * (slub - 1)
    folds = n.octaves(x * 0.006 + y * 0.002, y * 0.004, 2)
    colour = np.ones(x.shape + (3,), np.float32) * np.asarray(base, np.float32)
    if stripe is not None:
        band = smooth(np.abs(np.mod(wy, 64) - 32), 9, 9.8)
        thin = smooth(np.abs(np.mod(wy, 64) - 18), 1.2, 1.8)
        colour = mix(stripe, colour, band * (0.35 + 0.65 * thin))
    return colour * (shade * (0.78 + 0.44 * folds))[..., None]


def stone(x, y, seed, base=(0.66, 0.65, 0.63)):
    n = Noise(seed)
    cloud = n.octaves(x * 0.012, y * 0.012, 4)
    dark = smooth(n.octaves(x * 0.33 + 90, y * 0.33, 4, 0.7), 0.60, 0.68)
    pale = smooth(n.octaves(x * 0.4, y * 0.4, 4, 0.7), 0.58, 0.70)
    shade = 0.82 + 0.3 * cloud + 0.16 * pale - 0.38 * dark
    vein = 1 - smooth(np.abs(n.octaves(x * 0.005, y * 0.005, 4) - 0.5), 0.0, 0.016)
    return (np.asarray(base, np.float32) * (shade - 0.12 * vein)[..., None]).astype(np.float32)


def desk(x, y, seed, base=(0.80, 0.79, 0.77)):
    """A painted board: almost plain, a little dirt, a few scratches."""
    n = Noise(seed)
    shade = 0.95 + 0.07 * n.octaves(x * 0.01, y * 0.01, 4) + 0.03 * (n(x * 2.5, y * 2.5) - 0.5)
    scratch = smooth(n(x * 0.004 + y * 0.02, y * 0.9 + x * 0.3), 0.972, 0.99)
    return np.asarray(base, np.float32) * (shade - 0.08 * scratch)[..., None]


def carpet(x, y, seed, base=(0.30, 0.33, 0.38)):
    n = Noise(seed)
    loops = n(x * 0.55, y * 0.55) * 0.6 + n(x * 1.4, y * 1.4) * 0.5
    shade = 0.55 + 0.6 * loops + 0.25 * (n.octaves(x * 0.008, y * 0.008, 3) - 0.5)
    return np.asarray(base, np.float32) * shade[..., None]


TABLES = {"wood": wood, "cloth": cloth, "stone": stone, "desk": desk, "carpet": carpet}


# Pictures printed on covers -------------------------------------------------------------------

def grid(width, height):
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return x / height, y / height


def gradient(width, height, top, bottom, tilt=0.15):
    x, y = grid(width, height)
    return mix(top, bottom, np.clip(y + tilt * (x - 0.3), 0, 1))


def marbled(width, height, seed, colours):
    x, y = grid(width, height)
    n = Noise(seed)
    wx = x * 3 + 2.2 * n.octaves(x * 3, y * 3, 3)
    wy = y * 3 + 2.2 * n.octaves(x * 3 + 50, y * 3, 3)
    t = n.octaves(wx, wy, 4)
    t = np.clip((t - 0.25) * 2, 0, 0.999) * (len(colours) - 1)
    i = t.astype(int)
    c = np.asarray(colours, np.float32)
    f = (t - i)[..., None]
    return c[i] * (1 - f) + c[np.minimum(i + 1, len(colours) - 1)] * f


def hills(width, height, seed, sky_top, sky_low, far, near, layers=6, horizon=0.45):
    x, y = grid(width, height)
    n = Noise(seed)
    picture = mix(sky_top, sky_low, np.clip(y / (horizon + 0.15), 0, 1))
    cloud = smooth(n.octaves(x * 2.2, y * 7, 4), 0.5, 0.8)
    picture = mix(picture, np.ones(3) * 0.95, 0.25 * cloud)
    for k in range(layers):
        f = k / (layers - 1)
        crest = horizon + 0.5 * f - (0.20 - 0.1 * f) * n.octaves(x[0] * (2.2 + 2.5 * f) + 31 * k, x[0] * 0 + k, 5)
        colour = np.asarray(far) * (1 - f) + np.asarray(near) * f
        grain = 0.92 + 0.16 * n.octaves(x * 14, y * 22, 3)
        cover = smooth(y - crest[None, :], 0, 0.003)
        picture = mix(picture, colour, cover) if k == 0 else picture * (1 - cover[..., None]) \
            + (colour * grain[..., None]) * cover[..., None]
    return picture.astype(np.float32)


def night(width, height, seed, low=(0.10, 0.14, 0.30), top=(0.02, 0.02, 0.07), glow=(0.5, 0.3, 0.55)):
    x, y = grid(width, height)
    n = Noise(seed)
    picture = mix(top, low, np.clip(y, 0, 1))
    dust = smooth(n.octaves(x * 2.5 + y, y * 3.2 - x, 5), 0.42, 0.85)
    picture = mix(picture, glow, 0.6 * dust)
    rng = np.random.default_rng(seed)
    for _ in range(600):
        cx, cy = rng.random() * width, rng.random() * height
        r = 0.5 + rng.exponential(0.55)
        x0, y0, k = int(cx), int(cy), int(4 * r) + 2
        ys, xs = np.mgrid[max(0, y0 - k):min(height, y0 + k), max(0, x0 - k):min(width, x0 + k)]
        spot = np.exp(-((xs - cx) ** 2 + (ys - cy) ** 2) / (2 * r * r))
        picture[ys, xs] += (rng.uniform(0.2, 0.9) * spot)[..., None]
    return np.clip(picture, 0, 1)


def linen(picture, seed, strength=0.06):
    """A woven book cloth over a colour."""
    h, w = picture.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    n = Noise(seed)
    weave = np.sin(x * 1.4 + 2 * n(x * 0.02, y * 0.02)) * np.sin(y * 1.4)
    slub = n(x * 0.3, y * 0.015) + n(x * 0.015, y * 0.3) - 1
    return np.clip(picture * (1 + strength * weave + 1.5 * strength * slub)[..., None], 0, 1)


def bands(width, height, seed, colours):
    """Broad slanted brush strokes."""
    x, y = grid(width, height)
    n = Noise(seed)
    t = y * 1.3 + 0.35 * x + 0.25 * n.octaves(x * 1.4, y * 2.5, 4)
    k = np.floor(t * len(colours) * 0.9).astype(int) % len(colours)
    picture = np.asarray(colours, np.float32)[k]
    bristle = 0.93 + 0.14 * n(x * 6, (y + 0.3 * x) * 140)
    return np.clip(picture * bristle[..., None], 0, 1)
