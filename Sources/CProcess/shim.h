#pragma once
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl() is variadic, and Swift does not import variadic functions. Remove these functions when it does.
static inline int cprocess_allow_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int cprocess_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

// glibc declares this function only with GNU extensions, which Swift's glibc module leaves out. Remove it when the module has it.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int cprocess_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

// Returns a descriptor that becomes readable when the process has ended. The system call is pidfd_open(2), which Linux has since
// version 5.3. glibc has a function for it only since version 2.36, and syscall() is variadic too.
static inline int cprocess_handle(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// Landlock, landlock(7). glibc has no functions for its system calls.

// The attributes of a ruleset. The headers of Debian 12 have only the first field, so all are declared here, with the names, values
// and layout of linux/landlock.h of Linux 6.12. Remove them when every supported system's headers have them. The kernel accepts
// fields that it does not know as long as they are zero.
struct cprocess_landlock_ruleset {
    __u64 handled_access_fs;
    __u64 handled_access_net;
    __u64 scoped;
};

// Returns the version of the kernel's interface, or -1 if it has no Landlock.
static inline int cprocess_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}
static inline int cprocess_landlock_create(const struct cprocess_landlock_ruleset *ruleset) {
    return (int)syscall(SYS_landlock_create_ruleset, ruleset, sizeof *ruleset, 0);
}
static inline int cprocess_landlock_restrict(int ruleset) { return (int)syscall(SYS_landlock_restrict_self, ruleset, 0); }

// seccomp, seccomp(2). glibc has no function for its system call.

// Returns 0 if the kernel can filter system calls.
static inline int cprocess_seccomp_is_available(void) {
    __u32 action = SECCOMP_RET_KILL_PROCESS;
    return (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
}
// Applies a filter to all threads of this process.
static inline int cprocess_seccomp_filter(const struct sock_fprog *program) {
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, program);
}

// The architecture whose system calls are numbered below; 0 if this program has no filter for it.
#if defined(__x86_64__)
static const __u32 cprocess_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__) && defined(__AARCH64EL__)
static const __u32 cprocess_architecture = AUDIT_ARCH_AARCH64;
#else
static const __u32 cprocess_architecture = 0;
#endif

// The system calls of a process that only computes: input and output with open descriptors, memory, threads, its end. Each
// architecture has its own numbers, and some lack the older calls.
static inline const int *cprocess_computing_calls(size_t *count) {
    static const int calls[] = {
        SYS_read, SYS_write, SYS_close, SYS_ppoll,
#ifdef SYS_poll
        SYS_poll,
#endif
        SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
        SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_getpid, SYS_sched_yield, SYS_sched_getaffinity,
        SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_restart_syscall, SYS_getrandom, SYS_sysinfo,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
        SYS_exit, SYS_exit_group,
    };
    *count = sizeof calls / sizeof *calls;
    return calls;
}
// System calls that are allowed with some arguments only.
static const int cprocess_mmap = SYS_mmap, cprocess_mprotect = SYS_mprotect, cprocess_clone = SYS_clone,
    cprocess_clone3 = SYS_clone3, cprocess_tgkill = SYS_tgkill;
