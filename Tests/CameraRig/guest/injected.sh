# Errors that the vivid driver injects.
. "$GUEST/wait.sh"
inject() { v4l2-ctl -d "$(camera 0)" -c "$1"; }
begin() {
    start_scan "$1" --json --size 320x180 --fps 10 --format GREY
    until_line "$OUT/$1.err" "320x180 GREY"
}
again() { until_line "$OUT/$1.err" "320x180 GREY" 60 2; }

# Damaged and lost frames: the stream continues, and nothing is reported. A fatal error: the stream is restarted.
begin fatal
inject inject_v4l2_buf_flag_error=1
inject percentage_of_dropped_buffers=50
inject inject_fatal_streaming_error=1
inject percentage_of_dropped_buffers=0
again fatal
stop_scan fatal

# The first restart fails.
begin streamon
inject inject_vidioc_streamon_error=1
inject inject_fatal_streaming_error=1
again streamon
stop_scan streamon

begin reqbufs
inject inject_vidioc_reqbufs_error=1
inject inject_fatal_streaming_error=1
again reqbufs
stop_scan reqbufs

# A buffer cannot be given back. Then the driver reports that the device is gone, and finally it comes back.
begin qbuf
inject inject_vidioc_qbuf_error=1
again qbuf
inject disconnect=1
until_line "$OUT/qbuf.err" "unplugged"
rigctl unplug 0
rigctl plug 0
until_line "$OUT/qbuf.err" "320x180 GREY" 60 3
stop_scan qbuf
