#pragma once
// The EVIOC* macros expand through _IOC() and _IOW(), which Swift does not import, and ioctl() is variadic. There is one function
// for each request of <linux/input.h> that is used, without any logic. Remove the functions when Swift imports these macros and
// variadic functions.
#include <linux/input.h>
#include <stddef.h>
#include <sys/ioctl.h>

// Returns the protocol's version; fails with ENOTTY if the file is not an input device.
static inline int cinput_get_version(int device, int *version) { return ioctl(device, EVIOCGVERSION, version); }
// Returns bus, vendor, product and version.
static inline int cinput_get_id(int device, struct input_id *identity) { return ioctl(device, EVIOCGID, identity); }
// Copies the name of the device. A name that is longer than the size is truncated, and may then lack its NUL. Returns the length
// of the name.
static inline int cinput_get_name(int device, char *name, size_t size) { return ioctl(device, EVIOCGNAME(size), name); }
// Sets one bit for each KEY_* that the device has, beginning with the lowest key.
static inline int cinput_get_keys(int device, void *bits, size_t size) {
    return ioctl(device, EVIOCGBIT(EV_KEY, size), bits);
}
// Sets one bit for each KEY_* that is pressed now.
static inline int cinput_get_pressed(int device, void *bits, size_t size) { return ioctl(device, EVIOCGKEY(size), bits); }
// Grabs or releases the device; fails with EBUSY if another program has grabbed it. The argument is the value itself, as a long,
// because Swift's ioctl() would leave the upper half undefined.
static inline int cinput_grab(int device, int grabbed) { return ioctl(device, EVIOCGRAB, (long)grabbed); }
// Sets the clock from which the events get their times.
static inline int cinput_set_clock(int device, int clock) { return ioctl(device, EVIOCSCLOCKID, &clock); }

// The fields for the time in struct input_event have other names where time_t is 64 bits wide and long is not. The macros cover
// both cases.
static inline long long cinput_seconds(const struct input_event *event) { return event->input_event_sec; }
static inline long long cinput_microseconds(const struct input_event *event) { return event->input_event_usec; }
