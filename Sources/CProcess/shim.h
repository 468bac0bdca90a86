#pragma once
#include <signal.h>
#include <spawn.h>
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
