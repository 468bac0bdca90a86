#pragma once
// libv4l2 is opened with the first camera instead of at the start of the program, because photos, lists and exports do not need
// it. A station without libv4l2 still accepts typed and scanned numbers.
//
// The second reason for this header is that v4l2_ioctl() is variadic and the VIDIOC_* requests expand through _IOR(). Swift
// imports neither. There is no logic here. Remove each part when Swift imports what it stands for.
#include <dlfcn.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

struct cv4l2 {
    __typeof__(v4l2_close) *close;
    __typeof__(v4l2_fd_open) *fd_open;
    __typeof__(v4l2_ioctl) *ioctl;
    __typeof__(v4l2_mmap) *mmap;
    __typeof__(v4l2_munmap) *munmap;
};

// Fills the table. Returns NULL, or the loader's message if anything is missing. The message is valid until this thread's next dl
// call.
static inline const char *cv4l2_open(struct cv4l2 *table) {
    void *library = dlopen("libv4l2.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return dlerror();
#define CV4L2_FIND(name) \
    if ((table->name = (__typeof__(table->name))dlsym(library, "v4l2_" #name)) == NULL) return dlerror()
    CV4L2_FIND(close);
    CV4L2_FIND(fd_open);
    CV4L2_FIND(ioctl);
    CV4L2_FIND(mmap);
    CV4L2_FIND(munmap);
#undef CV4L2_FIND
    // The caller reports every errno. libv4l2's own messages would be printed across the live picture.
    FILE **log = (FILE **)dlsym(library, "v4l2_log_file");
    if (log != NULL) *log = fopen("/dev/null", "we");
    return NULL;
}

static inline int cv4l2_ioctl(const struct cv4l2 *table, int descriptor, unsigned long request, void *argument) {
    return table->ioctl(descriptor, request, argument);
}

// open() is variadic too.
static inline int cv4l2_open_node(const char *path) { return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); }

static const unsigned long CV4L2_VIDIOC_QUERYCAP = VIDIOC_QUERYCAP;
static const unsigned long CV4L2_VIDIOC_ENUM_FMT = VIDIOC_ENUM_FMT;
static const unsigned long CV4L2_VIDIOC_ENUM_FRAMESIZES = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long CV4L2_VIDIOC_ENUM_FRAMEINTERVALS = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long CV4L2_VIDIOC_S_FMT = VIDIOC_S_FMT;
static const unsigned long CV4L2_VIDIOC_TRY_FMT = VIDIOC_TRY_FMT;
static const unsigned long CV4L2_VIDIOC_S_PARM = VIDIOC_S_PARM;
static const unsigned long CV4L2_VIDIOC_REQBUFS = VIDIOC_REQBUFS;
static const unsigned long CV4L2_VIDIOC_QUERYBUF = VIDIOC_QUERYBUF;
static const unsigned long CV4L2_VIDIOC_QBUF = VIDIOC_QBUF;
static const unsigned long CV4L2_VIDIOC_DQBUF = VIDIOC_DQBUF;
static const unsigned long CV4L2_VIDIOC_STREAMON = VIDIOC_STREAMON;
static const unsigned long CV4L2_VIDIOC_STREAMOFF = VIDIOC_STREAMOFF;
static const unsigned long CV4L2_VIDIOC_QUERYCTRL = VIDIOC_QUERYCTRL;
static const unsigned long CV4L2_VIDIOC_QUERYMENU = VIDIOC_QUERYMENU;
static const unsigned long CV4L2_VIDIOC_G_CTRL = VIDIOC_G_CTRL;
static const unsigned long CV4L2_VIDIOC_S_CTRL = VIDIOC_S_CTRL;

static const unsigned int CV4L2_CID_POWER_LINE_FREQUENCY = V4L2_CID_POWER_LINE_FREQUENCY;
static const unsigned int CV4L2_CID_EXPOSURE_AUTO_PRIORITY = V4L2_CID_EXPOSURE_AUTO_PRIORITY;
static const unsigned int CV4L2_CID_FOCUS_AUTO = V4L2_CID_FOCUS_AUTO;
