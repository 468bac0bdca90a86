#pragma once
#include <sqlite3.h>

/// Stops SQLite from counting the memory that it uses, for which all threads of a process wait for one lock at each allocation
/// (https://www.sqlite.org/malloc.html, section 3.2). It cost the tests of Library two fifths of their time on two cores. SQLite
/// ignores the call once a connection has been opened. Swift cannot call sqlite3_config itself, which is variadic.
static inline void csqlite_stop_counting_memory(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
