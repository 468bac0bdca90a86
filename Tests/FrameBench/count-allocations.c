/* Counts the allocations of a program: those of the program itself (which contains Swift's library and zbar) apart from those of its
 * shared libraries. Built and preloaded by script/bench; the counts are written to the file that ALLOCATION_COUNTS names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_ullong nowhere[2];
static atomic_ullong *counts = nowhere;
static uintptr_t first, last;

/* The first entry is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        first = info->dlpi_addr + part->p_vaddr;
        last = first + part->p_memsz;
    }
    return 1;
}

__attribute__((constructor)) static void begin(void) {
    dl_iterate_phdr(find_program, NULL);
    const char *path = getenv("ALLOCATION_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) counts = page;
    close(file);
}

static inline void count(const void *caller) {
    uintptr_t at = (uintptr_t)caller;
    atomic_fetch_add_explicit(&counts[at >= first && at < last ? 0 : 1], 1, memory_order_relaxed);
}
#define COUNT count(__builtin_return_address(0))

void *malloc(size_t size) { COUNT; return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { COUNT; return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { COUNT; return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { COUNT; return __libc_memalign(alignment, size); }
int posix_memalign(void **result, size_t alignment, size_t size) {
    COUNT;
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}
