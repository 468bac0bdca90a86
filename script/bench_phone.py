"""The phone's part of script/bench: a phone's camera in Chromium, over https through a slow relay, held to one book after the other."""
import collections
import os
import random
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

from bench_kiosk import Browser, Kiosk
from bench_library import isbn

WIDTH, HEIGHT, RATE, HOLD = 1280, 720, 30, 40
HOST, CODE = "phone.local", "kumquat 7"
# EAN-13 (GS1 General Specifications, 5.2): the modules of the digits on the left, and the parities that the first digit selects.
LEFT = ["0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011"]
PARITIES = ["LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG", "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL"]


def modules(code):
    """Returns the bars of a code: "1" for each dark module."""
    right = ["".join("10"[int(module)] for module in digit) for digit in LEFT]
    left = {"L": LEFT, "G": [digit[::-1] for digit in right]}
    halves = ("".join(left[parity][int(digit)] for parity, digit in zip(PARITIES[int(code[0])], code[1:7])),
              "".join(right[int(digit)] for digit in code[7:]))
    return f"101{halves[0]}01010{halves[1]}101"


def picture(code, number, chance):
    """Returns the grey levels of a frame with a slanted code among grey blocks. Twelve blocks at the top left show the number of the book."""
    rows = []
    blocks = [[chance.randrange(60, 200) for _ in range(WIDTH // 40)] for _ in range(HEIGHT // 40)]
    left, top, slope = chance.randrange(150, 700), chance.randrange(120, 420), chance.uniform(-0.12, 0.12)
    bars = b"".join(bytes([15 if module == "1" else 245]) * 4 for module in modules(code))
    label = bytes([245]) * 60 + bars + bytes([245]) * 60
    for y in range(HEIGHT):
        row = bytearray(b"".join(bytes([level]) * 40 for level in blocks[y // 40]))
        if y < 32:
            for bit in range(12):
                row[bit * 32:bit * 32 + 32] = bytes([235 if number >> bit & 1 else 20]) * 32
        elif top - 30 <= y < top + 190:
            at = left + round((y - top) * slope)
            row[at:at + len(label)] = label if top <= y < top + 160 else bytes([245]) * len(label)
        rows.append(bytes(row))
    return b"".join(rows)


def record(path, codes):
    """Writes what the camera sees: each book for HOLD frames, one directly after the other, a little blurred and noisy."""
    chance = random.Random(7)
    # Chromium plays MJPEG at 30 frames a second.
    encoder = subprocess.Popen(
        ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-",
         "-vf", "gblur=sigma=1.1,noise=alls=6", "-pix_fmt", "yuvj420p", "-q:v", "4", "-f", "mjpeg", path + ".single"], stdin=subprocess.PIPE)
    for number, code in enumerate(codes, 1):
        encoder.stdin.write(picture(code, number, chance))
    encoder.stdin.close()
    if encoder.wait() != 0:
        raise SystemExit("bench: ffmpeg failed")
    with open(path + ".single", "rb") as file:
        frames = file.read().split(b"\xff\xd8")[1:]
    with open(path, "wb") as file:
        for frame in frames:
            file.write((b"\xff\xd8" + frame) * HOLD)
    os.remove(path + ".single")


class Relay:
    """A network between a phone and the station: a delay and a rate in each direction, and a cable that can be pulled."""

    def __init__(self, port, delay=0.010, rate=10e6 / 8):
        self.target, self.delay, self.rate = port, delay, rate
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.open, self.is_cut = self.listener.getsockname()[1], set(), False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            phone, _ = self.listener.accept()
            if self.is_cut:
                phone.close()
                continue
            station = socket.create_connection(("127.0.0.1", self.target))
            for end, other in ((phone, station), (station, phone)):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.open.add(end)
                threading.Thread(target=self.forward, args=(end, other), daemon=True).start()

    def forward(self, end, other):
        waiting, news = collections.deque(), threading.Condition()

        def receive():
            data = b"?"
            while data:
                try:
                    data = end.recv(8192)
                except OSError:
                    data = b""
                with news:
                    waiting.append((time.monotonic() + self.delay, data))
                    news.notify()

        threading.Thread(target=receive, daemon=True).start()
        free = 0
        while True:
            with news:
                news.wait_for(lambda: waiting)
                due, data = waiting.popleft()
            due = max(due, free)
            time.sleep(max(0, due - time.monotonic()))
            free = due + len(data) / self.rate
            try:
                if not data:
                    break
                other.sendall(data)
            except OSError:
                break
        self.close(end, other)

    def close(self, *ends):
        for end in ends:
            self.open.discard(end)
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # The other end was first.

    def cut(self, seconds):
        self.is_cut = True
        self.close(*list(self.open))
        time.sleep(seconds)
        self.is_cut = False


# Records when each book comes into view, which the blocks of the frame say, and when its card shows its ISBN.
WATCH = """
window.seen = []; window.cards = []; window.sizes = [];
const video = document.getElementById("own-camera"), look = new OffscreenCanvas(384, 1).getContext("2d", { willReadFrequently: true });
let last = 0, shown = "";
function watch() {
  look.drawImage(video, 0, 16, 384, 1, 0, 0, 384, 1);
  const { data } = look.getImageData(0, 0, 384, 1);
  let number = 0;
  for (let bit = 0; bit < 12; bit += 1) if (data[(bit * 32 + 16) * 4] > 128) number |= 1 << bit;
  if (number !== last) seen.push([last = number, performance.now()]);
  video.requestVideoFrameCallback(watch);
}
video.addEventListener("loadeddata", () => video.requestVideoFrameCallback(watch), { once: true });
new MutationObserver(() => {
  const texts = [...document.querySelectorAll("#card [data-slot=title], #card [data-slot=line]")].map((slot) => slot.textContent.replace(/\\D/g, ""));
  const code = texts.find((text) => text.length === 13) ?? "";
  if (code && code !== shown) cards.push([shown = code, performance.now()]);
}).observe(document.querySelector(".right"), { subtree: true, childList: true, characterData: true });
const { toBlob } = HTMLCanvasElement.prototype;
HTMLCanvasElement.prototype.toBlob = function(done, ...rest) { toBlob.call(this, (blob) => { sizes.push(blob.size); done(blob); }, ...rest); };
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def bench_phone(scan, count=100, cuts=10):
    codes = [isbn(number) for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        library, video = os.path.join(folder, "library.sqlite"), os.path.join(folder, "camera.mjpeg")
        record(video, codes)
        environment = dict(os.environ, HOME=folder, BOOKPLATE_LIBRARY=library, BOOKPLATE_OFFLINE="1")
        subprocess.run([scan, "kiosk", "code"], input=f"{CODE}\n", text=True, env=environment, check=True, capture_output=True)
        port = free_port()
        kiosk = Kiosk(scan, library, "--no-camera", "--tls", "--tls-port", str(port), "--name", HOST)
        relay = Relay(port)
        phone = Browser(
            "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={video}",
            "--ignore-certificate-errors", f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{relay.port}")
        phone.screen(390, 844)
        phone.open(f"https://{HOST}:{port}/sign-in")
        phone.run(f"document.getElementById('code').value = '{CODE}'; document.querySelector('#sign-in .primary').click()")
        while not phone.run("return location.pathname !== '/sign-in' && document.readyState === 'complete'"):
            time.sleep(0.1)
        phone.open(f"https://{HOST}:{port}/scan")
        phone.run(WATCH)
        before = kiosk.cpu()
        phone.run("document.getElementById('own-open').click()")
        length, pulled, begin = count * HOLD / RATE, 0, time.monotonic()
        # The recording begins again at its end; until then, each book is in view once.
        while time.monotonic() - begin < length:
            time.sleep(0.2)
            if time.monotonic() - begin > (pulled + 0.5) * length / cuts and pulled < cuts:
                relay.cut(0.3)
                pulled += 1
        phone.run("document.getElementById('own-open').click()")
        seen, cards, sizes = phone.run("return [seen, cards, sizes]")
        used = kiosk.cpu() - before
        phone.end()
        kiosk.stop()
        database = sqlite3.connect(f"file:{library}?mode=ro", uri=True)
        captured = collections.Counter(code for code, in database.execute("SELECT isbn FROM intakeItem"))
        database.close()
    appeared = {}
    for number, when in seen:
        if 1 <= number <= count:
            appeared.setdefault(codes[number - 1], when)
    times = sorted(when - appeared[code] for code, when in dict(reversed(cards)).items() if code in appeared)
    shown = [code for code in codes if code in appeared]
    print(f"\nA phone's camera in Chromium ({WIDTH}x{HEIGHT}), over https through a relay of 20 ms round trip and 10 Mbit/s, with {pulled} cuts of 0.3 s; "
          f"{count} books, each in view for {HOLD / RATE:.1f} s, one directly after the other", flush=True)
    print(f"  code in view to its ISBN card, ms     median {statistics.median(times):.0f} (wanted 800), p95 {times[int(len(times) * 0.95)]:.0f} (wanted 1500), worst {times[-1]:.0f}")
    print(f"  frames                                {len(sizes)}, {len(sizes) / length:.1f} a second, median {statistics.median(sizes) / 1000:.0f} kB (wanted ≤ 100)")
    print(f"  CPU of the station for each frame     {used / len(sizes) * 1000:.1f} ms (wanted ≤ 12)")
    print(f"  books                                 {len(shown)} shown, {sum(code not in captured for code in shown)} lost, "
          f"{sum(captured[code] - 1 for code in captured)} double")
