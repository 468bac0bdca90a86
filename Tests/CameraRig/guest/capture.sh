# Cameras of every kind and format are listed, and a book held up to them is captured once.
. "$GUEST/wait.sh"
"$SCAN" devices --json >"$OUT/devices.out"
for number in 0 1 2 3 4; do fact "camera-$number" "$(camera $number)"; done

fed() { rigctl stats | sed -n "s/^camera $1 [^:]*: \([0-9]*\) frames.*/\1/p"; }
is_fed() { [ "$(fed "$1")" -ge "$2" ]; }

# A page with one book, shown for twenty-five frames while the clock is set; then a page with two.
start_scan mjpg --json --yes --device "$(camera 0)" --size 1600x1200
until_line "$OUT/mjpg.out" captured
before=$(date +%s)
date -s "@$((before + 3600))" >/dev/null
fact clock-jump $(($(date +%s) - before))
until_true 60 is_fed 0 $(($(fed 0) + 25))
rigctl next 0
until_line "$OUT/mjpg.out" captured 60 3
until_line "$OUT/mjpg.out" saved 60 3
stop_scan mjpg

for number in 1 2 3; do
    start_scan "camera-$number" --json --yes --device "$(camera $number)" --size 640x480
    until_line "$OUT/camera-$number.out" saved
    stop_scan "camera-$number"
done
