# The camera is unplugged and plugged in again $CYCLES times, and the program's resources are measured; finally a camera hangs.
. "$GUEST/wait.sh"
held() { # adds a line with the open descriptors and the resident kilobytes to the file "held"
    echo "$(find "/proc/$scan/fd" -mindepth 1 | wc -l) $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$scan/status")" >>"$OUT/held"
}

first=$(camera 0)
fact first "$first"
start_scan unplug --json --yes --size 640x480
until_line "$OUT/unplug.err" "640x480 MJPG"
cycle=1
while [ $cycle -le "$CYCLES" ]; do
    if [ $cycle -eq 5 ]; then
        # While a program keeps the old node open, its number stays taken: the camera comes back under another.
        sleep 1000 <"$first" &
        holder=$!
        until_true 20 has_open $holder "$first"
    fi
    rigctl unplug 0
    until_line "$OUT/unplug.err" "was unplugged" 20 $cycle
    rigctl plug 0
    cycle=$((cycle + 1))
    until_line "$OUT/unplug.err" "640x480 MJPG" 20 $cycle
    held
    [ $cycle -ne 6 ] || { fact meanwhile "$(camera 0)"; kill $holder; }
done
# The camera stays plugged in and does not answer, so that the thread that restarts the stream hangs in the kernel.
hangs() { grep -q usb_poison_urb /proc/"$scan"/task/*/wchan; }
rigctl pause 0
until_true 60 hangs || exit 1
rigctl resume 0
# It still reads codes.
rigctl next 0
until_line "$OUT/unplug.out" captured
stop_scan unplug
