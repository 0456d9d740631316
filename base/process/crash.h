/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a process has crashed: a PE notes the calls on its stack as files and offsets, without a name; it, or oshrun
 * from the note in the job's folder, makes one line of it. All of it is async-signal-safe and allocates nothing.
 */
#ifndef WSH_PROCESS_CRASH_H
#define WSH_PROCESS_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WSH_CRASH_FRAMES 32
#define WSH_CRASH_VERSION 1

struct wsh_crash_frame {
    uint64_t off;     /* of the instruction in the file */
    char module[232]; /* path of the file; "" where no file is mapped there */
};

struct wsh_crash {
    uint32_t version;
    int32_t sig;
    uint64_t address; /* that the access was to; 0 with has_address false: the signal has none */
    bool has_address;
    int32_t n;
    struct wsh_crash_frame frame[WSH_CRASH_FRAMES]; /* the innermost first */
};

/* Notes where `n` addresses of code lie; those after the first are return addresses. Reads /proc/self/maps. */
void wsh_crash_locate(struct wsh_crash *crash, void *const *pc, int n);

/*
 * "in relax (halo.c:42), called by main (halo.c:60)": the routine of this library, or of libc, in which it happened,
 * and the program's calls that led there.
 */
void wsh_crash_print(const struct wsh_crash *crash, char *text, size_t size);

/* The note of PE `pe` in the folder of oshrun's `file`: its path. */
void wsh_crash_path(const char *file, int pe, char *path, size_t size);
bool wsh_crash_write(const char *path, const struct wsh_crash *crash);
bool wsh_crash_read(const char *path, struct wsh_crash *crash);

#endif
