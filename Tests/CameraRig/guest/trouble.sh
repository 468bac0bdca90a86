# A camera that another program uses, that may not be opened, that freezes; and its controls, before and after.
. "$GUEST/wait.sh"
device=$(camera 0)
controls() { v4l2-ctl -d "$device" -C focus_automatic_continuous,power_line_frequency,exposure_dynamic_framerate | tr '\n' ' '; }

# The values of the controls as a user left them.
v4l2-ctl -d "$device" -c focus_automatic_continuous=0
fact controls-before "$(controls)"

# Busy, then free.
v4l2-ctl -d "$device" --stream-mmap >/dev/null 2>/tmp/other.err &
other=$!
until_true 60 grep -q . /tmp/other.err
fact other "v4l2-ctl (process $other)"
start_scan busy --json --yes --device "$device" --size 640x480
until_line "$OUT/busy.err" "is in use by"
kill $other
until_line "$OUT/busy.err" "640x480 MJPG"
until_line "$OUT/busy.out" captured
fact controls-during "$(controls)"

# A second instance of scan.
first=$scan
start_scan second --json --yes --device "$device" --size 640x480
until_line "$OUT/second.err" "is in use by"
fact first "scan (process $first)"
stop_scan second
scan=$first

stop_scan busy
fact controls-after "$(controls)"

# An ordinary exit.
v4l2-ctl -d "$device" -c focus_automatic_continuous=0
start_scan interrupted --json --device "$device" --size 640x480
until_line "$OUT/interrupted.err" "640x480 MJPG"
stop_scan interrupted INT
fact controls-after-interrupt "$(controls)"

# Frozen for more than ten seconds. (Another kind of camera, because a stopped USB device blocks its driver too.)
start_scan frozen --json --device "$(camera 1)" --size 640x480
until_line "$OUT/frozen.err" "640x480 GREY"
rigctl pause 1
until_line "$OUT/frozen.err" "no new picture" 60
rigctl resume 1
until_line "$OUT/frozen.err" "640x480 GREY" 60 2
stop_scan frozen

# Without permission.
chown root:video "$device"
chmod 660 "$device"
start_as_nobody denied --json --device "$device" --size 640x480
until_line "$OUT/denied.err" "permission denied"
stop_scan denied
