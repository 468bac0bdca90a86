"""The kiosk's part of script/bench: `scan kiosk` under load, at rest, and in a browser."""
import json
import os
import random
import re
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATE = 30
CONNECTIONS = 16

# wrk runs this in each of its threads. Every request has another path, in pseudo-random order; a pause keeps the rate.
LUA = """
local paths = {{{paths}}}
local place = {seed}
request = function()
  place = (place * 1103515245 + 12345) % 2147483648
  return wrk.format("GET", paths[place % #paths + 1])
end
local pause = {pause}
if pause > 0 then delay = function() return math.random(0, 2 * pause) end end
"""


class Kiosk:
    """The service with a library, on a free port."""

    def __init__(self, scan, library, *options, stdin=None, **more):
        self.home = tempfile.TemporaryDirectory()
        environment = dict(os.environ, BOOKPLATE_OFFLINE="1", BOOKPLATE_LIBRARY=library, HOME=self.home.name,
                           BOOKPLATE_INDEX=os.path.join(ROOT, "samples/index.sqlite")) | more
        self.process = subprocess.Popen([scan, "kiosk", "--port", "0", *options], stdin=stdin or subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, bufsize=0)
        self.address, said = None, b""
        while self.address is None:
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"bench: the kiosk ended: {said.decode()}")
            said += line
            found = re.search(rb"http://127\.0\.0\.1:\d+", line)
            self.address = found and found.group().decode()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def ask(self, path):
        with urllib.request.urlopen(self.address + path) as answer:
            return json.load(answer)

    def cpu(self):
        """Returns the CPU seconds used so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Returns the resident memory in KiB, and the part of it that is not mapped from files."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return {line.split(":")[0]: line.split()[1] for line in file if line.startswith(("VmRSS", "RssAnon"))}

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.home.cleanup()


def wrk(kiosk, paths, seconds=8, pause=0):
    """Returns the requests a second, the 99th percentile in ms, and the number of failures."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA.format(paths=",".join(json.dumps(path) for path in paths), seed=random.Random(1).randrange(10**6), pause=pause))
        script.flush()
        out = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", script.name, kiosk.address],
                             check=True, capture_output=True, text=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", out).groups()
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return rate, float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit], int(failed.group(1)) if failed else 0


def bench_load(scan, library):
    kiosk = Kiosk(scan, library, "--no-camera")
    books, places, query = [], [""], ""
    for _ in range(40):
        page = kiosk.ask("/api/books?limit=50" + query)
        books += [hit["id"] for hit in page["hits"]]
        query = "&after=" + urllib.parse.quote(page["next"])
        places.append(query)
    work = [("one book as JSON", [f"/api/books/{book}" for book in books], 4000),
            ("a page of 50 as JSON", ["/api/books?limit=50" + place for place in places], 800),
            ("the Library page", ["/library?" + place for place in places], 400)]
    print(f"\nThe kiosk with 100,000 books, under load from wrk on the same cores, {CONNECTIONS} connections; every request is for another one of "
          f"{len(books)} books or {len(places)} pages, and no answer is cached; compared with /healthz, which reads one number from the library", flush=True)
    health = wrk(kiosk, ["/healthz"])[0]
    print(f"  {'':22}{'a second':>10}{'of /healthz':>13}{'wanted':>9}   p99 at half of what is wanted, wanted < 30 ms")
    print(f"  {'/healthz':22}{health:>10.0f}")
    for name, paths, wanted in work:
        rate, _, failed = wrk(kiosk, paths)
        # wrk pauses after each answer, so the time of the answer and wrk's rounding are taken off the pause.
        pause, half = CONNECTIONS / (wanted / 2) * 1000, 0
        while half < wanted / 2 and pause > 1:
            half, slowest, _ = wrk(kiosk, paths, pause=round(pause))
            pause *= min(half / (wanted / 2), 0.95)
        print(f"  {name:22}{rate:>10.0f}{rate / health:>13.2f}{wanted:>9}   {slowest:.1f} ms at {half:.0f} a second"
              + (f"; {failed} FAILED" if failed else ""), flush=True)
    memory = kiosk.resident()
    print(f"  afterwards the service's resident memory is {int(memory['VmRSS']) / 1024:.1f} MiB, {int(memory['RssAnon']) / 1024:.1f} of it private", flush=True)
    kiosk.stop()


def bench_pages(scan, library, rounds=9, limit=100):
    """Measures each page alone: from a service that has just started, while nothing changes, and each time after a change to a book."""
    kiosk, home = Kiosk(scan, library, "--no-camera"), tempfile.TemporaryDirectory()
    hits = kiosk.ask("/api/books?limit=200&status=reading")["hits"]
    book = next(hit for hit in hits if hit["isbn13"] and hit["pageCount"] and hit["pageCount"] > 10 * rounds)
    series = urllib.parse.quote(next(hit["series"] for hit in hits if hit.get("series")))
    pages = ["/home", "/stats", "/stats?period=all", "/stats/timeline", "/year/2024", "/library", "/library?q=the+garden", "/library?status=reading&sort=title",
             "/library?sort=author", "/library?year=1990..2010&format=physical", f"/library?series={series}", f"/series?name={series}", "/library/filters",
             "/library/filters?q=the+garden", "/library/filters/author", "/library/filters/series", "/library/filters/publisher", "/library/tidy",
             f"/books/{book['id']}", "/scan", "/intake", "/changes", "/settings", "/settings/authors", "/api/home", "/api/stats", "/api/stats/on-this-day",
             "/api/books/letters?sort=title", "/api/books/letters?sort=author", "/api/suggestions?kind=series&beginning=the"]
    environment = dict(os.environ, BOOKPLATE_OFFLINE="1", BOOKPLATE_LIBRARY=library, HOME=home.name)

    def ask(path):
        start = time.monotonic()
        with urllib.request.urlopen(kiosk.address + path) as answer:
            answer.read()
        return (time.monotonic() - start) * 1000

    def change(page):
        subprocess.run([scan, "reading", "page", book["isbn13"], str(page)], env=environment, check=True, capture_output=True)

    change(1)  # the day's first change makes a backup
    print(f"\nThe pages of the kiosk with 100,000 books, one request at a time, median of {rounds}; wanted < {limit} ms", flush=True)
    print(f"  {'ms':44}{'first':>9}{'again':>9}{'worst':>9}{'after a change':>16}")
    for page in pages:
        kiosk.stop()
        kiosk = Kiosk(scan, library, "--no-camera")
        first = ask(page)
        again = [ask(page) for _ in range(rounds)]
        changed = []
        for number in range(rounds):
            change(2 + number)
            changed.append(ask(page))
        medians = statistics.median(again), statistics.median(changed)
        print(f"  {page.replace(book['id'], '…'):44}{first:>9.1f}{medians[0]:>9.1f}{max(again):>9.1f}{medians[1]:>16.1f}"
              + ("  MISSED" if max(medians) > limit else ""), flush=True)
    kiosk.stop()
    home.cleanup()


def bench_rest(scan, library, seconds=20):
    kiosk = Kiosk(scan, library, "--no-camera")
    kiosk.ask("/healthz")
    time.sleep(5)
    before = kiosk.cpu()
    time.sleep(seconds)
    used = (kiosk.cpu() - before) / seconds
    memory = kiosk.resident()
    print(f"\nThe service at rest, no camera, no page open, 100,000 books: {used * 100:.2f} % of a core over {seconds} s (wanted < 1), "
          f"resident {int(memory['VmRSS']) / 1024:.1f} MiB, {int(memory['RssAnon']) / 1024:.1f} of it private (wanted < 60)", flush=True)
    kiosk.stop()


def jpegs(recording):
    with open(recording, "rb") as file:
        return [b"\xff\xd8\xff" + part for part in file.read().split(b"\xff\xd8\xff")[1:]]


class Camera(threading.Thread):
    """Writes RATE frames per second to the service; the frames can be changed while it runs."""

    def __init__(self, kiosk, frames):
        super().__init__(daemon=True)
        self.kiosk, self.frames, self.over, self.shown, self.first = kiosk, frames, False, 0, None

    def show(self, frames):
        """Sends these frames from the next frame on. `first` is then the time at which the first byte of that frame was written, in the form of Date.now()."""
        self.first, self.frames = None, frames

    def run(self):
        start = time.monotonic()
        while not self.over:
            time.sleep(max(0, start + self.shown / RATE - time.monotonic()))
            frames = self.frames
            if self.first is None:
                self.first = time.time() * 1000
            try:
                self.kiosk.process.stdin.write(frames[self.shown % len(frames)])
            except BrokenPipeError:
                if self.over:
                    return
                raise
            self.shown += 1


def watch(kiosk, counts, over):
    """Reads the preview as a browser does, and counts its frames."""
    host, port = kiosk.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as link:
        link.sendall(f"GET /api/station/preview HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        link.settimeout(2)
        while not over.is_set():
            data = link.recv(1 << 18)
            if not data:
                return
            counts.append(data.count(b"Content-Length"))


def bench_preview(scan, seconds=15, clients=4):
    frames = jpegs(os.path.join(ROOT, "samples/frames/desk-1280x720.mjpeg"))[:5]
    with tempfile.TemporaryDirectory() as home:
        kiosk = Kiosk(scan, os.path.join(home, "library.sqlite"), "--frames", "-", stdin=subprocess.PIPE)
        camera = Camera(kiosk, frames)
        camera.start()
        time.sleep(3)
        used, counts, over = {}, [], threading.Event()
        for watchers in (0, clients):
            for _ in range(watchers):
                threading.Thread(target=watch, args=(kiosk, counts, over), daemon=True).start()
            time.sleep(1)
            counts.clear()
            before = kiosk.cpu()
            time.sleep(seconds)
            used[watchers] = kiosk.cpu() - before
        over.set()
        camera.over = True
        size = statistics.mean(len(frame) for frame in frames)
        sent = sum(counts)
        copy = copy_time(int(size))
        print(f"\nPreview of 1280x720 MJPEG at {RATE} a second, {size / 1000:.0f} kB a frame: {clients} clients got {sent} frames in {seconds} s; "
              f"{(used[clients] - used[0]) / max(1, sent) * 1000:.3f} ms of CPU for a client and frame, the writes to its socket in it "
              f"(wanted: 0.2 above the copy, which takes {copy:.3f})", flush=True)
        kiosk.stop()


def copy_time(size):
    """Returns the ms of CPU to send so many bytes through a local socket, which no server can avoid."""
    a, b = socket.socketpair()
    a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    reader = subprocess.Popen(["cat"], stdin=b, stdout=subprocess.DEVNULL)
    b.close()
    data, before = bytes(size), time.process_time()
    for _ in range(2000):
        a.sendall(data)
    used = (time.process_time() - before) / 2000 * 1000
    a.close()
    reader.wait()
    return used


class Browser:
    """Chromium without a screen, by W3C WebDriver."""

    def __init__(self, *arguments):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        port = None
        while port is None:
            found = re.search(rb"successfully on port (\d+)", self.driver.stdout.readline())
            port = found and int(found.group(1))
        self.base = f"http://127.0.0.1:{port}"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=800,480", *arguments]}
        self.session = self.send("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})["sessionId"]

    def send(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.send("POST", f"/session/{self.session}/execute/sync", {"script": script, "args": []})

    def open(self, address):
        self.send("POST", f"/session/{self.session}/url", {"url": address})

    def screen(self, width, height):
        """Sets the screen's size in CSS pixels; narrow screens are phones."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.send("POST", f"/session/{self.session}/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics})

    def touch(self, x, y):
        """Clicks on the page. Browsers require this before a page may make a sound."""
        steps = [{"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.send("POST", f"/session/{self.session}/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def forget(self):
        """Clears the cache, so that every round is a first visit."""
        self.send("POST", f"/session/{self.session}/goog/cdp/execute", {"cmd": "Network.clearBrowserCache", "params": {}})

    def picture(self):
        """Returns a screenshot, as PNG in base64."""
        return self.send("GET", f"/session/{self.session}/screenshot")

    def end(self):
        self.send("DELETE", f"/session/{self.session}")
        self.driver.terminate()
        self.driver.wait()


def bench_browser(scan, library, rounds=9):
    kiosk, browser = Kiosk(scan, library, "--no-camera"), Browser()
    for page in ("scan", "library"):
        paints = []
        for _ in range(rounds):
            browser.open("about:blank")
            browser.forget()
            browser.open(f"{kiosk.address}/{page}")
            paints.append(browser.run("return new Promise((resolve) => { const look = () => { const paint = performance.getEntriesByName("
                                      "'first-contentful-paint')[0]; paint ? resolve(paint.startTime) : setTimeout(look, 20); }; look(); })"))
            # Scripts arrive some time after the first paint.
            weight = browser.run(
                "return new Promise((resolve) => { const look = () => document.readyState === 'complete' ? resolve("
                "[performance.getEntriesByType('navigation')[0], ...performance.getEntriesByType('resource')]"
                ".filter((one) => !one.name.includes('/covers/')).reduce((sum, one) => sum + one.encodedBodySize, 0))"
                " : setTimeout(look, 20); look(); })")
        print(f"\nThe {page.capitalize()} page in Chromium, from a running service with 100,000 books: first paint {statistics.median(paints):.0f} ms, "
              f"worst of {rounds} {max(paints):.0f} (wanted < 300); {weight / 1000:.0f} kB as sent, without covers (wanted at most 60)", flush=True)
    browser.end()
    kiosk.stop()
    bench_card(scan, Browser())


def bench_card(scan, browser, rounds=10):
    """Measures from the first byte of the first frame with a code to the ISBN on the page; both clocks are this machine's."""
    recording = os.path.join(ROOT, "samples/frames/desk-1280x720.mjpeg")
    with open(recording.replace(".mjpeg", ".txt")) as file:
        codes = [line.split()[1:] for line in file]
    frames = jpegs(recording)
    blank = [frame for frame, code in zip(frames, codes) if not code][:1]
    # Measure from the first frame in which the book is held still, not from the frames in which it moves into view.
    shown = [frame for frame, code in zip(frames, codes) if code][3:]
    with tempfile.TemporaryDirectory() as home:
        kiosk = Kiosk(scan, os.path.join(home, "library.sqlite"), "--frames", "-", stdin=subprocess.PIPE)
        camera = Camera(kiosk, blank)
        camera.start()
        browser.open(kiosk.address + "/scan")
        time.sleep(2)
        times = []
        for _ in range(rounds):
            camera.show(blank)
            time.sleep(1.5)
            browser.run("window.seen = null; const card = document.getElementById('card').parentElement;"
                        "const watch = new MutationObserver(() => { requestAnimationFrame(() => { window.seen ??= performance.timeOrigin + performance.now(); "
                        "watch.disconnect(); }); }); watch.observe(card, { subtree: true, childList: true, characterData: true, attributes: true });")
            camera.show(shown)
            seen = browser.run("return new Promise((resolve) => { const look = () => window.seen ? resolve(window.seen) : setTimeout(look, 5);"
                               " look(); setTimeout(() => resolve(null), 4000); })")
            times.append(seen - camera.first if seen else float("inf"))
        camera.over = True
        print(f"\nA book shown at {RATE} frames per second: time from its first frame to the card on the page: median {statistics.median(times):.0f} ms, "
              f"worst of {rounds} {max(times):.0f} (wanted < 250)", flush=True)
        browser.end()
        kiosk.stop()


def bench_kiosk(scan, library_bench):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([library_bench, "open", "--keep", folder, "--copies", "100000"], check=True, stdout=subprocess.DEVNULL)
        library = os.path.join(folder, "100000.sqlite")
        bench_pages(scan, library)
        bench_load(scan, library)
        bench_rest(scan, library)
        bench_browser(scan, library)
    bench_preview(scan)
