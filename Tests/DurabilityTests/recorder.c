// Records what a program does to the files of one folder, and makes calls fail. It is loaded with LD_PRELOAD, by
// DurabilityTests, which also compiles it.
//
//   DURABILITY_ROOT    the folder, without symbolic links; files elsewhere are neither recorded nor fail
//   DURABILITY_TRACE   the file to which the record is appended
//   DURABILITY_FAULT   KINDS N ERROR MODE: of the calls whose kind is in the sum KINDS, the N-th (from 1) fails with
//                      errno ERROR. MODE is "once"; "on": all later ones fail, too; "short": it writes half, and
//                      succeeds; "full": it writes half, and all later ones fail
//   DURABILITY_COUNTS  a file of 24 bytes, which receives the number of calls of these kinds, the number of failed ones, and
//                      whether the exit handlers of the program's libraries ran
//
// Nothing is synced in fact: the test decides what a power cut leaves, so recording is as fast on a disk as in memory.
// Files whose name ends in "-shm" are not recorded, because SQLite changes them through mmap() and rebuilds them; calls for
// them can fail. A place that could not be read stays unreadable, and a disk that was full has no room.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

// Calls the next definition of a function, which is glibc's.
#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, #name); real; })

enum { OPENING = 1, CREATING = 2, READING = 4, WRITING = 8, RESIZING = 16, SYNCING = 32, NAMING = 64, REMOVING = 128 };

// The first byte of each entry of the record; see Call.parse in Recorder.swift.
enum event {
    OPENED = 'o', CREATED = 'c', WRITTEN = 'w', RESIZED = 't', SYNCED = 's', DATA_SYNCED = 'd', FOLDER_SYNCED = 'f',
    SYNC_FAILED = 'x', RENAMED = 'r', LINKED = 'l', UNLINKED = 'u', FOLDER_CREATED = 'm', FOLDER_REMOVED = 'k',
    PRINTED = 'p', UNKNOWN = '?'
};

static char root[PATH_MAX];
static size_t root_length;
static int trace = -1;
static struct { int kinds; uint64_t number; int error; enum { ONCE, ON, SHORT, FULL } mode; } fault;
static uint64_t own_counts[3], *counts = own_counts;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// The inode numbers of the folder's files, by which calls with descriptors are recognised, however these were copied.
enum { SLOTS = 1 << 16 };
static uint64_t inodes[SLOTS];

// Marks the inode numbers and names of files that are not recorded.
#define HIDDEN (UINT64_C(1) << 63)

static uint64_t *slot(uint64_t inode) {
    uint64_t at = inode * 0x9E3779B97F4A7C15u >> 48;
    while (inodes[at] && (inodes[at] & ~HIDDEN) != inode) at = (at + 1) % SLOTS;
    return &inodes[at];
}

__attribute__((constructor)) static void begin(void) {
    const char *folder = getenv("DURABILITY_ROOT"), *path = getenv("DURABILITY_TRACE");
    if (!folder) return;
    snprintf(root, sizeof root, "%s", folder);
    if (path) trace = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace >= 0) {
        // Far from the descriptors that the program gets without the recorder.
        int far = fcntl(trace, F_DUPFD_CLOEXEC, 1000);
        close(trace);
        trace = far;
    }
    if ((path = getenv("DURABILITY_COUNTS"))) {
        int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
        void *memory = file < 0 ? MAP_FAILED : REAL(mmap)(NULL, 24, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) counts = memory;
        if (file >= 0) close(file);
    }
    const char *text = getenv("DURABILITY_FAULT");
    char mode[8] = "";
    if (text && sscanf(text, "%d %lu %d %7s", &fault.kinds, &fault.number, &fault.error, mode) == 4)
        fault.mode = !strcmp(mode, "on") ? ON : !strcmp(mode, "short") ? SHORT : !strcmp(mode, "full") ? FULL : ONCE;
    // Programs that this program starts are not recorded.
    unsetenv("LD_PRELOAD");
    root_length = strlen(root);
}

// Runs like the exit handlers of all other libraries.
__attribute__((destructor)) static void end(void) { counts[2] = 1; }

// Writes the path below the folder to `name`.
//
// Returns 0 if the path is elsewhere, HIDDEN if the file is not recorded, and otherwise 1.
static uint64_t within(int folder, const char *path, char name[PATH_MAX]) {
    char whole[PATH_MAX], real[PATH_MAX], *last;
    if (!root_length || !path || !*path) return 0;
    if (*path == '/') {
        snprintf(whole, sizeof whole, "%s", path);
    } else {
        char link[64], base[PATH_MAX];
        snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0) return 0;
        base[length] = 0;
        snprintf(whole, sizeof whole, "%.*s/%s", (int)length, base, path);
    }
    for (size_t end = strlen(whole); end > 1 && whole[end - 1] == '/'; end--) whole[end - 1] = 0;
    last = strrchr(whole, '/');
    if (!last || last == whole) return 0;
    *last++ = 0;
    // A folder that does not exist holds no file that could be opened, but mkdir of it is asked for.
    if (!realpath(whole, real)) snprintf(real, sizeof real, "%s", whole);
    size_t length = strlen(last);
    uint64_t found = length >= 4 && !strcmp(last + length - 4, "-shm") ? HIDDEN : 1;
    if (!strncmp(real, root, root_length) && (real[root_length] == '/' || !real[root_length])) {
        const char *below = real + root_length + (real[root_length] == '/');
        return snprintf(name, PATH_MAX, "%s%s%s", below, *below ? "/" : "", last) < PATH_MAX ? found : 0;
    }
    // The folder itself, which programs open to sync it.
    size_t parent = strlen(real);
    if (!strncmp(real, root, parent) && root[parent] == '/' && !strcmp(root + parent + 1, last)) {
        strcpy(name, ".");
        return 1;
    }
    return 0;
}

// Returns the inode number of a descriptor, if it is one of the folder's files or folders; otherwise 0.
static uint64_t inode_of(int file, struct stat *facts) {
    struct stat own;
    if (!facts) facts = &own;
    int error = errno;
    uint64_t found = 0;
    if (root_length && !fstat(file, facts) && (S_ISREG(facts->st_mode) || S_ISDIR(facts->st_mode))
        && (*slot(facts->st_ino) & ~HIDDEN) == facts->st_ino)
        found = *slot(facts->st_ino);
    errno = error;
    return found;
}

static void record(enum event event, uint64_t inode, uint64_t number, const char *first, const char *second, const void *data, size_t size) {
    if (trace < 0 || inode & HIDDEN) return;
    int error = errno;
    struct { uint32_t event, first, second, size; uint64_t inode, number; } head = {
        event, first ? strlen(first) : 0, second ? strlen(second) : 0, size, inode, number};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)first, head.first}, {(void *)second, head.second}, {(void *)data, size}};
    if (REAL(writev)(trace, parts, 4) != (ssize_t)(sizeof head + head.first + head.second + size)) abort();
    errno = error;
}

// Returns 1 if this call has to fail. Sets errno; 0 stands for half a write.
static int fails(int kind) {
    if (!(fault.kinds & kind)) return 0;
    uint64_t number = __atomic_add_fetch(&counts[0], 1, __ATOMIC_RELAXED);
    if (!fault.number || number < fault.number || (number > fault.number && fault.mode != ON && fault.mode != FULL)) return 0;
    __atomic_add_fetch(&counts[1], 1, __ATOMIC_RELAXED);
    errno = number == fault.number && (fault.mode == SHORT || fault.mode == FULL) && kind == WRITING ? 0 : fault.error;
    return 1;
}

#define LOCKED __attribute__((cleanup(unlock))) int locked = (pthread_mutex_lock(&lock), 1); (void)locked
static void unlock(int *locked) { (void)locked; pthread_mutex_unlock(&lock); }

// Opening

static int opened(int file, const char *name, uint64_t found, int flags, int existed) {
    struct stat facts;
    if (file < 0 || fstat(file, &facts) || !(S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))) return file;
    uint64_t inode = facts.st_ino | (found & HIDDEN);
    *slot(facts.st_ino) = inode;
    record(existed ? OPENED : CREATED, inode, 0, name, NULL, NULL, 0);
    if (existed && flags & O_TRUNC) record(RESIZED, inode, 0, NULL, NULL, NULL, 0);
    return file;
}

static int open_file(int folder, const char *path, int flags, mode_t mode) {
    char name[PATH_MAX];
    struct stat facts;
    uint64_t found = within(folder, path, name);
    if (!found) return REAL(openat)(folder, path, flags, mode);
    LOCKED;
    int existed = !fstatat(folder, path, &facts, 0);
    if (fails(flags & O_CREAT && !existed ? CREATING : OPENING)) return -1;
    return opened(REAL(openat)(folder, path, flags, mode), name, found, flags, existed);
}

#define MODE(flags) ({ mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } mode; })
int open(const char *path, int flags, ...) { return open_file(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return open_file(AT_FDCWD, path, flags | O_LARGEFILE, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return open_file(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return open_file(folder, path, flags | O_LARGEFILE, MODE(flags)); }
int creat(const char *path, mode_t mode) { return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode); }
int __open_2(const char *path, int flags) { return open_file(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_file(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int __openat_2(int folder, const char *path, int flags) { return open_file(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return open_file(folder, path, flags | O_LARGEFILE, 0); }

static int open_unique(char *template, int suffix, int flags) {
    char name[PATH_MAX];
    LOCKED;
    uint64_t found = within(AT_FDCWD, template, name);
    if (found && fails(CREATING)) return -1;
    int file = REAL(mkostemps)(template, suffix, flags);
    return found && within(AT_FDCWD, template, name) ? opened(file, name, found, 0, 0) : file;
}
int mkstemp(char *template) { return open_unique(template, 0, 0); }
int mkstemp64(char *template) { return open_unique(template, 0, O_LARGEFILE); }
int mkostemp(char *template, int flags) { return open_unique(template, 0, flags); }
int mkostemp64(char *template, int flags) { return open_unique(template, 0, flags | O_LARGEFILE); }
int mkstemps(char *template, int suffix) { return open_unique(template, suffix, 0); }
int mkostemps(char *template, int suffix, int flags) { return open_unique(template, suffix, flags); }

// Reading

static struct { uint64_t inode; off_t offset; } unreadable;

// Returns 1 if a read has to fail.
static int fails_to_read(int file, size_t size, off_t offset) {
    uint64_t inode = inode_of(file, NULL);
    if (!inode) return 0;
    if (offset < 0) offset = lseek(file, 0, SEEK_CUR);
    LOCKED;
    if (inode == unreadable.inode && offset <= unreadable.offset && unreadable.offset < offset + (off_t)size) {
        errno = fault.error;
        return 1;
    }
    if (!fails(READING)) return 0;
    unreadable.inode = inode;
    unreadable.offset = offset;
    return 1;
}
ssize_t read(int file, void *bytes, size_t size) { return fails_to_read(file, size, -1) ? -1 : REAL(read)(file, bytes, size); }
ssize_t pread(int file, void *bytes, size_t size, off_t offset) { return fails_to_read(file, size, offset) ? -1 : REAL(pread)(file, bytes, size, offset); }
ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) { return pread(file, bytes, size, offset); }

int statvfs(const char *path, struct statvfs *facts) {
    int result = REAL(statvfs)(path, facts);
    if (!result && fault.error == ENOSPC && counts[1]) facts->f_bfree = facts->f_bavail = facts->f_favail = 0;
    return result;
}
int statvfs64(const char *path, struct statvfs64 *facts) { return statvfs(path, (struct statvfs *)facts); }

// Writing

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    uint64_t inode = inode_of(file, NULL);
    if (!inode) return REAL(pwrite)(file, bytes, size, offset);
    LOCKED;
    if (fails(WRITING)) {
        if (errno) return -1;
        size = (size + 1) / 2;
    }
    ssize_t done = REAL(pwrite)(file, bytes, size, offset);
    if (done > 0) record(WRITTEN, inode, offset, NULL, NULL, bytes, done);
    return done;
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) { return pwrite(file, bytes, size, offset); }

ssize_t write(int file, const void *bytes, size_t size) {
    uint64_t inode = inode_of(file, NULL);
    if (!inode && ((file != STDOUT_FILENO && file != STDERR_FILENO) || !root_length)) return REAL(write)(file, bytes, size);
    LOCKED;
    if (inode && fails(WRITING)) {
        if (errno) return -1;
        size = (size + 1) / 2;
    }
    ssize_t done = REAL(write)(file, bytes, size);
    if (done > 0 && inode) record(WRITTEN, inode, lseek(file, 0, SEEK_CUR) - done, NULL, NULL, bytes, done);
    if (done > 0 && !inode) record(PRINTED, 0, 0, NULL, NULL, bytes, done);
    return done;
}

// Records bytes that a call has written and that are not at hand.
static ssize_t written(int file, uint64_t inode, off_t offset, ssize_t done) {
    char *bytes = done > 0 ? malloc(done) : NULL;
    if (!bytes) return done;
    if (REAL(pread)(file, bytes, done, offset) == done) record(WRITTEN, inode, offset, NULL, NULL, bytes, done);
    else record(UNKNOWN, inode, offset, "written in a way that cannot be read back", NULL, NULL, 0);
    free(bytes);
    return done;
}
#define WRITE_AT_POSITION(type, name, signature, arguments) \
    type name signature { \
        uint64_t inode = inode_of(file, NULL); \
        if (!inode) return REAL(name) arguments; \
        LOCKED; \
        if (fails(WRITING) && errno) return -1; \
        type done = REAL(name) arguments; \
        return written(file, inode, lseek(file, 0, SEEK_CUR) - done, done); \
    }
WRITE_AT_POSITION(ssize_t, writev, (int file, const struct iovec *parts, int count), (file, parts, count))
WRITE_AT_POSITION(ssize_t, sendfile, (int file, int from, off_t *offset, size_t size), (file, from, offset, size))
WRITE_AT_POSITION(ssize_t, sendfile64, (int file, int from, off64_t *offset, size_t size), (file, from, offset, size))

// Calls for which Bookplate has no use. If one changes a file of the folder, the test fails.
#define UNKNOWN_CALL(type, name, signature, arguments, file) \
    type name signature { \
        uint64_t inode = inode_of(file, NULL); \
        if (inode) record(UNKNOWN, inode, 0, #name, NULL, NULL, 0); \
        return REAL(name) arguments; \
    }
UNKNOWN_CALL(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t offset), (file, parts, count, offset), file)
UNKNOWN_CALL(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t offset), (file, parts, count, offset), file)
UNKNOWN_CALL(ssize_t, copy_file_range, (int from, off64_t *start, int to, off64_t *end, size_t size, unsigned flags), (from, start, to, end, size, flags), to)
UNKNOWN_CALL(ssize_t, splice, (int from, off64_t *start, int to, off64_t *end, size_t size, unsigned flags), (from, start, to, end, size, flags), to)
UNKNOWN_CALL(int, fallocate, (int file, int mode, off_t offset, off_t size), (file, mode, offset, size), file)
UNKNOWN_CALL(int, fallocate64, (int file, int mode, off64_t offset, off64_t size), (file, mode, offset, size), file)
UNKNOWN_CALL(int, posix_fallocate, (int file, off_t offset, off_t size), (file, offset, size), file)
UNKNOWN_CALL(int, posix_fallocate64, (int file, off64_t offset, off64_t size), (file, offset, size), file)

static void mapped(int protection, int flags, int file) {
    uint64_t inode = flags & MAP_ANONYMOUS || !(flags & MAP_SHARED) || !(protection & PROT_WRITE) ? 0 : inode_of(file, NULL);
    if (inode) record(UNKNOWN, inode, 0, "mmap", NULL, NULL, 0);
}
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    mapped(protection, flags, file);
    return REAL(mmap)(at, size, protection, flags, file, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int file, off64_t offset) {
    mapped(protection, flags, file);
    return REAL(mmap64)(at, size, protection, flags, file, offset);
}

int ftruncate(int file, off_t size) {
    uint64_t inode = inode_of(file, NULL);
    if (!inode) return REAL(ftruncate)(file, size);
    LOCKED;
    if (fails(RESIZING)) return -1;
    int result = REAL(ftruncate)(file, size);
    if (!result) record(RESIZED, inode, size, NULL, NULL, NULL, 0);
    return result;
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }
int truncate(const char *path, off_t size) {
    int file = open(path, O_WRONLY | O_CLOEXEC), result = file < 0 ? -1 : ftruncate(file, size);
    if (file >= 0) close(file);
    return result;
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }

// Syncing

static int sync_descriptor(int file, enum event event, int (*real)(int)) {
    struct stat facts;
    uint64_t inode = inode_of(file, &facts);
    if (!inode) return real(file);
    LOCKED;
    if (fails(SYNCING)) {
        record(SYNC_FAILED, inode, 0, NULL, NULL, NULL, 0);
        return -1;
    }
    record(S_ISDIR(facts.st_mode) ? FOLDER_SYNCED : event, inode, 0, NULL, NULL, NULL, 0);
    return 0;
}
int fsync(int file) { return sync_descriptor(file, SYNCED, REAL(fsync)); }
int fdatasync(int file) { return sync_descriptor(file, DATA_SYNCED, REAL(fdatasync)); }

// Names

static int move(int from, const char *old, int to, const char *new, unsigned flags) {
    char first[PATH_MAX], second[PATH_MAX];
    uint64_t isFirst = within(from, old, first), isSecond = within(to, new, second);
    if (!isFirst && !isSecond) return REAL(renameat2)(from, old, to, new, flags);
    LOCKED;
    if (fails(NAMING)) return -1;
    int result = flags ? REAL(renameat2)(from, old, to, new, flags) : REAL(renameat)(from, old, to, new);
    if (!result && isFirst == isSecond && flags <= 1) record(RENAMED, isFirst & HIDDEN, 0, first, second, NULL, 0);
    else if (!result) record(UNKNOWN, 0, 0, "a file moved into or out of the folder", NULL, NULL, 0);
    return result;
}
int rename(const char *old, const char *new) { return move(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return move(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) { return move(from, old, to, new, flags); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char first[PATH_MAX], second[PATH_MAX];
    if (within(to, new, second) != 1) return REAL(linkat)(from, old, to, new, flags);
    LOCKED;
    if (fails(NAMING)) return -1;
    int result = REAL(linkat)(from, old, to, new, flags);
    if (!result && within(from, old, first)) record(LINKED, 0, 0, first, second, NULL, 0);
    else if (!result) record(UNKNOWN, 0, 0, "a link to a file elsewhere", NULL, NULL, 0);
    return result;
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int symlinkat(const char *target, int folder, const char *path) {
    char name[PATH_MAX];
    if (within(folder, path, name)) record(UNKNOWN, 0, 0, "symlink", NULL, NULL, 0);
    return REAL(symlinkat)(target, folder, path);
}
int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }

int unlinkat(int folder, const char *path, int flags) {
    char name[PATH_MAX];
    uint64_t found = within(folder, path, name);
    if (!found) return REAL(unlinkat)(folder, path, flags);
    LOCKED;
    if (fails(REMOVING)) return -1;
    int result = REAL(unlinkat)(folder, path, flags);
    if (!result) record(flags & AT_REMOVEDIR ? FOLDER_REMOVED : UNLINKED, found & HIDDEN, 0, name, NULL, NULL, 0);
    return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    int result = unlink(path);
    return result && errno == EISDIR ? rmdir(path) : result;
}

int mkdirat(int folder, const char *path, mode_t mode) {
    char name[PATH_MAX];
    if (!within(folder, path, name)) return REAL(mkdirat)(folder, path, mode);
    LOCKED;
    if (fails(NAMING)) return -1;
    int result = REAL(mkdirat)(folder, path, mode);
    if (!result) record(FOLDER_CREATED, 0, 0, name, NULL, NULL, 0);
    return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
