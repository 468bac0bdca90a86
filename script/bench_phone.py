"""The phone's part of script/bench: a phone's camera in Chromium, over https through a slow relay, held to one book after the other."""
import collections
import http.client
import json
import os
import random
import socket
import sqlite3
import ssl
import statistics
import subprocess
import tempfile
import threading
import time

from bench_kiosk import ROOT, Browser, Camera, Kiosk, jpegs
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


class Phone:
    """A phone's Scan page in Chromium, over https. Its camera plays a recording; nobody has opened it yet."""

    def __init__(self, scan, library, video, relay=lambda port: port, **environment):
        subprocess.run([scan, "kiosk", "code"], input=f"{CODE}\n", text=True, check=True, capture_output=True,
                       env=dict(os.environ, HOME=os.path.dirname(library), BOOKPLATE_LIBRARY=library, BOOKPLATE_OFFLINE="1"))
        port = free_port()
        self.kiosk = Kiosk(scan, library, "--no-camera", "--tls", "--tls-port", str(port), "--name", HOST, **environment)
        self.origin = f"https://{HOST}:{port}"
        self.browser = Browser(
            "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={video}",
            "--ignore-certificate-errors", f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{relay(port)}")
        self.browser.screen(390, 844)
        self.browser.open(f"{self.origin}/sign-in")
        self.browser.run(f"document.getElementById('code').value = '{CODE}'; document.querySelector('#sign-in .primary').click()")
        while not self.browser.run("return location.pathname !== '/sign-in' && document.readyState === 'complete'"):
            time.sleep(0.1)
        self.browser.open(f"{self.origin}/scan")

    def tap(self):
        """Opens the camera, or closes it."""
        self.browser.run("document.getElementById('own-open').click()")

    def end(self):
        self.browser.end()
        self.kiosk.stop()


def peer_time(frame_bench, codes):
    """Returns the milliseconds of CPU in which libjpeg-turbo and zbar's image scanner read a frame of a book, as a mean over these books."""
    with tempfile.TemporaryDirectory() as folder:
        video = os.path.join(folder, "camera.mjpeg")
        record(video, codes)
        frames = jpegs(video)[::HOLD]
        with open(video, "wb") as file:
            file.write(b"".join(frames))
        output = subprocess.run([frame_bench, "5", video], check=True, capture_output=True, text=True).stdout
    line = next(line for line in map(json.loads, output.splitlines()) if line["packing"] == "MJPG")
    return statistics.mean(statistics.median(frame["times"]) for frame in line["peer"])


def bench_phone(scan, frame_bench, count=100, cuts=10):
    codes = [isbn(number) for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        library, video = os.path.join(folder, "library.sqlite"), os.path.join(folder, "camera.mjpeg")
        record(video, codes)
        relays = []

        def through(port):
            relays.append(Relay(port))
            return relays[0].port

        phone = Phone(scan, library, video, through)
        relay, = relays
        phone.browser.run(WATCH)
        before = phone.kiosk.cpu()
        phone.tap()
        length, pulled, begin = count * HOLD / RATE, 0, time.monotonic()
        # The recording begins again at its end; until then, each book is in view once.
        while time.monotonic() - begin < length:
            time.sleep(0.2)
            if time.monotonic() - begin > (pulled + 0.5) * length / cuts and pulled < cuts:
                relay.cut(0.3)
                pulled += 1
        phone.tap()
        seen, cards, sizes = phone.browser.run("return [seen, cards, sizes]")
        used = phone.kiosk.cpu() - before
        phone.end()
        peer = peer_time(frame_bench, codes[:20])
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
    each = used / len(sizes) * 1000
    print(f"  CPU of the station for each frame     {each:.1f} ms (wanted ≤ 12); libjpeg-turbo and zbar alone take {peer:.1f} ms: {each / peer:.2f}x")
    print(f"  books                                 {len(shown)} shown, {sum(code not in captured for code in shown)} lost, "
          f"{sum(captured[code] - 1 for code in captured)} double")


class Frames(threading.Thread):
    """A phone that sends a frame every tenth of a second, or as soon as the one before is answered."""

    def __init__(self, port, frames):
        super().__init__(daemon=True)
        self.port, self.frames, self.over, self.times = port, frames, False, []
        self.headers = {"Host": f"{HOST}:{port}", "Origin": f"https://{HOST}:{port}"}
        self.link = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context())
        self.ask("POST", "/api/sign-in", "application/json", json.dumps({"code": CODE}))

    def ask(self, method, path, kind, body):
        self.link.request(method, path, body, self.headers | {"Content-Type": kind})
        answer = self.link.getresponse()
        answer.read()
        if answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = answer.getheader("Set-Cookie").split(";")[0]
        return answer.status

    def run(self):
        while not self.over:
            start = time.monotonic()
            if self.ask("PUT", "/api/phones/frame", "image/jpeg", self.frames[len(self.times) // 15 % len(self.frames)]) == 200:
                self.times.append(time.monotonic() - start)
            time.sleep(max(0, start + 0.1 - time.monotonic()))


def bench_beside(scan, count=20):
    """Holds books before the station's own camera, alone and beside two phones that do the same."""
    with tempfile.TemporaryDirectory() as folder:
        library, video = os.path.join(folder, "library.sqlite"), os.path.join(folder, "camera.mjpeg")
        codes = [isbn(number) for number in range(1, count * 4 + 1)]
        record(video, codes)
        frames = jpegs(video)[::HOLD]
        subprocess.run([scan, "kiosk", "code"], input=f"{CODE}\n", text=True, check=True, capture_output=True,
                       env=dict(os.environ, HOME=folder, BOOKPLATE_LIBRARY=library, BOOKPLATE_OFFLINE="1"))
        port = free_port()
        kiosk = Kiosk(scan, library, "--frames", "-", "--tls", "--tls-port", str(port), "--name", HOST, stdin=subprocess.PIPE)
        empty = jpegs(os.path.join(ROOT, "samples/frames/desk-1280x720.mjpeg"))[:1]
        camera = Camera(kiosk, empty)
        camera.start()
        phones, rates, waits = [], [], []
        for shown in (range(count), range(count, 2 * count)):
            rate, wait = [], []
            for number in shown:
                camera.show(empty)
                time.sleep(1)
                camera.show(frames[number:number + 1])
                while True:
                    station = kiosk.ask("/api/station")
                    if any(row["isbn13"] == codes[number] for row in station["rows"]):
                        break
                    time.sleep(0.005)
                wait.append(time.time() * 1000 - camera.first)
                rate.append(station["framesPerSecond"])
            rates.append(statistics.mean(rate))
            waits.append(statistics.median(wait))
            if not phones:
                phones = [Frames(port, frames[at * count:(at + 1) * count]) for at in (2, 3)]
                for phone in phones:
                    phone.start()
        camera.over = True
        for phone in phones:
            phone.over = True
            phone.join()
        kiosk.stop()
    times = [taken for phone in phones for taken in phone.times]
    print(f"\nThe station's own camera ({WIDTH}x{HEIGHT}, {RATE} a second, {count} books), alone and beside two phones that sent {len(times)} frames")
    print(f"  frames that the station read, a second   {rates[0]:.1f}, {rates[1]:.1f}: {rates[1] / rates[0]:.2f}x")
    print(f"  code in view to its row, ms, median      {waits[0]:.0f}, {waits[1]:.0f}: {waits[1] / waits[0]:.2f}x")
    print(f"  a phone's frame to its answer, ms, median {statistics.median(times) * 1000:.0f}")
