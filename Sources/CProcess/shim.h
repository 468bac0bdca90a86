#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// prctl() is variadic, which Swift does not import. Remove when it does.
static inline int cprocess_allow_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
static inline int cprocess_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

// glibc declares this only with GNU extensions, which Swift's module of glibc leaves out. Remove when it does not.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int cprocess_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

// Returns a descriptor that becomes readable when the process has ended. The corresponding system call is pidfd_open(2), since
// Linux 5.3, which glibc wraps since 2.36; syscall() is variadic too.
static inline int cprocess_handle(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
