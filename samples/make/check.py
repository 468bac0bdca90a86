#!/usr/bin/env python3
"""Checks the samples against each other, and shows which photos zbar's own tool reads. Ends with 1 if anything is wrong."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import barcode

SAMPLES = Path(__file__).resolve().parent.parent
PICTURES = (".jpg", ".png", ".webp")
KINDS = {"isbn": r"978|979[1-9]", "ismn": "9790", "issn": "977", "upc": "0", "ean13": r"[1-8]|9[0-6]"}
faults = []


def thirteen(text):
    text = re.sub(r"^\]E0", "", text).replace("-", "").upper()
    if len(text) == 10:
        total = sum((10 - i) * (10 if c == "X" else int(c)) for i, c in enumerate(text))
        return None if total % 11 else (s := "978" + text[:9]) + barcode.check_digit(s)
    return text if barcode.is_valid(text) else None


def main():
    known = set()
    lines = (SAMPLES / "editions.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    names = {line.split("\t")[1] for line in lines if line.startswith("/type/author")}
    for line in lines:
        columns = line.split("\t")
        if columns[0] != "/type/edition" or columns[1] >= "/books/OL900000900M":
            continue
        record = json.loads(columns[4])
        if len(columns) != 5 or record["key"] != columns[1]:
            faults.append(f"editions.txt: {columns[1]}")
        faults.extend(f"editions.txt: no row for {a['key']}" for a in record.get("authors", []) if a["key"] not in names)
        for text in record.get("isbn_13", []) + record.get("isbn_10", []):
            isbn = thirteen(text.removesuffix(" (pbk.)"))
            known.add(isbn) if isbn else faults.append(f"editions.txt: {text}")
    typed = (SAMPLES / "isbns.txt").read_text().split()
    faults.extend(f"isbns.txt: {t}" for t in typed if thirteen(t) not in known)

    read = expected = pictures = 0
    for picture in sorted(p for p in (SAMPLES / "photos").iterdir() if p.suffix in PICTURES):
        answer = picture.with_suffix(".txt").read_text().splitlines()
        for line in answer:
            kind, payload, *addon = line.split(" ")
            if not barcode.is_valid(payload) or not re.match(KINDS[kind], payload):
                faults.append(f"{picture.name}: {line}")
            if kind == "isbn" and payload not in known:
                faults.append(f"{picture.name}: {payload} is not in editions.txt")
            if any(not re.fullmatch(r"\+\d{2}(\d{3})?", a) for a in addon):
                faults.append(f"{picture.name}: {line}")
        pictures += 1
        if shutil.which("zbarimg"):
            run = subprocess.run(["zbarimg", "-q", "-Sdisable", "-Sean13.enable", "-Sean2.enable", "-Sean5.enable", "--raw", picture], capture_output=True, text=True)
            got, want = sorted(set(run.stdout.split())), sorted(t.lstrip("+") for line in answer for t in line.split(" ")[1:])
            expected += bool(want)
            read += bool(want) and got == want
            wrong = [g for g in got if g not in want]
            if wrong:
                print(f"{picture.name}: MISREAD {wrong}")
            print(f"{picture.name:30} {'reads' if got == want else 'reads ' + ', '.join(got) + ' of ' + ', '.join(want)}")
    size = sum(f.stat().st_size for f in SAMPLES.rglob("*") if f.is_file() and "__pycache__" not in f.parts) / 1e6
    print(f"{pictures} pictures, {expected} with codes, zbarimg reads {read} of them wholly; {len(known)} ISBNs known; {size:.1f} MB")
    for fault in faults:
        print("FAULT", fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
