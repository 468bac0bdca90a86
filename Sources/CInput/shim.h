#pragma once
// EVIOC* expand through _IOC() and _IOW(), which Swift does not import, and ioctl() is variadic. One function for each request of
// <linux/input.h> that is used; no logic here. Remove when Swift imports them.
#include <linux/input.h>
#include <stddef.h>
#include <sys/ioctl.h>

// Returns the protocol's version; fails with ENOTTY if the file is not an input device.
static inline int cinput_get_version(int device, int *version) { return ioctl(device, EVIOCGVERSION, version); }
// Returns bus, vendor, product and version.
static inline int cinput_get_id(int device, struct input_id *identity) { return ioctl(device, EVIOCGID, identity); }
// Copies the name, truncated to the size and then perhaps without its NUL. Returns its length.
static inline int cinput_get_name(int device, char *name, size_t size) { return ioctl(device, EVIOCGNAME(size), name); }
// Sets one bit for each KEY_* that the device has, in bytes from the lowest.
static inline int cinput_get_keys(int device, void *bits, size_t size) {
    return ioctl(device, EVIOCGBIT(EV_KEY, size), bits);
}
// Sets one bit for each KEY_* that is down.
static inline int cinput_get_pressed(int device, void *bits, size_t size) { return ioctl(device, EVIOCGKEY(size), bits); }
// Grabs or releases the device; fails with EBUSY if another program has it. The argument is the value itself, as a long: Swift's
// ioctl() would leave its upper half undefined.
static inline int cinput_grab(int device, int grabbed) { return ioctl(device, EVIOCGRAB, (long)grabbed); }
// Sets the clock that stamps the events.
static inline int cinput_set_clock(int device, int clock) { return ioctl(device, EVIOCSCLOCKID, &clock); }

// struct input_event has other names for its time where time is 64 bits wide and long is not; these macros cover both.
static inline long long cinput_seconds(const struct input_event *event) { return event->input_event_sec; }
static inline long long cinput_microseconds(const struct input_event *event) { return event->input_event_usec; }
