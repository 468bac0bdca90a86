# Functions for the scripts that run inside the rig: they wait for a program's output, each with a time limit, and never just sleep.

# uptime: whole seconds since the boot.
uptime() { cut -d . -f 1 /proc/uptime; }

# until_true SECONDS COMMAND...
until_true() {
    deadline=$(($(uptime) + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(uptime)" -lt "$deadline" ] || { echo "in vain: $*" >&2; return 1; }
        sleep 0.1
    done
}

has_lines() { [ "$(grep -cF -- "$2" "$1")" -ge "$3" ]; }

# until_line FILE TEXT [SECONDS [COUNT]]: waits until COUNT lines of the file contain the text; a timeout ends the script.
until_line() {
    until_true "${3:-60}" has_lines "$1" "$2" "${4:-1}" && return
    echo "--- $1:" >&2
    tail -n 30 "$1" >&2
    exit 1
}

# has_open PID PATH
has_open() { ls -l "/proc/$1/fd" | grep -qF -- "-> $2"; }

# The current node of camera N, counted in the order of the options.
camera() { rigctl list | while read -r number _ device _; do [ "$number" = "$1" ] && echo "$device"; done; }

# fact NAME VALUE: prints a fact for the test outside.
fact() { printf '%s=%s\n' "$1" "$2"; }

mkdir -p /tmp/nobody && chmod 777 /tmp/nobody

# start_scan NAME ARGUMENTS...: runs in the background, with its output in NAME.out and NAME.err in the shared folder, and without the
# pipes that a script may hold open (8, 9).
start_scan() {
    name=$1
    shift
    BOOKPLATE_LIBRARY=/tmp/$name.sqlite "$SCAN" "$@" >"$OUT/$name.out" 2>"$OUT/$name.err" 8>&- 9>&- &
    scan=$!
}

# The same, without groups or privileges.
start_as_nobody() {
    name=$1
    shift
    BOOKPLATE_LIBRARY=/tmp/nobody/$name.sqlite HOME=/tmp/nobody \
        setpriv --reuid 65534 --regid 65534 --clear-groups "$SCAN" "$@" >"$OUT/$name.out" 2>"$OUT/$name.err" 8>&- 9>&- &
    scan=$!
}

# stop_scan NAME [SIGNAL]: sends the signal and waits for the end.
stop_scan() {
    kill "-${2:-TERM}" "$scan"
    wait "$scan"
    fact "$1-status" $?
}
