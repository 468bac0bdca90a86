# Functions for the scripts that run inside the rig. They wait for a program's output, each time with a limit, and never just sleep.

# uptime: whole seconds since the boot.
uptime() { cut -d . -f 1 /proc/uptime; }

# until_true SECONDS COMMAND...
until_true() {
    deadline=$(($(uptime) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(uptime)" -lt "$deadline" ] || { echo "timed out: $*" >&2; return 1; }
        sleep 0.1
    done
}

has_lines() { [ "$(grep -cF -- "$2" "$1")" -ge "$3" ]; }

# until_line FILE TEXT [SECONDS [COUNT]]: waits until COUNT lines of the file contain the text. Ends the script on a time-out.
until_line() {
    until_true "${3:-60}" has_lines "$1" "$2" "${4:-1}" && return
    echo "--- $1:" >&2
    tail -n 30 "$1" >&2
    exit 1
}

# has_open PID PATH
has_open() { ls -l "/proc/$1/fd" | grep -qF -- "-> $2"; }

# camera N: prints the current device of a camera, by its number on the command line.
camera() { rigctl list | while read -r number _ device _; do [ "$number" = "$1" ] && echo "$device"; done; }

# fact NAME VALUE: reports a value to the test outside.
fact() { printf '%s=%s\n' "$1" "$2"; }

mkdir -p /tmp/nobody && chmod 777 /tmp/nobody

# start_scan NAME ARGUMENTS...: starts scan in the background, with its output in NAME.out and NAME.err in the shared folder. It does
# not inherit the pipes that a script may hold open (8, 9).
start_scan() {
    name=$1
    shift
    BOOKPLATE_LIBRARY=/tmp/$name.sqlite "$SCAN" "$@" >"$OUT/$name.out" 2>"$OUT/$name.err" 8>&- 9>&- &
    scan=$!
}

# start_as_nobody NAME ARGUMENTS...: does the same without any group or privilege.
start_as_nobody() {
    name=$1
    shift
    BOOKPLATE_LIBRARY=/tmp/nobody/$name.sqlite HOME=/tmp/nobody \
        setpriv --reuid 65534 --regid 65534 --clear-groups "$SCAN" "$@" >"$OUT/$name.out" 2>"$OUT/$name.err" 8>&- 9>&- &
    scan=$!
}

# stop_scan NAME [SIGNAL]: stops scan, waits for its end and reports its status.
stop_scan() {
    kill "-${2:-TERM}" "$scan"
    wait "$scan"
    fact "$1-status" $?
}
