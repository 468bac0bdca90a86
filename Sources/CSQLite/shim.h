#pragma once
#include <sqlite3.h>

/// Ends SQLite's statistics of the memory that it uses, for which all threads of a process wait for one lock at each allocation
/// (https://www.sqlite.org/malloc.html, section 3.2). With two threads that read, they took two fifths of the time. No effect once
/// a connection has been opened. Swift cannot call sqlite3_config, which is variadic.
static inline int csqlite_end_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
