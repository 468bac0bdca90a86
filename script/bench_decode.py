"""The decoder's part of script/bench: compares our decoder with libzbar, zbarimg and, if its Python package is installed, zxing-cpp.

A folder may have a manifest.tsv: a line of names, then a photo a line. `path` is below the folder; `expected` its EAN-13, `|` between
equally right ones, a UPC-A with a leading 0; `note` may name other codes that are in the picture as `also:CODE,CODE`. Photos of a folder
without a manifest may have their answers beside them, as those of samples/photos do. A photo whose path begins with `negatives` or
`other1d` is expected to have no ISBN. The grey picture of each photo is decompressed once, before measuring.
"""
import json
import os
import statistics
import subprocess
import sys
import time

PHOTO_ENDINGS = (".jpg", ".jpeg", ".png", ".webp")
ROUNDS = 3


class Photo:
    def __init__(self, path, expected, also=(), is_empty=False):
        self.path, self.expected, self.also, self.is_empty = path, set(expected), set(also), is_empty

    def is_read(self, codes):
        return bool(self.expected & codes)

    def wrong(self, codes):
        return codes - self.expected - self.also

    def is_isbn(self):
        return any(code.startswith(("978", "979")) for code in self.expected)


def photos(folder):
    manifest = os.path.join(folder, "manifest.tsv")
    if os.path.exists(manifest):
        with open(manifest, encoding="utf-8") as lines:
            names = next(lines).rstrip("\n").split("\t")
            rows = [dict(zip(names, line.rstrip("\n").split("\t"))) for line in lines if line.strip()]
        for row in rows:
            note = row.get("note", "")
            also = note.split("also:")[1].split()[0].split(",") if "also:" in note else []
            path = os.path.join(folder, row["path"])
            expected = [code for code in row.get("expected", "").split("|") if code]
            other = row["path"].split("/")[0]
            if other == "other1d":
                also, expected = also + expected, []
            yield other, Photo(path, expected, also, is_empty=other in ("negatives", "other1d"))
        return
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.lower().endswith(PHOTO_ENDINGS):
                continue
            path = os.path.join(root, name)
            answer = os.path.splitext(path)[0] + ".txt"
            codes = []
            if os.path.exists(answer):
                with open(answer, encoding="utf-8") as file:
                    codes = [line.split()[1] for line in file if line.strip()]
            yield os.path.basename(root), Photo(path, codes[:1], codes[1:], is_empty=not codes)


def thirteen(code):
    return code.zfill(13) if len(code) == 12 and code.isdigit() else code


def in_process(bench, chosen):
    """Runs our decoder and libzbar alternately; also returns the result of each of our stages."""
    out = subprocess.run([bench, str(ROUNDS)] + [photo.path for photo in chosen], check=True, capture_output=True, text=True).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    sides = [
        [(min(answer[side]["times"]), {thirteen(code) for code in answer[side]["codes"]}) for answer in answers]
        for side in ("scan", "libzbar")
    ]
    return *sides, [answer["stages"] for answer in answers]


def zbarimg(chosen):
    results = []
    for photo in chosen:
        before = os.times()
        out = subprocess.run(["zbarimg", "-q", "--raw", "-Sdisable", "-Sean13.enable", photo.path], capture_output=True, text=True).stdout
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        results.append((cpu * 1000, {thirteen(code) for code in out.split()}))
    return results


def zxing(chosen):
    """Returns `None` if the package is not installed."""
    try:
        import numpy
        import zxingcpp
        from PIL import Image
    except ImportError as missing:
        print(f"  zxing-cpp is left out: no Python package {missing.name} (pip install zxing-cpp numpy pillow)")
        return None
    results = []
    for photo in chosen:
        grey = numpy.asarray(Image.open(photo.path).convert("L")).copy()
        times, codes = [], set()
        for _ in range(ROUNDS):
            start = time.thread_time()
            found = zxingcpp.read_barcodes(grey, formats=zxingcpp.BarcodeFormat.EAN13)
            times.append(time.thread_time() - start)
            codes = {thirteen(code.text) for code in found}
        results.append((min(times) * 1000, codes))
    return results


def table(name, chosen, sides):
    print(f"\n{name}: {len(chosen)} photos, CPU of one thread from the grey picture on (zbarimg: of the whole process)")
    print(f"  {'':12}{'read':>12}{'ISBN':>12}{'wrong':>8}{'wrong ISBN':>12}{'median ms':>12}{'sum s':>10}{'worst ms':>10}")
    with_code = [photo for photo in chosen if photo.expected]
    books = [photo for photo in chosen if photo.is_isbn()]
    for side, results in sides.items():
        if results is None:
            continue
        by_photo = dict(zip(chosen, results))
        read = sum(photo.is_read(by_photo[photo][1]) for photo in with_code)
        isbns = sum(photo.is_read(by_photo[photo][1]) for photo in books)
        wrong = [code for photo in chosen for code in photo.wrong(by_photo[photo][1])]
        times = [milliseconds for milliseconds, _ in results]
        print(f"  {side:12}{read:>5} of {len(with_code):<4}{isbns:>4} of {len(books):<4}{len(wrong):>8}"
              f"{sum(code.startswith(('978', '979')) for code in wrong):>12}{statistics.median(times):>12.2f}{sum(times) / 1000:>10.2f}{max(times):>10.1f}")
    halves = [[photo for photo in books[turn::2]] for turn in (0, 1)]
    if all(halves):
        ours = dict(zip(chosen, sides["scan"]))
        print("  ISBNs that scan reads in each half of the photos (every second photo is in the same half): "
              + ", ".join(f"{sum(photo.is_read(ours[photo][1]) for photo in half)} of {len(half)}" for half in halves))


def stage_table(chosen, stages):
    """Prints for each stage the photos in which it is the first to read a code, and its cost, as the decoder reports them in one more round."""
    print(f"  {'stage of scan':32}{'places':>8}{'photos':>8}{'ISBNs':>8}{'sum ms':>10}")
    for index, name in enumerate(stage["name"] for stage in stages[0]):
        of_all = [(photo, of_photo[index]) for photo, of_photo in zip(chosen, stages)]
        read = [photo for photo, stage in of_all if photo.is_read({thirteen(code) for code in stage["codes"]})]
        print(f"  {name:32}{sum(stage['places'] for _, stage in of_all):>8}{len(read):>8}{sum(photo.is_isbn() for photo in read):>8}"
              f"{sum(stage['cpu'] for _, stage in of_all):>10.1f}")


def whole_command(scan, chosen):
    """Reads all photos with one command, as people do, including decompression; zbarimg uses one core."""
    def wall(command):
        start = time.monotonic()
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if ended.returncode < 0:
            sys.exit(f"bench: {command[0]} was ended by signal {-ended.returncode}")
        return time.monotonic() - start, ended.stdout

    paths = [photo.path for photo in chosen]
    rounds = [(wall([scan, "decode", "--json"] + paths), wall(["zbarimg", "-q", "-Sdisable", "-Sean13.enable"] + paths)) for _ in range(2)]
    ours, theirs = (min(seconds for seconds, _ in column) for column in zip(*rounds))
    print(f"\nscan decode with all {len(paths)} photos, {os.cpu_count()} cores: {ours:.1f} s; zbarimg {theirs:.1f} s; {theirs / ours:.1f} times its throughput (wanted 6)")
    answers = {line["image"]: {thirteen(symbol["payload"]) for symbol in line["symbols"]} for line in map(json.loads, rounds[0][0][1].splitlines())}
    with_code = [photo for photo in chosen if photo.expected]
    wrong = sum(len(photo.wrong(answers.get(photo.path, set()))) for photo in chosen)
    print(f"  it reads {sum(photo.is_read(answers.get(photo.path, set())) for photo in with_code)} of {len(with_code)} codes, "
          f"{sum(photo.is_read(answers.get(photo.path, set())) for photo in with_code if photo.is_isbn())} ISBNs, {wrong} wrong")


def bench_decode(scan, bench, folders):
    for folder in folders:
        groups = {}
        for group, photo in photos(folder):
            groups.setdefault(group, []).append(photo)
        if not groups:
            sys.exit(f"bench: {folder} has no photos")
        everything = []
        for group, chosen in groups.items():
            ours, libzbar, stages = in_process(bench, chosen)
            sides = {"scan": ours, "libzbar": libzbar, "zbarimg": zbarimg(chosen), "zxing-cpp": zxing(chosen)}
            table(f"{os.path.basename(folder.rstrip('/'))}, {group}", chosen, sides)
            if any(photo.expected for photo in chosen):
                stage_table(chosen, stages)
            everything += chosen
        whole_command(scan, everything)
