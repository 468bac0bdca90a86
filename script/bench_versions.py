"""`script/bench versions PROGRAM`: the instructions of this version of `scan` and of another one for the same work, counted by QEMU's user emulation."""
import contextlib
import csv
import glob
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

from bench_instructions import Counter, compile_counter

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOOKS = 20_000
PAGES = ["/library", "/library?q=author:writer", "/stats"]


class Version(Counter):
    """One of the two programs, which find the same large library."""

    def __init__(self, folder, scan, large):
        super().__init__(folder, "qemu-x86_64", ["-cpu", "max"], scan)
        # A home of its own, so that neither finds what the other has left.
        self.folder = tempfile.mkdtemp(dir=folder)
        self.environment |= {name: self.folder for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
        self.large = large

    def count_with(self, library, *arguments, **options):
        """Counts a command with a copy of a library, because commands may change it."""
        with tempfile.TemporaryDirectory() as folder:
            return self.count(*arguments, library=shutil.copy(library, os.path.join(folder, "library.sqlite")), **options)

    def count_page(self, path, rounds=50):
        """Counts one answer of the service: the second round and those after it, without the start."""
        return (self.serve(path, 1 + rounds) - self.serve(path, 1)) / rounds

    def serve(self, path, times):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(self.environment, BOOKPLATE_LIBRARY=shutil.copy(self.large, os.path.join(folder, "library.sqlite")))
            with subprocess.Popen([*self.command, "kiosk", "--no-camera", "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment) as service:
                address, lines = None, []
                for line in service.stderr:
                    lines.append(line)
                    if address is None and (found := re.search(r"http://[\d.]+:\d+", line)):
                        address = found.group(0)
                        try:
                            for _ in range(times):
                                urllib.request.urlopen(address + path, timeout=300).read()
                        finally:
                            service.terminate()
        return self.read("".join(lines).encode())


def run(scan, library, *arguments):
    """Runs a command outside the count, and returns its output."""
    folder = os.path.dirname(library)
    environment = dict(os.environ, BOOKPLATE_LIBRARY=library, BOOKPLATE_OFFLINE="1", HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder)
    return subprocess.run([scan, *arguments], check=True, env=environment, capture_output=True, text=True).stdout


def make_libraries(scan, folder):
    """Makes a library of one book, and one of generated books, a fifth of them read; returns their paths."""
    small, large = (os.path.join(folder, name) for name in ("small.sqlite", "large.sqlite"))
    run(scan, small, "library", "add", "--title", "Emma", "--author", "Jane Austen", "--isbn", "9780141439587")
    books = os.path.join(folder, "books.csv")
    with open(books, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["Title", "Author", "Publisher", "Year Published", "Number of Pages", "Exclusive Shelf", "My Rating", "Date Read"])
        for number in range(BOOKS):
            is_read = number % 5 == 0
            rows.writerow([f"Book {number} of {number % 997} seas", f"Writer {number % 4001}", f"Press {number % 211}", 1950 + number % 75, 100 + number % 700,
                           "read" if is_read else "to-read", number % 6 if is_read else 0, f"20{10 + number % 15}/{1 + number % 12:02}/{1 + number % 28:02}" if is_read else ""])
    run(scan, large, "import", books)
    return small, large


def bench_versions(scan, other):
    """Compares two builds of `scan`. The library is made by the other one, which is the earlier."""
    subprocess.run([os.path.join(ROOT, "script/install"), "instructions"], check=True)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        compile_counter(folder)
        small, large = make_libraries(other, folder)
        book = first_book(other, large)
        sides = [Version(folder, program, large) for program in (scan, other)]
        photos = sorted(glob.glob(os.path.join(ROOT, "samples/photos/*.jpg")))
        recording = sorted(glob.glob(os.path.join(ROOT, "samples/frames/*.mjpeg")))[0]
        with open(recording, "rb") as file:
            frames = file.read()
        rows = [
            ("scan isbn", lambda side: side.count("isbn", "9780441478125")),
            # Offline, the book stays in the queue.
            ("scan --isbn, one book", lambda side: side.count_with(small, "--isbn", "9780441478125", statuses=[69])),
            ("scan library list, one book", lambda side: side.count_with(small, "library", "list")),
            ("scan home, one book", lambda side: side.count_with(small, "home")),
            (f"decoding {len(photos)} photos", lambda side: sum(side.count("decode", photo) for photo in photos)),
            (f"live frames, {os.path.basename(recording)} three times", lambda side: side.count("--frames", "-", "--json", stdin=frames * 3)),
            (f"library list, {BOOKS:,} books", lambda side: side.count_with(large, "library", "list", "--json")),
            (f"library search, {BOOKS:,} books", lambda side: side.count_with(large, "library", "search", "seas 99")),
            (f"library add, {BOOKS:,} books", lambda side: side.count_with(large, "library", "add", "--title", "Faust", "--author", "Goethe")),
            *((f"kiosk {page}, {BOOKS:,} books", lambda side, page=page: side.count_page(page)) for page in PAGES),
            (f"kiosk, the page of a book, {BOOKS:,} books", lambda side: side.count_page("/books/" + book)),
        ]
        print("\nMillions of instructions of this version and of the other; wanted: at most 1.03 of it, and 1.02 for a start")
        print(f"  {'':50}{'this':>10}{'other':>10}{'ratio':>8}", flush=True)
        for name, measure in rows:
            # The fewest of three, because threads also wait.
            ours, theirs = (min(measure(side) for _ in range(3)) for side in sides)
            print(f"  {name:50}{ours / 1e6:>10.1f}{theirs / 1e6:>10.1f}{ours / theirs:>8.3f}", flush=True)


def first_book(scan, library):
    """Returns the id of a book in the library."""
    return re.search(r'"(?:id|book)":"?([0-9a-zA-Z-]+)', run(scan, library, "library", "search", "Book 1 of", "--json")).group(1)
