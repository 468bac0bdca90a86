"""The program's part of `script/bench library`: its commands, exports and backups with 20,000 books."""
import itertools
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

COPIES, ROUNDS, LIMIT = 20_000, 7, 100


def isbn(number):
    digits = f"978{number:09}"
    check = -sum(int(d) * (1 + 2 * (i % 2)) for i, d in enumerate(digits)) % 10
    return f"{digits}{check}"


def build_index(scan, folder, numbers):
    """Builds an offline index that knows these ISBNs, and returns its path."""
    dump, index = os.path.join(folder, "editions.txt"), os.path.join(folder, "index.sqlite")
    with open(dump, "w") as file:
        for n, number in enumerate(numbers):
            edition = {"key": f"/books/OL{n + 1}M", "title": f"Book {n}", "isbn_13": [number], "publish_date": "2001",
                       "authors": [{"key": f"/authors/OL{n % 500 + 1}A"}], "type": {"key": "/type/edition"}}
            file.write(f"/type/edition\t/books/OL{n + 1}M\t1\t2020-01-01T00:00:00\t{json.dumps(edition)}\n")
        for n in range(500):
            author = {"key": f"/authors/OL{n + 1}A", "name": f"Author {n}", "type": {"key": "/type/author"}}
            file.write(f"/type/author\t/authors/OL{n + 1}A\t1\t2020-01-01T00:00:00\t{json.dumps(author)}\n")
    subprocess.run([scan, "index", "build", dump, "--out", index], check=True, capture_output=True)
    return index


def timed(command, environment=None, output=None):
    """Runs a command, and returns its wall and CPU time in ms."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=output or subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)} ended with {done.returncode}: {done.stderr.decode()}")
    return wall * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


# Each line is a command, what is run before it, and what is run after it. NEW stands for the ISBN of a book that is not in the library, OWN for
# that of a book that is in it, # for the number of the round, and PAGE for a page after all pages before.
EVERYDAY = [
    ("library list", None, None), ("library list --sort title", None, None), ("library list --status reading --counts", None, None),
    ("library search the garden", None, None), ("library show OWN", None, None), ("--isbn NEW --yes", None, "undo"),
    ("library duplicates", None, None), ("library missing cover", None, None),
    ("library add --title Entered", None, "undo"), ("library edit OWN --publisher Press-#", None, "undo"), ("library delete OWN", None, "undo"),
    ("library trash", None, None), ("tag list", None, None), ("tag add fantasy-# OWN", None, "undo"), ("shelf list", None, None),
    ("shelf add Attic-# OWN", None, "undo"), ("author list", None, None), ("reading start OWN", None, None), ("reading page OWN PAGE", None, None),
    ("reading history OWN", None, None), ("session start OWN", None, "session stop PAGE --force"), ("session status", "session start OWN", "session stop PAGE --force"),
    ("session stop PAGE --force", "session start OWN", None), ("session list", None, None), ("note add OWN Remarkable", None, "undo"),
    ("note list", None, None), ("quote add OWN Remarkable", None, "undo"), ("home", None, None), ("stats", None, None),
    ("stats calendar", None, None), ("stats challenge", None, None), ("stats on-this-day", None, None), ("stats book OWN", None, None),
    ("complete zsh -- scan library show gar", None, None), ("complete zsh -- scan tag delete f", None, None),
    ("complete zsh -- scan library list --author=a", None, None),
    ("intake list", None, None), ("undo --list", None, None), ("undo", "tag add undone-# OWN", None),
]


def bench_commands(scan, library, home, rounds=ROUNDS):
    numbers = [isbn(900_000_000 + n) for n in range(rounds)]
    environment = dict(os.environ, BOOKPLATE_OFFLINE="1", BOOKPLATE_LIBRARY=library, BOOKPLATE_INDEX=build_index(scan, home, numbers), HOME=home,
                       XDG_DATA_HOME=home, XDG_CONFIG_HOME=home)
    listed = subprocess.run([scan, "library", "list", "--json", "--limit", "200"], env=environment, check=True, capture_output=True, text=True)
    books = [json.loads(line) for line in listed.stdout.splitlines()]
    owned = [book["isbn13"] for book in books if book["isbn13"] and book["pageCount"] and book["pageCount"] > 30 * rounds]
    # The day's first change makes a backup.
    timed([scan, "backup"], environment)

    print(f"\nEveryday commands with {COPIES:,} books, whole processes, median of {rounds - 1}, wanted < {LIMIT} ms", flush=True)
    print(f"  {'ms':44}{'wall':>8}{'of CPU':>8}")
    pages = itertools.count(1)
    for command, before, after in EVERYDAY:
        walls, cpus = [], []
        for turn in range(rounds):
            def words(text):
                values = {"NEW": numbers[turn], "OWN": owned[0], "PAGE": str(next(pages)) if "PAGE" in text else None}
                return [scan] + [values.get(word) or word.replace("#", str(turn)) for word in text.split()]
            if before:
                timed(words(before), environment)
            wall, cpu = timed(words(command), environment)
            if after:
                timed(words(after), environment)
            if turn > 0:  # the first warms the caches
                walls.append(wall)
                cpus.append(cpu)
        wall = statistics.median(walls)
        print(f"  {command:44}{wall:>8.1f}{statistics.median(cpus):>8.1f}" + ("  MISSED" if wall > LIMIT else ""), flush=True)
    return environment


# Plain SQLite's part: the same data as one JSON object or one row per book, in a single statement.
AUTHORS = "(SELECT json_group_array(json_object('name', name, 'role', role)) FROM editionAuthor JOIN author ON author.id = author WHERE edition = edition.id)"
SUBJECTS = "(SELECT json_group_array(name) FROM editionSubject JOIN subject ON subject.id = subject WHERE edition = edition.id)"
IDENTIFIERS = "(SELECT json_group_array(json_object('scheme', scheme, 'value', value)) FROM identifier WHERE edition = edition.id)"
TAGS = "(SELECT json_group_array(displayName) FROM copyTag JOIN tag ON tag.id = tag WHERE copy = copy.id)"


def columns(table, *names):
    return ", ".join(f"'{name}', {table}.{name}" for name in names)


EDITION = columns("edition", "uuid", "isbn", "isbnText", "title", "subtitle", "publisher", "publishedDate", "publishedDateText", "pageCount", "language",
                  "originalLanguage", "authorNationality", "format", "series", "seriesNumber", "description", "coverURL", "previewLink", "infoLink",
                  "fieldSources", "editedFields")
COPY = columns("copy", "uuid", "isOwned", "isPublic") + ", " + columns(
    "own", "status", "isOnWishlist", "isFavourite", "rating", "recommendedBy", "wouldRecommend", "dailyGoal", "countsForCulturalGoal", "culturalGoalCategory")
TIMES = ", ".join(f"'{name}', strftime('%Y-%m-%dT%H:%M:%fZ', copy.{name} / 1000.0, 'unixepoch')" for name in ("added", "deleted"))
RELATED = f"'authors', json({AUTHORS}), 'subjects', json({SUBJECTS}), 'identifiers', json({IDENTIFIERS}), 'tags', json({TAGS})"
SHELF = "'shelf', (SELECT displayName FROM shelf WHERE id = copy.shelf)"


END = '"end"'


def instant(column):
    return f"strftime('%Y-%m-%dT%H:%M:%fZ', {column} / 1000.0, 'unixepoch')"


def nested(table, key, fields, where):
    return f"'{key}', json((SELECT json_group_array(json_object({fields})) FROM {table} WHERE {where}))"


PROGRESS = nested("progressEntry entry", "progress", columns("entry", "uuid", "page", "percent", "isAutomatic") + f", 'at', {instant('at')}",
                  "entry.reading = reading.id")
SESSIONS = nested("session", "sessions", columns("session", "uuid", "startPage", "endPage") + f", 'start', {instant('start')}, 'end', {instant(END)}",
                  "session.reading = reading.id")
READING = columns("reading", "uuid", "state", "started", "finished", "stopped")
LAST = "'page', (SELECT page FROM progressEntry WHERE reading = reading.id ORDER BY at DESC, id DESC LIMIT 1)"
NOTES = nested("note", "notes", columns("note", "uuid", "kind", "text") + f", 'created', {instant('created')}", "note.copy = copy.id")
QUOTES = nested("quote", "quotes", columns("quote", "uuid", "text", "page") + f", 'created', {instant('created')}", "quote.copy = copy.id")
BOOKS = "FROM copy JOIN edition ON edition.id = copy.edition LEFT JOIN readerCopy own ON own.copy = copy.id AND own.reader = 1"
# json_object takes at most 127 arguments.
PLAIN = {
    "list": f"SELECT json_object({EDITION}, {COPY}), json_object({TIMES}, {RELATED}, {SHELF}, {nested('reading', 'readings', READING + ', ' + LAST, 'reading.copy = copy.id')}) "
            f"{BOOKS} WHERE deleted IS NULL ORDER BY added DESC, copy.id DESC",
    "json": f"SELECT json_object({EDITION}, {COPY}), json_object({TIMES}, {RELATED}, {SHELF}, {NOTES}, {QUOTES}, "
            f"{nested('reading', 'readings', READING + ', ' + PROGRESS + ', ' + SESSIONS, 'reading.copy = copy.id')}) {BOOKS} ORDER BY edition.uuid, copy.uuid",
    "csv": f"SELECT edition.*, copy.*, own.*, {instant('added')}, {AUTHORS}, {SUBJECTS}, {IDENTIFIERS}, {TAGS}, "
           "(SELECT json_group_array(json_object('state', state, 'started', started, 'finished', finished, 'stopped', stopped)) FROM reading WHERE copy = copy.id), "
           f"(SELECT json_group_array(text) FROM note WHERE copy = copy.id), (SELECT json_group_array(text) FROM quote WHERE copy = copy.id) {BOOKS} "
           "WHERE deleted IS NULL ORDER BY edition.uuid, copy.uuid",
    "timeline": "SELECT date, kind, copy.uuid, reading.uuid, title, " + AUTHORS + f", isbn, {instant('start')}, {instant(END)}, startPage, endPage FROM ("
                + " UNION ALL ".join(f"SELECT {day} AS date, '{day}' AS kind, id AS reading, NULL AS start, NULL AS \"end\", NULL AS startPage, NULL AS endPage "
                                     f"FROM reading WHERE {day} IS NOT NULL" for day in ("started", "finished", "stopped"))
                + " UNION ALL SELECT date(start / 1000, 'unixepoch'), 'session', reading, start, \"end\", startPage, endPage FROM session) AS event "
                "JOIN reading ON reading.id = event.reading JOIN copy ON copy.id = reading.copy JOIN edition ON edition.id = copy.edition ORDER BY date, kind, start",
}


def bench_everything(scan, library, home, environment, rounds=5):
    ours_to, theirs_to = os.path.join(home, "ours"), os.path.join(home, "theirs")

    def plain(mode, statement):
        return ["sqlite3", library, f".mode {mode}", f".once {theirs_to}", statement]

    work = [("library list --json > FILE", [scan, "library", "list", "--json"], plain("list", PLAIN["list"])),
            ("export json --to FILE", [scan, "export", "json", "--force", "--to", ours_to], plain("list", PLAIN["json"])),
            ("export csv --to FILE", [scan, "export", "csv", "--force", "--to", ours_to], plain("csv", PLAIN["csv"])),
            ("export timeline --to FILE", [scan, "export", "timeline", "--force", "--to", ours_to], plain("csv", PLAIN["timeline"])),
            ("backup FILE", [scan, "backup", ours_to + ".sqlite"], None)]
    print(f"\nEverything of {COPIES:,} books, compared with one statement of the sqlite3 shell for the same data; for the backup, with .backup and integrity_check", flush=True)
    print(f"  {'ms, median of ' + str(rounds):34}{'scan':>9}{'sqlite3':>9}{'ratio':>8}{'MB':>8}{'MB':>8}")
    for name, ours, theirs in work:
        walls = ([], [])
        for _ in range(rounds):
            with open(ours_to, "wb") as output:
                walls[0].append(timed(ours, environment, output)[0])
            if theirs:
                walls[1].append(timed(theirs)[0])
            else:
                copied = timed(["sqlite3", library, f".backup {theirs_to}.sqlite"])[0]
                walls[1].append(copied + timed(["sqlite3", theirs_to + ".sqlite", "PRAGMA integrity_check(1)"])[0])
        end = "" if theirs else ".sqlite"
        sizes = [os.path.getsize(path + end) / 1e6 for path in (ours_to, theirs_to)]
        (a, b) = map(statistics.median, walls)
        print(f"  {name:34}{a:>9.0f}{b:>9.0f}{a / b:>8.2f}{sizes[0]:>8.1f}{sizes[1]:>8.1f}", flush=True)


def bench_program(scan, library_bench):
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([library_bench, "open", "--keep", home, "--copies", str(COPIES)], check=True, stdout=subprocess.DEVNULL)
        library = os.path.join(home, f"{COPIES}.sqlite")
        environment = bench_commands(scan, library, home)
        bench_everything(scan, library, home, environment)
