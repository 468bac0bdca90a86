"""The part `index` of script/bench: the offline index, built from generated dumps of Open Library.

The dumps are the same for the same number of rows. Their rows have the members, the bytes a row and the gzip ratio of the real dump of editions;
both figures are printed. Titles and names are combined from 40,000 words and 25,000 names that are themselves combined from syllables, so that they
do not repeat. ISBNs are used as densely as in the real dump, and in an order of their own.
"""
import gzip
import itertools
import json
import multiprocessing
import os
import random
import re
import sqlite3
import statistics
import subprocess
import tempfile
import time

BYTES, RATIO = 950, 4.2  # of the real dump of editions
SHARE = 20_000  # rows that are generated together
COMMON = ("the of and a in to for on with an from by new history der die das und von des le la les de du et el los y il del world life book "
          "story guide introduction art studies love house man american").split()


def vocabulary(seed, count, least, most):
    """Returns different made-up words."""
    dice = random.Random(seed)
    beginnings = "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr kl pr sch sp st tr".split()
    middles = "a e i o u a e i o ie au ei ä é ö ü".split()
    ends = ["", "", "n", "r", "s", "l", "t", "m", "nd", "rt", "st", "ck", "ng"]
    words = {}
    while len(words) < count:
        parts = (dice.choice(beginnings) + dice.choice(middles) + dice.choice(ends) for _ in range(dice.randint(least, most)))
        words["".join(parts)] = None
    return list(words)


class Maker:
    """Generates rows, each from its number."""

    def __init__(self, rows):
        self.rows = rows
        self.authors = max(1, rows // 4)
        # Of a thousand numbers, 65 are used, and about 70 % of the editions have one.
        self.space = max(20_000, min(1_999_999_999, rows * 11))
        self.step = next(step for step in itertools.count(self.space * 618 // 1000) if all(step % p for p in (2, 3, 5, 7, 11, 13)) and
                         gcd(step, self.space) == 1)
        self.words = COMMON + vocabulary(1, 40_000, 1, 3)
        self.weights = list(itertools.accumulate(1 / (rank + 6) for rank in range(len(self.words))))
        self.first = [word.title() for word in vocabulary(2, 3_000, 1, 2)]
        self.last = [word.title() for word in vocabulary(3, 22_000, 2, 3)]
        self.places = [word.title() for word in vocabulary(4, 2_000, 2, 3)]
        self.houses = [word.title() for word in vocabulary(5, 9_000, 1, 3)]

    def name(self, dice):
        middle = f"{chr(dice.randrange(65, 91))}. " if dice.random() < 0.25 else ""
        return f"{dice.choice(self.first)} {middle}{dice.choice(self.last)}"

    def title(self, dice, words):
        chosen = dice.choices(self.words, cum_weights=self.weights, k=words)
        chosen[0] = chosen[0].capitalize()
        return " ".join(chosen)

    def share(self, number):
        """Returns the rows of one share as bytes: editions, and authors behind the last of them."""
        dice = random.Random(number)
        first = number * SHARE
        return "".join(self.edition(n, dice) for n in range(first, min(first + SHARE, self.rows))).encode()

    def authors_share(self, number):
        dice = random.Random(1_000_000 + number)
        first = number * SHARE
        return "".join(self.author(n, dice) for n in range(first, min(first + SHARE, self.authors))).encode()

    def time(self, dice):
        return (f"{dice.randrange(2008, 2026)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}T"
                f"{dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}.{dice.randrange(10**6):06}")

    def author(self, n, dice):
        key, modified, name = f"/authors/OL{n + 1}A", self.time(dice), self.name(dice)
        record = {"name": name, "created": {"type": "/type/datetime", "value": "2008-04-01T03:28:50.625462"}, "personal_name": name,
                  "last_modified": {"type": "/type/datetime", "value": modified}, "latest_revision": 2, "key": key,
                  "type": {"key": "/type/author"}, "revision": 2}
        return f"/type/author\t{key}\t2\t{modified}\t{json.dumps(record)}\n"

    def edition(self, n, dice):
        r = dice.random
        number, modified, revision = n + 1, self.time(dice), dice.randrange(1, 15)
        code = n * self.step % self.space
        house = code // 1500 if r() < 0.97 else dice.randrange(self.space // 1500 + 1)
        publisher = self.houses[house * 7919 % len(self.houses)] + [" Press", " Verlag", "", " Books", " & Co.", " University Press", " Editions"][house % 7]
        place, english = self.places[house * 31 % len(self.places)], house % 10 < 6
        language = "eng" if english else ("ger", "fre", "spa", "ita", "rus", "jpn")[house % 6]
        year = dice.randrange(1960, 2025)
        when = modified[:10]
        marc = r() < 0.26
        record = {"publishers": [publisher], "key": f"/books/OL{number}M", "title": self.title(dice, 1 + min(int(dice.expovariate(0.26)), 14)),
                  "type": {"key": "/type/edition"}, "languages": [{"key": f"/languages/{language}"}],
                  "publish_date": str(year) if r() < 0.6 else f"{('January', 'March', 'June', 'October')[number % 4]} {dice.randrange(1, 29)}, {year}"}
        if r() < 0.35:
            record["subtitle"] = self.title(dice, dice.randrange(2, 9))
        if r() < 0.88:
            record["authors"] = [{"key": f"/authors/OL{dice.randrange(self.authors) + 1}A"} for _ in range(1 if r() < 0.85 else 2)]
        if r() < 0.7:
            digits = f"978{code:09}"
            check = -sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10
            record["isbn_13"] = [f"{digits}{check}"]
            if r() < 0.8:
                short = sum(int(d) * (10 - i) for i, d in enumerate(digits[3:]))
                record["isbn_10"] = [digits[3:] + "0123456789X"[-short % 11]]
        if r() < 0.75:
            record["number_of_pages"] = int(dice.gauss(280, 90)) % 1000 + 8
        if r() < 0.55:
            record["covers"] = [dice.randrange(10_000, 15_000_000)]
        if r() < 0.5:
            record["physical_format"] = ("Paperback", "Hardcover", "paperback", "Mass Market Paperback", "eBook")[number % 5]
        record["works"] = [{"key": f"/works/OL{dice.randrange(1, 45_000_000)}W"}]
        record["source_records"] = [f"promise:bwb_daily_pallets_{when}:{dice.randrange(10**8):08}" if r() < 0.3 else f"bwb:{code:09}"]
        if marc:
            pages = record.get("number_of_pages", 200)
            record["pagination"] = f"{('xii', 'iv', 'xx')[number % 3]}, {pages} p. ;"
            record["lccn"] = [f"{dice.randrange(10**8):08}"]
            record["oclc_numbers"] = [str(dice.randrange(10**8))]
            record["publish_places"] = [place]
            record["publish_country"] = ("nyu", "gw ", "enk", "fr ", "it ", "cau")[house % 6]
            record["lc_classifications"] = [f"PR{dice.randrange(9999)}.{chr(65 + number % 26)}{dice.randrange(99)} {year}"]
            record["dewey_decimal_class"] = [f"{dice.randrange(1000)}.{dice.randrange(100)}"]
            record["by_statement"] = self.name(dice) + "."
            record["notes"] = {"type": "/type/text", "value": "Includes bibliographical references and index. " + self.title(dice, 6)}
            record["source_records"] += [f"marc:marc_loc_2016/BooksAll.2016.part{number % 43:02}.utf8:{dice.randrange(10**9)}:{dice.randrange(600, 1900)}"]
        record["subjects"] = [self.title(dice, dice.randrange(1, 4)) for _ in range(dice.randrange(0, 4))]
        if r() < 0.3:
            record["ocaid"] = f"{dice.choice(self.words)}{dice.randrange(100):04}{self.houses[dice.randrange(9000)][:4].lower()}"
        if r() < 0.15:
            record["series"] = [f"{self.title(dice, 2)} ; {dice.randrange(1, 99)}"]
        if r() < 0.06:
            record["contributors"] = [{"name": self.name(dice), "role": "Translator"}]
        if r() < 0.5:
            record["local_id"] = [f"urn:trent:{dice.randrange(10**13):013}", f"urn:bwbsku:{chr(65 + number % 26)}{dice.randrange(10)}-{dice.choice('ABCDEFGHKM')}{chr(65 + dice.randrange(26))}{dice.randrange(1000)}"]
        if r() < 0.4:
            record["identifiers"] = {"goodreads": [str(dice.randrange(10**7))], "librarything": [str(dice.randrange(10**7))]}
        if r() < 0.06:
            record["description"] = {"type": "/type/text", "value": self.title(dice, 60)}
        record["latest_revision"] = record["revision"] = revision
        if r() < 0.75:
            record["created"] = {"type": "/type/datetime", "value": self.time(dice)}
        record["last_modified"] = {"type": "/type/datetime", "value": modified}
        return f"/type/edition\t/books/OL{number}M\t{revision}\t{modified}\t{json.dumps(record)}\n"


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


MAKER = None


def start_maker(rows):
    global MAKER
    MAKER = Maker(rows)


def compressed(work):
    kind, number = work
    plain = MAKER.share(number) if kind == "editions" else MAKER.authors_share(number)
    return len(plain), gzip.compress(plain, 6, mtime=0)


def make_dumps(rows, folder):
    """Writes dumps of editions and authors, each share as a gzip member of its own, on all cores.

    Returns their paths, and the mean bytes and the gzip ratio of a row of editions.
    """
    paths, figures = [], None
    with multiprocessing.Pool(None, start_maker, (rows,)) as pool:
        for kind, count in (("editions", rows), ("authors", max(1, rows // 4))):
            path = os.path.join(folder, f"ol_dump_{kind}.txt.gz")
            paths.append(path)
            plain = packed = 0
            with open(path, "wb") as file:
                for length, data in pool.imap(compressed, ((kind, n) for n in range(-(-count // SHARE))), 1):
                    plain += length
                    packed += len(data)
                    file.write(data)
            figures = figures or (plain / rows, plain / packed)
    return paths, figures


def run(command, input=None):
    """Runs a command. Returns its wall and CPU time in seconds, its peak resident memory in MiB and its output."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as source:
        source.write((input or "").encode())
        source.seek(0)
        process = subprocess.Popen(command, stdin=source, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        if status != 0:
            raise SystemExit(f"bench: {' '.join(command[:3])} … ended with status {status}")
        output.seek(0)
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read().decode()


def gunzip(paths):
    """Returns the seconds that decompressing the dumps alone takes."""
    start = time.monotonic()
    for path in paths:
        subprocess.run(["gunzip", "-c", path], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def plain_table(paths, target):
    """Puts the editions into a plain table of SQLite, with Python's JSON. Returns the seconds and the bytes."""
    start = time.monotonic()
    names = {}
    with gzip.open(paths[1], "rt") as file:
        for line in file:
            _, key, _, _, text = line.split("\t")
            names[key] = json.loads(text)["name"]
    database = sqlite3.connect(target)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                           "CREATE TABLE edition (isbn INTEGER PRIMARY KEY, key TEXT, work TEXT, title TEXT, subtitle TEXT, authors TEXT, publisher TEXT, "
                           "published TEXT, pages INTEGER, language TEXT, format TEXT, series TEXT, cover INTEGER)")

    def rows():
        with gzip.open(paths[0], "rt") as file:
            for line in file:
                record = json.loads(line.split("\t")[4])
                number = record.get("isbn_13", [None])[0] or 2 * 10**12 + int(re.sub(r"\D", "", record["key"]))
                authors = ", ".join(names.get(author["key"], "") for author in record.get("authors", []))
                first = lambda name: record.get(name, [None])[0]
                yield (int(number), record["key"], record["works"][0]["key"], record["title"], record.get("subtitle"), authors, first("publishers"),
                       record.get("publish_date"), record.get("number_of_pages"), record["languages"][0]["key"], record.get("physical_format"),
                       first("series"), first("covers"))

    with database:
        database.executemany("INSERT OR IGNORE INTO edition VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows())
    database.close()
    return time.monotonic() - start, os.path.getsize(target)


def pages_read(bench, index, numbers):
    """Returns how many pages of 4 KiB a new process reads to answer each number, counted by the kernel's system calls.

    The pages that opening the index reads are counted too. SQLite reads the header of 100 bytes and page 1 apart.
    """
    counts = []
    for number in numbers:
        trace = subprocess.run(["strace", "-f", "-y", "-e", "trace=pread64,read,mmap", "-o", "/dev/stdout", bench, "number", index, number],
                               capture_output=True, text=True, check=True).stdout
        if f"{number} not found" in trace:
            raise SystemExit(f"bench: {number} was not found")
        pages = set()
        for match in re.finditer(r"(pread64|read|mmap)\([^\n]*" + re.escape(os.path.basename(index)) + r">[^\n]*?, (\d+), (\d+)\)\s*=\s*\d+", trace):
            offset, length = int(match[3]), int(match[2])
            pages.update(range(offset // 4096, (offset + length - 1) // 4096 + 1))
        counts.append(len(pages))
    return counts


def isbns(paths, count):
    """Returns ISBNs from the first million rows of the dump."""
    found = []
    with gzip.open(paths[0], "rt") as file:
        for line in itertools.islice(file, 0, 1_000_000, 997):
            if match := re.search(r'"isbn_13": \["(\d{13})"\]', line):
                found.append(match[1])
    return random.Random(3).sample(found, min(count, len(found)))


def queries(paths):
    """Returns titles as people type them: whole, a few words, rare and common words, and beginnings."""
    titles = []
    with gzip.open(paths[0], "rt") as file:
        for line in itertools.islice(file, 0, 400_000, 4001):
            titles.append(json.loads(line.split("\t")[4])["title"])
    dice, typed = random.Random(4), []
    for title in titles:
        words = title.split()
        typed += [title, " ".join(dice.sample(words, min(2, len(words)))), " ".join(words)[:-2] if len(words[-1]) > 6 else title]
    vocabulary = Maker(20_000).words
    common = [w for w in COMMON if len(w) > 4]
    typed += common + [f"{a} {b}" for a, b in itertools.combinations(common[:8], 2)] + [f"{w} {dice.choice(vocabulary)}" for w in common]
    typed += [f"the {w}" for w in common[:6]] + [w[:4] for w in common] + ["it", "the", "nothing such xyzzy"]
    return typed


def bench_index(bench, arguments, long):
    counts = [int(arguments[n + 1]) for n, a in enumerate(arguments) if a == "--rows"] or ([500_000, 1_000_000] + ([2_000_000, 5_000_000] if long else []))
    print("\nThe offline index, built from generated dumps; wanted: at most 4 times gunzip and 300 MiB; 90 bytes an edition for numbers, 150 with words;")
    print("6 pages of 4 KiB for a number; 100 ms for a title", flush=True)
    for rows in counts:
        with tempfile.TemporaryDirectory() as folder:
            paths, (length, ratio) = make_dumps(rows, folder)
            print(f"\n  {rows:,} editions: {length:.0f} bytes a row (real: {BYTES}, {length / BYTES - 1:+.1%}), gzip ratio {ratio:.2f} "
                  f"(real: {RATIO}, {ratio / RATIO - 1:+.1%})", flush=True)
            measure(bench, rows, paths, folder)


def measure(bench, rows, paths, folder):
    index = os.path.join(folder, "index.sqlite")
    before = gunzip(paths)
    wall, cpu, memory, output = run([bench, "build", index] + paths)
    after = gunzip(paths)
    editions, _, reading, _, numbers, total = map(float, output.split())
    floor = (before + after) / 2
    print(f"    built in {wall:.1f} s, of which the first stage {reading:.1f}; gunzip {floor:.1f} s; ratio {wall / floor:.2f}; peak {memory:.0f} MiB")
    print(f"    {cpu:.1f} s of CPU, on two cores that nothing else uses {cpu / 2 / floor:.2f} times gunzip at best", flush=True)
    print(f"    {numbers / editions:.1f} bytes an edition for numbers, {total / editions:.1f} with words")
    counts = pages_read(bench, index, isbns(paths, 20))
    print(f"    pages of 4 KiB for a number in a new process: median {statistics.median(counts):.0f}, most {max(counts)}")
    typed = queries(paths)
    *_, output = run([bench, "titles", index, "2"], "\n".join(typed) + "\n")
    times = [(float(line.split("\t")[0]), line.split("\t")[2]) for line in output.splitlines()]
    worst = max(times)
    print(f"    {len(typed)} titles: median {statistics.median(t for t, _ in times):.1f} ms, most {worst[0]:.1f} ms (\"{worst[1]}\")", flush=True)
    seconds, size = plain_table(paths, os.path.join(folder, "plain.sqlite"))
    print(f"    a plain table of SQLite, filled by Python, without words: {seconds:.0f} s, {size / editions:.0f} bytes an edition", flush=True)
