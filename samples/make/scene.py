"""A pinhole camera over a table with things on it, and the effects of a phone's optics.

World coordinates are millimetres: x to the right, y away from the reader, z up; the table is z = 0.
"""
import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from texture import Noise, TABLES, smooth


def linear(a):
    return np.power(np.clip(a, 0, 1), 2.2)


def homography(src, dst):
    """Returns the 3x3 matrix that maps four points to four points."""
    rows, right = [], []
    for (x, y), (u, v) in zip(src, dst):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(np.array(rows, float), np.array(right, float)), 1).reshape(3, 3)


class Camera:
    def __init__(self, width, height, target=(0, 0), distance=420.0, tilt=0.0, azimuth=0.0, roll=0.0, fov=58.0):
        self.width, self.height = width, height
        self.focal = 0.5 * max(width, height) / np.tan(np.radians(fov) / 2)
        t, a, r = np.radians([tilt, azimuth, roll])
        back = np.array([np.sin(t) * np.sin(a), -np.sin(t) * np.cos(a), np.cos(t)])
        self.eye = np.array([target[0], target[1], 0.0]) + distance * back
        forward = -back
        right = np.array([np.cos(a), np.sin(a), 0.0])
        down = np.cross(forward, right)
        self.right = np.cos(r) * right + np.sin(r) * down
        self.down = -np.sin(r) * right + np.cos(r) * down
        self.forward = forward

    def project(self, points):
        p = np.asarray(points, float) - self.eye
        z = p @ self.forward
        return np.stack([self.width / 2 + self.focal * (p @ self.right) / z,
                         self.height / 2 + self.focal * (p @ self.down) / z], axis=-1)

    def on_table(self, step=1.0):
        """Returns the table coordinates in millimetres of every pixel."""
        y, x = np.mgrid[0:self.height, 0:self.width].astype(np.float32)
        u = (x + 0.5 - self.width / 2) / self.focal
        v = (y + 0.5 - self.height / 2) / self.focal
        ray = [np.float32(self.forward[k]) + u * np.float32(self.right[k]) + v * np.float32(self.down[k]) for k in range(3)]
        s = np.float32(-self.eye[2]) / np.minimum(ray[2], -1e-3)
        return np.float32(self.eye[0]) + s * ray[0], np.float32(self.eye[1]) + s * ray[1]


class Canvas:
    """The unfinished picture, in linear light."""

    def __init__(self, camera, seed, table="wood", **options):
        self.camera, self.seed = camera, seed
        x, y = camera.on_table()
        turn = np.radians(options.pop("turn", 4.0))
        u, v = np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y
        self.light = linear(TABLES[table](u, v, seed, **options)).astype(np.float32)
        self.codes = []  # [kind, payload, addon, corners in pixels, mask of the visible part, its first area]

    # drawing ------------------------------------------------------------------------------

    def quad(self, picture, corners, shade=1.0, alpha=None):
        """Warps a picture (PIL RGB) on to four world points: top left, top right, bottom right, bottom left."""
        dst = self.camera.project(corners)
        w, h = self.camera.width, self.camera.height
        x0, y0 = np.floor(dst.min(0)).astype(int) - 2
        x1, y1 = np.ceil(dst.max(0)).astype(int) + 3
        x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, w), min(y1, h)
        if x1 <= x0 or y1 <= y0:
            return
        side = lambda a, b: np.hypot(*(dst[a] - dst[b]))
        tw = max(2, int(max(side(0, 1), side(3, 2)) * 1.15))
        th = max(2, int(max(side(0, 3), side(1, 2)) * 1.15))
        picture = picture.convert("RGBA")
        if tw < picture.width or th < picture.height:
            picture = picture.resize((min(tw, picture.width), min(th, picture.height)), Image.LANCZOS)
        pw, ph = picture.size
        back = homography(dst - [x0, y0], [(0, 0), (pw, 0), (pw, ph), (0, ph)])
        padded = Image.new("RGBA", (pw, ph), (0, 0, 0, 255))
        padded.paste(picture)
        warped = padded.transform((x1 - x0, y1 - y0), Image.PERSPECTIVE, (back / back[2, 2]).ravel()[:8], Image.BICUBIC)
        mask = Image.new("L", ((x1 - x0) * 2, (y1 - y0) * 2))
        ImageDraw.Draw(mask).polygon([tuple(p) for p in (dst - [x0, y0]) * 2], fill=255)
        mask = mask.resize((x1 - x0, y1 - y0), Image.BOX)
        for code in self.codes:  # whatever is drawn later lies above
            ImageDraw.Draw(code[4]).polygon([tuple(p / 4) for p in dst], fill=0)
        colour = np.asarray(warped, np.float32) / 255
        cover = np.asarray(mask, np.float32)[..., None] / 255 * colour[..., 3:]
        area = self.light[y0:y1, x0:x1]
        area += (linear(colour[..., :3]) * shade - area) * cover

    def shadow(self, ring, depth, radius, shift=(0, 0)):
        """Darkens the canvas under a polygon of world points, blurred by a radius in millimetres."""
        pixel = self.camera.focal / np.linalg.norm(self.camera.eye)
        pts = self.camera.project(np.asarray(ring, float) + [shift[0], shift[1], 0])
        f = 4
        mask = Image.new("L", (self.camera.width // f, self.camera.height // f))
        ImageDraw.Draw(mask).polygon([tuple(p / f) for p in pts], fill=255)
        mask = mask.filter(ImageFilter.GaussianBlur(float(max(0.6, radius * pixel / f))))
        mask = mask.resize((self.camera.width, self.camera.height), Image.BICUBIC)
        self.light *= 1 - depth * np.asarray(mask, np.float32)[..., None] / 255

    def book(self, cover, at, angle=0.0, thickness=14.0, base=0.0, spine="right", light=(-0.6, 0.8), floor=True):
        """Places a book or box with its cover up. `cover` has a size in millimetres and a code."""
        w, h = cover.size
        a = np.radians(angle)
        ux, uy = np.array([np.cos(a), np.sin(a), 0]), np.array([-np.sin(a), np.cos(a), 0])
        centre = np.array([at[0], at[1], base])

        def world(x, y, z):  # x, y from the cover's top left, in millimetres
            return centre + ux * (x - w / 2) + uy * (h / 2 - y) + np.array([0, 0, z])

        foot = [world(0, 0, 0), world(w, 0, 0), world(w, h, 0), world(0, h, 0)]
        away = -np.array(light)
        self.shadow(foot, 0.55, thickness * 0.55 + 2, shift=away * thickness * 0.8)
        self.shadow(foot, 0.45, 2.2, shift=away * 1.5)
        sides = {"right": [(w, h), (w, 0)], "left": [(0, 0), (0, h)], "top": [(w, 0), (0, 0)], "bottom": [(0, h), (w, h)]}
        for name, ((ax, ay), (bx, by)) in sides.items():
            p, q = world(ax, ay, 0), world(bx, by, 0)
            normal = np.cross(q - p, [0, 0, 1.0])
            normal /= np.linalg.norm(normal)
            if normal @ (self.camera.eye - p) <= 0:
                continue
            inset = 1.6 if not cover.box and name != spine else 0.0
            p, q = p - normal * inset, q - normal * inset
            z0, z1 = (0.0, thickness)
            lit = 0.42 + 0.4 * max(0, normal[:2] @ np.array(light))
            length = int(np.linalg.norm(q - p) * 6)
            up = np.array([0, 0, 1.0])
            picture = cover.side(name == spine, length, int(thickness * 6))
            self.quad(picture, [p + up * z1, q + up * z1, q + up * z0, p + up * z0], lit)
        self.quad(cover.picture, [world(0, 0, thickness), world(w, 0, thickness), world(w, h, thickness), world(0, h, thickness)])
        for kind, payload, addon, (x0, y0, x1, y1) in cover.codes:
            corners = self.camera.project([world(x0, y0, thickness), world(x1, y0, thickness),
                                           world(x1, y1, thickness), world(x0, y1, thickness)])
            shows = Image.new("L", (self.camera.width // 4, self.camera.height // 4))
            ImageDraw.Draw(shows).polygon([tuple(p / 4) for p in corners], fill=1)
            self.codes.append([kind, payload, addon, corners, shows, np.asarray(shows).sum()])

    def visible_codes(self):
        """Returns the codes that are completely visible; one that is neither clearly visible nor clearly covered is an error."""
        seen = []
        for kind, payload, addon, corners, shows, area in self.codes:
            part = np.asarray(shows).sum() / area
            if part > 0.99:
                seen.append((kind, payload, addon, corners))
            elif part > 0.7:
                raise ValueError(f"{payload}: {part:.0%} of the code shows")
        return seen

    def pencil(self, start, end, colour=(0.85, 0.62, 0.12), width=7.2):
        s, e = np.array([*start, 0.0]), np.array([*end, 0.0])
        along = (e - s) / np.linalg.norm(e - s)
        across = np.array([-along[1], along[0], 0]) * width / 2
        length = int(np.linalg.norm(e - s) * 5)
        t = np.linspace(0, 1, length)[None, :]
        v = np.linspace(-1, 1, 36)[:, None]
        facet = 0.55 + 0.45 * np.cos(1.2 * (np.round((v + 1) * 1.5) / 1.5 - 0.7))
        colour = np.ones((36, length, 3)) * np.asarray(colour) * facet[..., None]
        tip = t > 0.9
        half = np.clip((1 - t) / 0.1, 0, 1)
        colour[np.broadcast_to(tip, (36, length))] = (0.86, 0.70, 0.50)
        colour[np.broadcast_to(t > 0.97, (36, length))] = (0.16, 0.16, 0.17)
        rubber = np.broadcast_to(t < 0.05, (36, length))
        colour[rubber] = colour[rubber] * 0 + np.array([0.78, 0.42, 0.42])
        ferrule = np.broadcast_to((t > 0.05) & (t < 0.09), (36, length))
        colour[ferrule] = 0.62
        alpha = (np.abs(v) <= np.where(tip, half, 1)) * 255.0
        rgba = np.dstack([colour * 255, np.broadcast_to(alpha, (36, length))]).clip(0, 255).astype(np.uint8)
        ring = [s + across, e + across * 0.2, e - across * 0.2, s - across]
        self.shadow(ring, 0.5, 3.0, shift=(3, -4))
        up = np.array([0, 0, 4.0])
        self.quad(Image.fromarray(rgba, "RGBA"), [s + across + up, e + across + up, e - across + up, s - across + up])

    def disc(self, at, radius, z, colour, shade=None):
        t = np.linspace(0, 2 * np.pi, 120, endpoint=False)
        ring = np.stack([at[0] + radius * np.cos(t), at[1] + radius * np.sin(t), np.full_like(t, z)], -1)
        pts = self.camera.project(ring)
        x0, y0 = np.maximum(np.floor(pts.min(0)).astype(int) - 4, 0)
        x1, y1 = np.minimum(np.ceil(pts.max(0)).astype(int) + 4, [self.camera.width, self.camera.height])
        if x1 <= x0 or y1 <= y0:
            return
        mask = Image.new("L", (int(x1 - x0), int(y1 - y0)))
        ImageDraw.Draw(mask).polygon([tuple(p - [x0, y0]) for p in pts], fill=255)
        cover = np.asarray(mask.filter(ImageFilter.GaussianBlur(0.8)), np.float32)[..., None] / 255
        value = np.asarray(colour, np.float32)
        if shade is not None:
            yy, xx = np.mgrid[y0:y1, x0:x1].astype(np.float32)
            c, size = pts.mean(0), np.ptp(pts[:, 0])
            value = value * (1 + shade * ((xx - c[0]) * 0.7 - (c[1] - yy) * 0.7) / size)[..., None]
        area = self.light[y0:y1, x0:x1]
        area += (linear(value) - area) * cover

    def mug(self, at, radius=41, colour=(0.88, 0.87, 0.83), drink=(0.17, 0.09, 0.04)):
        t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
        ring = np.stack([at[0] + radius * np.cos(t), at[1] + radius * np.sin(t), 0 * t], -1)
        self.shadow(ring, 0.6, 16, shift=(26, -34))
        self.shadow(ring, 0.5, 4)
        dark = np.asarray(colour) * 0.62
        for z in np.linspace(0, 88, 45):
            self.disc(at, radius * (0.9 + 0.1 * min(1, z / 40)), z, dark * (0.9 + 0.1 * z / 88), shade=-0.5)
        self.disc(at, radius, 90, colour, shade=-0.12)
        self.disc(at, radius - 4, 89, np.asarray(colour) * 0.72, shade=0.5)
        self.disc((at[0], at[1]), radius - 5.5, 76, drink, shade=-0.35)

    # light --------------------------------------------------------------------------------

    def frame(self):
        y, x = np.mgrid[0:self.camera.height, 0:self.camera.width].astype(np.float32)
        return x / self.camera.width, y / self.camera.height

    def lamp(self, direction=210, contrast=0.5, warm=(1.0, 0.96, 0.88), level=1.0):
        """Adds a window at one side: a gradient of light, with its colour."""
        x, y = self.frame()
        a = np.radians(direction)
        slope = (x - 0.5) * np.cos(a) + (y - 0.5) * np.sin(a)
        self.light *= (level * np.exp(contrast * slope))[..., None] * np.asarray(warm, np.float32)

    def leaves(self, depth=0.45, count=26, blur=22):
        """Adds the soft shadow of a plant at the window."""
        rng = np.random.default_rng(self.seed + 5)
        w, h = 400, 300
        mask = Image.new("L", (w, h))
        pen = ImageDraw.Draw(mask)
        side = rng.random() < 0.5
        for _ in range(count):
            x = rng.normal(0.16 if side else 0.84, 0.16) * w
            y = rng.random() * h
            a, r = rng.random() * np.pi, rng.uniform(14, 46)
            t = np.linspace(0, 2 * np.pi, 24)
            leaf = [(x + r * np.cos(q) * np.cos(a) - 0.32 * r * np.sin(q) * np.sin(a),
                     y + r * np.cos(q) * np.sin(a) + 0.32 * r * np.sin(q) * np.cos(a)) for q in t]
            pen.polygon(leaf, fill=255)
        mask = mask.filter(ImageFilter.GaussianBlur(blur / 4)).resize((self.camera.width, self.camera.height), Image.BICUBIC)
        self.light *= 1 - depth * np.asarray(mask, np.float32)[..., None] / 255

    def blinds(self, depth=0.4, angle=24, period=0.16):
        x, y = self.frame()
        a = np.radians(angle)
        t = (x * np.sin(a) + y * np.cos(a)) / period
        stripe = smooth(np.abs(t - np.floor(t) - 0.5), 0.12, 0.3)
        self.light *= 1 - depth * stripe[..., None]

    def photographer(self, depth=0.5):
        """Adds the shadow of the phone and the hands that hold it, from below."""
        x, y = self.frame()
        d = np.hypot((x - 0.56) / 0.33, (y - 1.08) / 0.52)
        self.light *= 1 - depth * (1 - smooth(d, 0.55, 1.15))[..., None]

    def glare(self, at, size, strength, stretch=1.0, angle=0.0):
        x, y = self.frame()
        x = x * self.camera.width / self.camera.height
        a = np.radians(angle)
        dx, dy = x - at[0] * self.camera.width / self.camera.height, y - at[1]
        u, v = dx * np.cos(a) + dy * np.sin(a), -dx * np.sin(a) + dy * np.cos(a)
        d = np.hypot(u / (size * stretch), v / size)
        n = Noise(self.seed + 9)
        spot = np.exp(-d ** 2) * (0.75 + 0.5 * n.octaves(x * 5, y * 5, 3))
        self.light += (strength * spot)[..., None] * np.array([1.0, 0.98, 0.94], np.float32)

    # optics -------------------------------------------------------------------------------

    def photo(self, size, defocus=0.0, depth=None, motion=None, grain=0.0022, shot=0.008, vignette=0.30,
              exposure=1.0, sharpen=60, grey=False):
        """Applies lens, sensor and camera software, and returns a PIL picture of `size`. Blurs are in pixels of the result."""
        x, y = self.frame()
        aspect = self.camera.height / self.camera.width
        r2 = ((x - 0.5) ** 2 + ((y - 0.5) * aspect) ** 2) / 0.3125
        light = self.light * (1.2 * exposure * (1 - vignette * r2 + 0.1 * vignette * r2 ** 2))[..., None]
        light = np.stack([resize(light[..., c], size) for c in range(3)], -1)
        flare = resize(light.mean(-1), (max(1, size[0] // 16), max(1, size[1] // 16)))
        flare = resize(resize(flare, (8, 8)), size)
        light = light * 0.975 + 0.025 * flare[..., None]  # stray light in the lens
        if depth:
            near, far, radius = depth
            soft = blur_disc(light, radius)
            yy = np.linspace(0, 1, size[1], dtype=np.float32)[:, None, None]
            t = smooth(yy, near, far) if far > near else 1 - smooth(yy, far, near)
            light = light * (1 - t) + soft * t
        if defocus:
            light = blur_disc(light, defocus)
        if motion:
            light = blur_line(light, *motion)
        light[..., 0] = zoom(light[..., 0], 1.0004)
        light[..., 2] = zoom(light[..., 2], 0.9996)
        rng = np.random.default_rng(self.seed + 1)
        spread = np.sqrt(grain ** 2 + shot ** 2 * np.clip(light, 0, 4))
        fine = rng.standard_normal(light.shape, dtype=np.float32)
        coarse = np.stack([resize(rng.standard_normal((size[1] // 3, size[0] // 3), dtype=np.float32), size) for _ in range(3)], -1)
        common = fine[..., :1]
        light = light + spread * (0.8 * common + 0.35 * fine + 0.7 * coarse)
        shoulder = np.clip(light, 0, None)
        shoulder = np.where(shoulder > 0.6, 0.6 + 0.4 * (1 - np.exp(-(shoulder - 0.6) / 0.4)), shoulder)
        tone = np.power(np.clip(shoulder, 0, 1), 1 / 2.2)
        tone = tone * 0.9 + 0.1 * (tone * tone * (3 - 2 * tone))
        picture = Image.fromarray((np.clip(tone, 0, 1) * 255 + 0.5).astype(np.uint8), "RGB")
        picture = picture.filter(ImageFilter.GaussianBlur(0.55))
        if sharpen:
            picture = picture.filter(ImageFilter.UnsharpMask(1.3, sharpen, 2))
        return picture.convert("L") if grey else picture


def resize(plane, size):
    return np.asarray(Image.fromarray(np.ascontiguousarray(plane, np.float32)).resize(size, Image.BOX if size[0] < plane.shape[1] else Image.BICUBIC))


def zoom(plane, factor):
    h, w = plane.shape
    dx, dy = w * (1 - 1 / factor) / 2, h * (1 - 1 / factor) / 2
    return np.asarray(Image.fromarray(plane).transform((w, h), Image.AFFINE, (1 / factor, 0, dx, 0, 1 / factor, dy), Image.BICUBIC))


def convolve(light, kernel):
    h, w = light.shape[:2]
    k = kernel.shape[0] // 2
    padded = np.pad(light, ((k, k), (k, k), (0, 0)), mode="edge")
    H, W = padded.shape[:2]
    spectrum = np.fft.rfft2(kernel / kernel.sum(), (H, W))
    out = np.empty_like(light)
    for c in range(3):
        full = np.fft.irfft2(np.fft.rfft2(padded[..., c]) * spectrum, (H, W))
        out[..., c] = full[2 * k:2 * k + h, 2 * k:2 * k + w]
    return out


def blur_disc(light, radius):
    n = int(np.ceil(radius)) + 1
    fine = 9
    t = (np.arange((2 * n + 1) * fine) + 0.5) / fine - n - 0.5
    disc = (np.hypot(t[:, None], t[None, :]) <= radius).astype(float)
    return convolve(light, disc.reshape(2 * n + 1, fine, 2 * n + 1, fine).mean((1, 3)))


def blur_line(light, length, angle):
    n = int(np.ceil(length / 2)) + 2
    kernel = np.zeros((2 * n + 1, 2 * n + 1))
    a = np.radians(angle)
    for s in np.linspace(-length / 2, length / 2, 400):
        x, y = n + s * np.cos(a), n + s * np.sin(a) + 0.3 * np.sin(s / max(length, 1) * 3)
        ix, iy = int(x), int(y)
        fx, fy = x - ix, y - iy
        kernel[iy, ix] += (1 - fx) * (1 - fy)
        kernel[iy, ix + 1] += fx * (1 - fy)
        kernel[iy + 1, ix] += (1 - fx) * fy
        kernel[iy + 1, ix + 1] += fx * fy
    return convolve(light, kernel)


def reading_order(codes):
    """Sorts top to bottom, left to right; codes form one row if their centres are less than half the taller code apart."""
    boxes = [(c[:, 1].mean(), c[:, 0].mean(), np.ptp(c[:, 1]), k) for k, (_, _, _, c) in enumerate(codes)]
    rows = []
    for box in sorted(boxes):
        if rows and abs(box[0] - rows[-1][0][0]) < max(box[2], rows[-1][0][2]) / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [codes[b[3]] for row in rows for b in sorted(row, key=lambda b: b[1])]
