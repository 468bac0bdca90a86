"""`script/bench instructions`: the instructions of one photo and one frame on x86-64 and arm64, counted by QEMU's user emulation."""
import glob
import os
import re
import statistics
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Clock rate in GHz and assumed instructions per cycle. The cores can begin two (A53, in order), three (A72) and four (A76, both out
# of order) instructions in a cycle; it is assumed that the decoder reaches a third of that.
MACHINES = [("Raspberry Pi 3 (Cortex-A53)", 1.2, 0.7), ("Raspberry Pi 4 (Cortex-A72)", 1.5, 1.0), ("Raspberry Pi 5 (Cortex-A76)", 2.4, 1.4)]


class Counter:
    """Counts the instructions of a program that QEMU runs."""

    def __init__(self, folder, emulator, prefix, scan):
        self.command = [emulator, *prefix, "-d", "plugin", "-plugin", f"file={folder}/count.so", scan]
        self.environment = dict(os.environ, BOOKPLATE_OFFLINE="1", HOME=folder, XDG_CONFIG_HOME=folder, XDG_DATA_HOME=folder, LIBDISPATCH_LOG="NO")
        self.folder, self.runs = folder, 0

    def count(self, *arguments, stdin=b"", library=None, statuses=(0, 3, 4)):
        """Runs a command, by default with a new library, and returns its instructions."""
        self.runs += 1
        library = library or os.path.join(self.folder, f"library-{os.path.basename(self.command[0])}-{self.runs}.sqlite")
        done = subprocess.run([*self.command, *arguments], input=stdin, capture_output=True, env=dict(self.environment, BOOKPLATE_LIBRARY=library))
        # Looking up a book that is not found is no failure here.
        if done.returncode not in statuses:
            raise SystemExit(f"bench: {' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode()}")
        return self.read(done.stderr + done.stdout)

    def read(self, output):
        """Returns the number that the plugin has printed."""
        found = re.search(rb"instructions: (\d+)", output)
        if not found:
            raise SystemExit(f"bench: {' '.join(self.command)} was not counted: {output.decode()}")
        return int(found.group(1))


def compile_counter(folder):
    """Compiles the plugin that counts."""
    source = os.path.join(ROOT, "Tests/DecodeBench/count-instructions.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", folder + "/count.so", source], check=True)


def bench_instructions(scan):
    """Compares `scan`, the release build for this machine, with the one that script/arm64 builds."""
    subprocess.run([os.path.join(ROOT, "script/install"), "instructions"], check=True)
    subprocess.run([os.path.join(ROOT, "script/arm64"), "build-release", "--product", "scan"], check=True, stdout=subprocess.DEVNULL)
    arm = os.path.join(ROOT, ".build-arm64/aarch64-unknown-linux-gnu/release/scan")
    system = subprocess.run([os.path.join(ROOT, "script/arm64"), "root", "sdk"], check=True, capture_output=True, text=True).stdout.split()[-1]
    photos = sorted(glob.glob(os.path.join(ROOT, "samples/photos/*.jpg")))
    with tempfile.TemporaryDirectory() as folder:
        compile_counter(folder)
        sides = [Counter(folder, "qemu-x86_64", ["-cpu", "max"], scan), Counter(folder, "qemu-aarch64", ["-L", system], arm)]
        rows = []
        costs = [[side.count("decode", photo) for side in sides] for photo in photos]
        starts = [side.count("decode", os.devnull) for side in sides]
        costs = [[whole - start for whole, start in zip(cost, starts)] for cost in costs]
        rows.append((f"photo, median of {len(photos)}", [statistics.median(cost[side] for cost in costs) for side in (0, 1)]))
        rows.append(("photo, the most", [max(cost[side] for cost in costs) for side in (0, 1)]))
        for recording in sorted(glob.glob(os.path.join(ROOT, "samples/frames/*.mjpeg"))):
            with open(recording, "rb") as file:
                frames = file.read()
            number = frames.count(b"\xff\xd8\xff")
            # The frames of a second round, without the start and without the commits of the first captures.
            once, thrice = [[side.count("--frames", "-", "--json", stdin=frames * rounds) for side in sides] for rounds in (1, 3)]
            rows.append((f"frame of {os.path.basename(recording)[:-6]}", [(three - one) / (2 * number) for one, three in zip(once, thrice)]))
    print("\nMillions of instructions, and what these are in ms on one core of a Raspberry Pi")
    print(f"  {'':34}{'x86-64':>9}{'arm64':>9}{'ratio':>7}" + "".join(f"{name.split(' (')[0].removeprefix('Raspberry '):>8}" for name, _, _ in MACHINES))
    for name, (x86, arm64) in rows:
        times = "".join(f"{arm64 / (clock * 1e6 * rate):>8.1f}" for _, clock, rate in MACHINES)
        print(f"  {name:34}{x86 / 1e6:>9.1f}{arm64 / 1e6:>9.1f}{arm64 / x86:>7.2f}{times}")
    print("  assumed: " + "; ".join(f"{name} at {clock} GHz, {rate} instructions a cycle" for name, clock, rate in MACHINES))
