/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that are loaded when they are first needed, so that a program starts where they are not installed. */
#ifndef WSH_BASE_LIBRARY_H
#define WSH_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* A routine, and where in the table its address goes. */
struct wsh_symbol {
    const char *name;
    size_t offset;
};

struct wsh_library {
    const char *soname; /* the name by which the loader finds it */
    const char *cure;   /* "install hwloc 2.5 or newer (Debian, Ubuntu: libhwloc15)" */
    const struct wsh_symbol *symbols;
    size_t n_symbols;
    void *table;        /* of pointers to its routines, which wsh_library_open fills */
    bool (*fits)(void); /* after that: its version will do; or NULL */
    bool global;        /* its own plugins look for its routines among those of the program */
    pthread_mutex_t mutex;
    void *handle;  /* NULL: not loaded */
    char why[512]; /* it is not, in words with the cure; "": not tried yet */
};

/*
 * Loads the library, unless that has been tried before; it stays loaded. 0, or -ENODEV: lib->why says why. Any thread
 * may call this.
 */
int wsh_library_open(struct wsh_library *lib);

/* What helps where dlopen says `error`: `cure`, or that files have run out, which no installation cures. */
const char *wsh_library_cure(const char *error, const char *cure);

/* The file that was loaded. */
const char *wsh_library_file(const struct wsh_library *lib);

#endif
