/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of the library: their values, where these come from, and their help texts. */
#ifndef WSH_BASE_ENV_H
#define WSH_BASE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum wsh_env_bootstrap { WSH_BOOTSTRAP_AUTO, WSH_BOOTSTRAP_PMIX, WSH_BOOTSTRAP_PMI, WSH_BOOTSTRAP_SINGLE };
enum wsh_env_uid_family { WSH_UID_UNSPEC, WSH_UID_INET, WSH_UID_INET6 };
enum wsh_env_switch { WSH_AUTO, WSH_ON, WSH_OFF };
enum wsh_env_progress { WSH_PROGRESS_AUTO, WSH_PROGRESS_THREAD, WSH_PROGRESS_CALL };
enum wsh_env_on_pe_failure { WSH_ON_PE_FAILURE_ABORT, WSH_ON_PE_FAILURE_CONTINUE };
enum wsh_env_core { WSH_CORE_OWN, WSH_CORE_NONE, WSH_CORE_ALL };
enum wsh_env_backtrace { WSH_BACKTRACE_EXECINFO, WSH_BACKTRACE_GDB, WSH_BACKTRACE_NONE };
enum wsh_env_proxy { WSH_PROXY_AUTO, WSH_PROXY_ON, WSH_PROXY_OFF };

typedef const char *wsh_env_t_STR;
typedef bool wsh_env_t_BOOL;
typedef long wsh_env_t_INT;
typedef size_t wsh_env_t_SIZE;
typedef double wsh_env_t_SECONDS;
typedef int wsh_env_t_ENUM;

struct wsh_env {
#define ENUM(words) ENUM
#define INT(range) INT
#define SIZE(least) SIZE
#define STR(what) STR
#define WSH_ENV_TYPE(kind) wsh_env_t_##kind
#define WSH_ENV_FIELD(field, kind) WSH_ENV_TYPE(kind) field;
#define WSH_ENV(field, kind, name, def, aliases, help) WSH_ENV_FIELD(field, kind)
#include "base/env/env_defs.h"
#undef WSH_ENV
#undef WSH_ENV_FIELD
#undef WSH_ENV_TYPE
#undef STR
#undef SIZE
#undef INT
#undef ENUM
};

/* Origin of one setting, for display. */
struct wsh_env_row {
    const char *name, *kind, *def, *aliases, *help;
    const char *origin; /* name of the variable that set it, FILE:LINE, or "default" */
    char by[64];        /* the name by which it is set, "" for the default */
    char value[128];    /* the value in force, as text */
    bool internal;
};

/*
 * Reads all settings: of the environment, else of the files of settings (conf.h), else defaults. SHMEM_x wins over
 * SMA_x, which wins over aliases. In a program that has more rights than who started it the site's file alone counts,
 * and what leads other libraries leaves the environment. A value that does not parse is reported in one line (name,
 * value, what is accepted), and so is a file that is refused; both give -EINVAL, and *env then holds defaults.
 */
int wsh_env_load(struct wsh_env *env);

size_t wsh_env_count(void);
/* Names row i, without value and origin. */
void wsh_env_name(size_t i, struct wsh_env_row *row);
/* Describes row i < wsh_env_count() as it is now. Returns 0 or -EINVAL as above, without a message. */
int wsh_env_describe(size_t i, struct wsh_env_row *row);

/* What environment or files give a setting, as text; NULL: nothing (its default counts), or there is none such. */
const char *wsh_env_text(const char *name);

/* Prints every setting, a line each, to `out`; with internal rows if `all`. */
void wsh_env_print(FILE *out, bool all);

/* After wsh_log_open: a line for each setting that is taken by an alias, and each of NVSHMEM's that is not read. */
void wsh_env_note(void);

/* Warnings about variables that look like settings and are not read, a line each. For one PE, once. */
void wsh_env_warn(void);

/* A setting of NVSHMEM that is known, and not read: i-th from 0; NULL: no more. */
const char *wsh_env_not_needed(size_t i);

/*
 * A variable of another program that says how we were started (SLURM_NTASKS, OMPI_COMM_WORLD_SIZE, PMIX_RANK,
 * PATH …). NULL when unset or empty. The only other access to the environment.
 */
const char *wsh_env_foreign(const char *name);

/* Gives a variable of another program a value if it is not set, not even to nothing. True: it was not. */
bool wsh_env_set_default(const char *name, const char *value);
/* Variables that keep libraries which libfabric loads from handling the program's signals; the last one is NULL. */
extern const char *const wsh_env_no_handlers[];

/*
 * Parses a size in bytes: decimal number with optional fraction and optional suffix k, m, g or t in either
 * case (powers of 1024). Returns 0, -EINVAL (not a size) or -ERANGE (does not fit).
 */
int wsh_env_parse_size(const char *text, size_t *bytes);

#endif
