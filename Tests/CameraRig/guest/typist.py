"""A handheld scanner made with uinput: it types by commands on standard input, one per line.

    typist.py NAME [mouse]
        line TEXT     types TEXT and Enter, with Shift where it is needed
        keypad TEXT   types TEXT and Enter on the keypad
        part TEXT     types TEXT without Enter
        burst TEXT    types TEXT all at once, faster than any scanner
        down KEY      presses a key, by its number in linux/input-event-codes.h
        up KEY        releases it

Prints the device's path, and "done" after each command. At the end of its input the device is unplugged. A mouse has one button.
"""
import fcntl, glob, os, struct, sys, time

EV_SYN, EV_KEY, ENTER, SHIFT, KP_ENTER = 0, 1, 28, 42, 96
# <linux/uinput.h>; the ioctl codes are composed as in asm-generic/ioctl.h.
UI_DEV_CREATE, UI_DEV_DESTROY, UI_SET_EVBIT, UI_SET_KEYBIT = 0x5501, 0x5502, 0x40045564, 0x40045565
UI_DEV_SETUP, UI_GET_SYSNAME = 0x405C5503, 0x8040552C

KEYS, KEYPAD = {}, {}
for first, plain, shifted in ((2, "1234567890-=", "!@#$%^&*()_+"), (16, "qwertyuiop[]", "QWERTYUIOP{}"),
                              (30, "asdfghjkl;'`", 'ASDFGHJKL:"~'), (43, "\\zxcvbnm,./", "|ZXCVBNM<>?")):
    for number, (one, other) in enumerate(zip(plain, shifted)):
        KEYS[one], KEYS[other] = (first + number, False), (first + number, True)
for number, sign in enumerate("789-456+1230."):
    KEYPAD[sign] = (71 + number, False)

device = os.open("/dev/uinput", os.O_WRONLY)
fcntl.ioctl(device, UI_SET_EVBIT, EV_KEY)
for code in [272] if sys.argv[2:] == ["mouse"] else range(1, 128):
    fcntl.ioctl(device, UI_SET_KEYBIT, code)
fcntl.ioctl(device, UI_DEV_SETUP, struct.pack("HHHH80sI", 3, 0x05E0, 0x1200, 1, sys.argv[1].encode(), 0))
fcntl.ioctl(device, UI_DEV_CREATE)
name = fcntl.ioctl(device, UI_GET_SYSNAME, bytes(64)).rstrip(b"\0").decode()


def send(kind, code, value):
    os.write(device, struct.pack("llHHi", 0, 0, kind, code, value))


def key(code, value):
    send(EV_KEY, code, value)
    send(EV_SYN, 0, 0)
    time.sleep(pace)


def type_text(text, keys, end=None):
    for sign in text:
        code, shifted = keys[sign]
        if shifted:
            key(SHIFT, 1)
        key(code, 1)
        key(code, 0)
        if shifted:
            key(SHIFT, 0)
    if end:
        key(end, 1)
        key(end, 0)


event = glob.glob(f"/sys/devices/virtual/input/{name}/event*")[0]
print("/dev/input/" + os.path.basename(event), flush=True)
for command in sys.stdin:
    word, _, rest = command.rstrip("\n").partition(" ")
    # A USB keyboard is polled every 8 ms.
    pace = 0 if word == "burst" else 0.008
    if word == "line":
        type_text(rest, KEYS, ENTER)
    elif word == "keypad":
        type_text(rest, KEYPAD, KP_ENTER)
    elif word in ("part", "burst"):
        type_text(rest, KEYS)
    else:
        key(int(rest), {"down": 1, "up": 0}[word])
    print("done", flush=True)
fcntl.ioctl(device, UI_DEV_DESTROY)
