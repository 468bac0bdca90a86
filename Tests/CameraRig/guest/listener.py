"""Another program that reads the same input device: listener.py DEVICE [grab]

Prints the result of grabbing the device (without "grab" it releases it at once), and, at the end of its standard input, the number
of key events it received.
"""
import errno, fcntl, os, struct, sys

EVIOCGRAB = 0x40044590
device = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
try:
    fcntl.ioctl(device, EVIOCGRAB, 1)
    if sys.argv[2:] != ["grab"]:
        fcntl.ioctl(device, EVIOCGRAB, 0)
    print("grab: taken", flush=True)
except OSError as error:
    print("grab:", errno.errorcode[error.errno], flush=True)
sys.stdin.read()
keys = 0
while True:
    try:
        record = os.read(device, 24)
    except BlockingIOError:
        break
    keys += struct.unpack("llHHi", record)[2] == 1
print("keys:", keys, flush=True)
