"""The part of script/bench that looks up books: which fields of recorded answers are wrong, by source, and how soon books are saved.

A folder of records has `expected.json`, which says for each ISBN what a careful librarian would expect, and the recorded answers of the
services, named SOURCE-ISBN.json. A server on this machine answers with them in place of the public services.
"""
import collections
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import unicodedata
import urllib.parse

FIELDS = ("title", "subtitle", "authors", "publisher", "publishedDate", "pageCount", "language", "originalLanguage", "series",
          "seriesNumber", "format", "description", "cover")
# The prefix of a source's files, and its name in Bookplate.
SOURCES = {"openlibrary": "openLibrary", "google": "googleBooks", "dnb": "dnb", "bnf": "bnf", "k10plus": "k10plus", "loc": "loc",
           "openbd": "openBD", "libris": "libris", "citoid": "citoid"}
NO_RECORDS = b'<searchRetrieveResponse xmlns="http://www.loc.gov/zing/srw/"><numberOfRecords>0</numberOfRecords></searchRetrieveResponse>'


class Records:
    """The recorded answers of one source. Every other source answers that it knows nothing."""

    def __init__(self, folder, source):
        self.folder, self.source = folder, source
        path = os.path.join(folder, "authors.json")
        self.authors = json.load(open(path)) if os.path.exists(path) else {}

    def file(self, source, isbn, *endings):
        if source != self.source:
            return None
        for ending in endings:
            path = os.path.join(self.folder, f"{source}-{isbn}{ending}")
            if os.path.exists(path):
                return json.load(open(path))
        return None

    def edition(self, isbn):
        return self.file("openlibrary", isbn, ".json")

    def named(self, edition):
        """The edition as jscmd=details gives it, with the authors' names."""
        authors = [dict(one, name=self.authors[key]) if (key := one["key"].split("/")[-1]) in self.authors else one
                   for one in edition.get("authors", [])]
        return dict(edition, authors=authors) if authors else edition

    def data(self, isbn):
        """The record as jscmd=data gives it: what was recorded, or else what Open Library makes of the edition."""
        recorded = self.file("openlibrary", isbn, "-data.json")
        if recorded:
            return recorded[f"ISBN:{isbn}"]
        edition = self.edition(isbn)
        if not edition:
            return None
        record = {key: edition[key] for key in ("title", "subtitle", "number_of_pages", "pagination", "publish_date", "by_statement", "key")
                  if key in edition}
        record["authors"] = [{"name": one["name"]} for one in self.named(edition).get("authors", []) if "name" in one]
        record["publishers"] = [{"name": name} for name in edition.get("publishers", [])]
        record["subjects"] = [{"name": name} for name in edition.get("subjects", [])]
        record["identifiers"] = dict(edition.get("identifiers", {}), **{key: edition[key] for key in ("isbn_10", "isbn_13") if key in edition})
        covers = edition.get("covers") or []
        if covers:
            record["cover"] = {"large": f"https://covers.openlibrary.org/b/id/{covers[0]}-L.jpg"}
        return record

    def answer(self, path, query):
        """Returns a JSON value; None for status 404."""
        isbn = re.search(r"97[89]\d{10}", urllib.parse.unquote(path + "?" + str(query)))
        isbn = isbn and isbn.group()
        if path == "/api/books":
            details = query.get("jscmd") == ["details"]
            found = {}
            for key in query["bibkeys"][0].split(","):
                edition, record = self.edition(key[5:]), self.data(key[5:])
                if details and edition:
                    found[key] = {"bib_key": key, "details": self.named(edition)}
                elif not details and record:
                    found[key] = record
            return found
        if path.startswith("/isbn/"):
            return self.edition(isbn)
        if path.startswith("/authors/"):
            name = self.authors.get(path.split("/")[-1].removesuffix(".json"))
            return name and {"name": name}
        if path == "/books/v1/volumes":
            return self.file("google", isbn, ".json") or {"kind": "books#volumes", "totalItems": 0}
        if path == "/v1/get":
            return [(self.file("openbd", isbn, ".json") or [None])[0] for isbn in query["isbn"][0].split(",")]
        if path == "/xsearch":
            return self.file("libris", isbn, ".json") or {"xsearch": {"records": 0, "list": []}}
        if path.startswith("/api/rest_v1/data/citation/"):
            return self.file("citoid", isbn, ".json")
        if path in ("/sru/dnb", "/api/SRU", "/opac-de-627", "/sru/lcdb"):
            recorded = os.path.join(self.folder, f"{self.source}-{isbn}.xml")
            return open(recorded, "rb").read() if os.path.exists(recorded) else NO_RECORDS
        return None


def serve(records):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            address = urllib.parse.urlsplit(self.path)
            answer = records.answer(address.path, urllib.parse.parse_qs(address.query))
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(200 if answer is not None else 404)
            self.send_header("Content-Type", "text/xml" if isinstance(answer, bytes) else "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def plain(value):
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def agrees(found, wanted):
    """Compares one field. The forms of `wanted` are those of the folder's README."""
    if isinstance(wanted, bool):
        return bool(found) == wanted
    if isinstance(wanted, list):
        return len(found or []) == len(wanted) and all(map(agrees, found or [], wanted))
    if not isinstance(wanted, dict):
        return plain(found or None) == plain(wanted or None)
    text = plain(found) or ""
    return ("any" not in wanted or any(agrees(found, one) for one in wanted["any"])) \
        and ("anyCase" not in wanted or [one.lower() for one in found or []] == [one.lower() for one in wanted["anyCase"]]) \
        and ("starts" not in wanted or text.startswith(wanted["starts"])) \
        and all(part in text for part in wanted.get("has", [])) \
        and not any(part in text for part in wanted.get("notHas", []))


def people_agree(others, wanted):
    """Compares the people who are no authors, whose key is a role such as "translator|other" or "narrator?"."""
    found = collections.defaultdict(list)
    for person in others:
        found[person["role"]].append(plain(person["name"]))
    for roles, names in wanted.items():
        may_miss, roles = roles.endswith("?"), roles.removesuffix("?")
        pool = [name for role, people in found.items() if roles == "*" or role in roles.split("|") for name in people]
        if not may_miss and any(plain(name) not in pool for name in names):
            return False
    return True


def wrong_fields(found, wanted):
    if wanted["outcome"] != found["outcome"]:
        return [("outcome", found["outcome"], wanted["outcome"])]
    values = dict(found, cover=found.get("coverURL"), authors=[one["name"] for one in found.get("contributors", []) if one["role"] == "author"]
                  if "contributors" in found else found.get("authors"))
    wrong = []
    for field in FIELDS:
        if field not in wanted:
            continue
        want = wanted[field]
        if field == "cover" and isinstance(want, str):
            want = {"has": [want]}
        if not agrees(values.get(field), want):
            wrong.append((field, values.get(field), want))
    others = [one for one in found.get("contributors", []) if one["role"] != "author"]
    if "others" in wanted and not people_agree(others, wanted["others"]):
        wrong.append(("others", others, wanted["others"]))
    everyone = [one["name"] for one in found.get("contributors", [])]
    for name in wanted.get("peopleHas", []):
        if name not in everyone:
            wrong.append(("peopleHas", everyone, name))
    for name in wanted.get("notAuthors", []):
        if name in (values["authors"] or []):
            wrong.append(("notAuthors", values["authors"], name))
    texts = " ".join(str(values.get(field)) for field in ("title", "subtitle", "series"))
    for part in wanted.get("textHas", []):
        if part not in texts:
            wrong.append(("textHas", texts, part))
    for part in wanted.get("subjectsNotHas", []):
        if any(part in subject for subject in found.get("subjects", [])):
            wrong.append(("subjects", part, None))
    return wrong


def look_up(scan, folder, source, isbns):
    """Looks up the books in one process without any earlier answer. Returns the lines by ISBN."""
    server = serve(Records(folder, source))
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as home:
        environment = dict(PATH=os.environ["PATH"], HOME=home, BOOKPLATE_GOOGLEBOOKS_KEY="bench", BOOKPLATE_SOURCES=SOURCES[source],
                           **{f"BOOKPLATE_{name}_URL": base for name in ("OPENLIBRARY", "GOOGLEBOOKS", *map(str.upper, SOURCES))})
        done = subprocess.run([scan, "lookup", "--json", "--refresh", *isbns], env=environment, capture_output=True, text=True)
    server.shutdown()
    return {line["isbn13"]: line for line in map(json.loads, done.stdout.splitlines())}


def bench_records(scan, folders):
    for folder in folders:
        expected = json.load(open(os.path.join(folder, "expected.json")))
        print(f"\nFields of the records in {os.path.basename(folder)}, looked up in one batch, and one by one\n"
              f"  {'source':20} records    right   wrong fields")
        for source in SOURCES:
            wanted = {isbn: one for isbn, one in expected.items() if one["source"] == source and one.get("mode") != "reader"}
            if not wanted:
                continue
            # The Library of Congress answers five requests a minute, so it is not asked for a batch.
            answers = [("batch", look_up(scan, folder, source, wanted))] if source != "loc" else []
            alone = {}
            for isbn in wanted:
                alone |= look_up(scan, folder, source, [isbn])
            answers.append(("alone", alone))
            for how, found in answers:
                wrong = {isbn: wrong_fields(found.get(isbn, {"outcome": "no line"}), one) for isbn, one in wanted.items()}
                count = sum(map(len, wrong.values()))
                print(f"  {source + ', ' + how:20} {len(wanted):>7} {sum(not one for one in wrong.values()):>8} {count:>14}{'' if count == 0 else '  MISSED'}")
                for isbn, fields in wrong.items():
                    for field, value, want in fields:
                        print(f"      {isbn} {field}: {json.dumps(value, ensure_ascii=False)}, expected {json.dumps(want, ensure_ascii=False)}")


class Gaps:
    """An Open Library that knows every book by its title and author alone, and a Google Books that knows the rest. Both take 0.2 s."""

    def answer(self, path, query):
        time.sleep(0.2)
        if path == "/api/books":
            data = query.get("jscmd") == ["data"]
            return {key: {"title": "A book", "authors": [{"name": "A. Writer"}], "identifiers": {"isbn_13": [key[5:]]}}
                    for key in query["bibkeys"][0].split(",") if data}
        if path == "/books/v1/volumes":
            return {"kind": "books#volumes", "totalItems": 1, "items": [{"volumeInfo": {
                "title": "A book", "publisher": "A house", "publishedDate": "2001", "pageCount": 100, "language": "en",
                "industryIdentifiers": [{"type": "ISBN_13", "identifier": query["q"][0][5:]}]}}]}
        return None


def bench_gaps(scan):
    """Saves 120 typed numbers, and measures until all are saved and until their gaps are filled."""
    numbers = []
    for number in range(120):
        digits = f"978000{number:06}"
        numbers.append(digits + str(-sum(int(one) * (3 if place % 2 else 1) for place, one in enumerate(digits)) % 10))
    server = serve(Gaps())
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as home:
        environment = dict(PATH=os.environ["PATH"], HOME=home, BOOKPLATE_GOOGLEBOOKS_KEY="bench", BOOKPLATE_SOURCES="openLibrary,googleBooks",
                           BOOKPLATE_OPENLIBRARY_URL=base, BOOKPLATE_GOOGLEBOOKS_URL=base, BOOKPLATE_COVERS_URL=base)
        began = time.monotonic()
        run = subprocess.Popen([scan, "--stdin", "--yes", "--json"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        run.stdin.write("".join(f"{number}\n" for number in numbers))
        run.stdin.close()
        saved = [time.monotonic() - began for line in run.stdout if json.loads(line)["event"] == "saved"]
        run.wait()
        ended = time.monotonic() - began
        books = subprocess.run([scan, "library", "list", "--json"], env=environment, capture_output=True, text=True)
        filled = sum(json.loads(line)["publisher"] == "A house" for line in books.stdout.splitlines())
    server.shutdown()
    first, last = (saved[0], saved[-1]) if saved else (float("nan"), float("nan"))
    is_missed = len(saved) < 120 or filled < 120 or last > 10 or ended > 150
    print(f"\n120 typed numbers that Open Library knows by title, and whose gaps Google Books fills with one request a second\n"
          f"  {len(saved)} saved, the first after {first:.1f} s and the last after {last:.1f} s (at most 10); "
          f"{filled} filled after {ended:.1f} s (at most 150){'  MISSED' if is_missed else ''}")
