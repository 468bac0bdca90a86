# A handheld scanner, real except for its laser: it is grabbed, it types all kinds of lines, it is unplugged and comes back.
. "$GUEST/wait.sh"
modprobe -a uinput evdev
mkfifo /tmp/typist /tmp/listener

plug_in() { # plug_in NAME [mouse]
    python3 "$GUEST/typist.py" "$@" </tmp/typist >/tmp/typist.out &
    typist=$!
    exec 8>/tmp/typist
    : >/tmp/typed
    until_line /tmp/typist.out /dev/input/
    device=$(head -n 1 /tmp/typist.out)
}
types() { # types COMMAND...: sends a command and waits until it is typed
    echo >>/tmp/typed
    echo "$*" >&8
    until_line /tmp/typist.out done 20 "$(wc -l </tmp/typed)"
}
listen() { # listen [grab]
    python3 "$GUEST/listener.py" "$device" "$@" </tmp/listener >/tmp/listener.out 9>&- 8>&- &
    listener=$!
    exec 9>/tmp/listener
    until_line /tmp/listener.out grab:
}
stop_listening() { exec 9>&-; wait "$listener"; }
unplug() { exec 8>&-; wait "$typist"; }

plug_in "Rig Barcode Scanner"
fact path "$device"

# Another program has grabbed it; then it is free.
listen grab
start_scan exclusive --scanner "$device" --json --yes
until_line "$OUT/exclusive.err" "another program has grabbed it"
stop_listening
until_line "$OUT/exclusive.err" "is ready" 20

# Its lines reach scan and no other program.
listen
fact second-reader "$(cat /tmp/listener.out)"
for command in "line 9780441478125" "line ]E0978-0-7432-7356-5" "keypad 978-2-07-036002-4" "line 080442957X" \
    "line 9780441478126"; do
    types "$command"
    until_line "$OUT/exclusive.out" "\"raw\":\"${command#* }\""
done
stop_listening
fact second-heard "$(tail -n 1 /tmp/listener.out)"

# scan is stopped for a while, so that the kernel's buffer overflows: the lost line is reported, the next one arrives.
kill -STOP "$scan"
types burst 97804414781259780441478125978044147812597804414781259780441478125
kill -CONT "$scan"
until_line "$OUT/exclusive.err" "keys were lost"
types down 28
types up 28
types line 9780141439518
until_line "$OUT/exclusive.out" 9780141439518

# Unplugged in the middle of a line, and back.
types part 978
unplug
until_line "$OUT/exclusive.err" "was unplugged" 20
plug_in "Rig Barcode Scanner"
until_line "$OUT/exclusive.err" "is ready" 20 3
types line 9780385333849
until_line "$OUT/exclusive.out" 9780385333849

# Unplugged, and a keyboard takes its number.
unplug
until_line "$OUT/exclusive.err" "was unplugged" 20 2
plug_in "Keyboard of somebody"
fact keyboard-path "$device"
until_line "$OUT/exclusive.err" "is now Keyboard of somebody" 20
listen
stop_listening
fact keyboard-grab "$(head -n 1 /tmp/listener.out)"
unplug
stop_scan exclusive

# The scanner is not grabbed while a key is down, so that the other program sees the release.
plug_in "Rig Barcode Scanner"
types down 59
listen
types line 1234
start_scan pressed --scanner "$device" --json --yes
until_true 60 has_open "$scan" "$device"
types up 59
until_line "$OUT/pressed.err" "is ready" 20
types line 9780441478125
until_line "$OUT/pressed.out" 9780441478125
stop_listening
fact heard-before "$(tail -n 1 /tmp/listener.out)"
stop_scan pressed
# Without permission.
chmod 660 "$device"
start_as_nobody denied --scanner "$device" --json
until_line "$OUT/denied.err" "permission denied"
stop_scan denied
unplug

# Paths that are not a scanner.
plug_in "Rig Mouse" mouse
for path in /etc/passwd "$device"; do
    start_scan no-scanner --scanner "$path" --json
    until_line "$OUT/no-scanner.err" "$path"
    stop_scan no-scanner
    fact "no-scanner-$path" "$(grep -F "$path" "$OUT/no-scanner.err")"
done
unplug
