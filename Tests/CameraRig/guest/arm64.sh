# The program on another kind of processor: a book held up to each camera but vivid, the confined process that reads
# photos, and the kiosk's memory.
. "$GUEST/wait.sh"
fact machine "$(uname -m)"
fact page-size "$(getconf PAGESIZE)"
"$SCAN" devices --json >"$OUT/devices.out"

number=0
for kind in $(rigctl list | cut -d ' ' -f 2); do
    fact "camera-$number" "$(camera $number)"
    if [ "$kind" != vivid ]; then
        start_scan "camera-$number" --json --yes --device "$(camera $number)" --size 640x480
        until_line "$OUT/camera-$number.out" saved 300
        stop_scan "camera-$number"
    fi
    number=$((number + 1))
done

BOOKPLATE_LIBRARY=/tmp/doctor.sqlite "$SCAN" doctor --json --device "$(camera 0)" >"$OUT/doctor.out" 2>"$OUT/doctor.err"
fact doctor-status $?

address=http://127.0.0.1:8278
start_scan kiosk kiosk --no-camera
until_line "$OUT/kiosk.err" "$address" 300
fact page-status "$(curl --silent --output /dev/null --write-out '%{http_code}' "$address/library")"
memory() { sed -n "s/^$1:[^0-9]*\([0-9]*\).*/\1/p" "/proc/$scan/status"; }
fact kiosk-kilobytes "$(memory VmRSS)"
fact kiosk-private-kilobytes "$(memory RssAnon)"

# While the photo is read, there is a process whose system calls are filtered.
curl --silent --max-time 300 --output "$OUT/photo.out" --header "Origin: $address" --header 'Content-Type: image/jpeg' \
    --data-binary "@$PHOTO" "$address/api/station/photos" &
upload=$!
confined=no
while kill -0 $upload 2>/dev/null; do
    ! grep -q '^Seccomp:[^0-9]*2' /proc/[0-9]*/status 2>/dev/null || confined=yes
done
fact photo-is-confined $confined
stop_scan kiosk
