/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the user: levels, subsystems, one line per message. */
#ifndef WSH_BASE_LOG_H
#define WSH_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

enum wsh_log_level { WSH_LOG_ERROR, WSH_LOG_WARN, WSH_LOG_INFO, WSH_LOG_TRACE };

enum wsh_log_subsys {
    WSH_SUB_INIT = 1 << 0,
    WSH_SUB_COLL = 1 << 1,
    WSH_SUB_P2P = 1 << 2,
    WSH_SUB_PROXY = 1 << 3,
    WSH_SUB_TRANSPORT = 1 << 4,
    WSH_SUB_MEM = 1 << 5,
    WSH_SUB_BOOTSTRAP = 1 << 6,
    WSH_SUB_TOPO = 1 << 7,
    WSH_SUB_ALL = 0xff
};

extern int wsh_log_max_level;
extern unsigned wsh_log_subsys;
extern bool wsh_log_check; /* SHMEM_DEBUG holds the word check */

/*
 * Applies SHMEM_DEBUG (`spec`: a comma-separated list of warn, info, trace, check and subsystem
 * names; NULL = warnings only) and SHMEM_DEBUG_FILE (`file`: a path with %h = host name, %p = process
 * id; NULL = standard error). Returns 0, or -EINVAL/-errno after one line that names the bad word.
 */
int wsh_log_open(const char *spec, const char *file);
void wsh_log_close(void);

/* From now on lines begin with "PE n (host, pid)"; pe < 0 forgets it. */
void wsh_log_set_pe(int pe);

void wsh_log_write(enum wsh_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * The last error that this thread has written since it last asked, without its end of line; "" where there is none.
 * Valid until the thread asks again.
 */
const char *wsh_log_last_error(void);

/*
 * With `hold` errors of this thread are kept, not printed, for who asks by wsh_log_last_error; without it what nobody
 * has asked for is printed. Another error, or the end of the job, prints it too. Returns what was so before.
 */
bool wsh_log_hold(bool hold);

/*
 * From a signal handler: the same line prefix, then `text` (no format), written in one write(2).
 * Async-signal-safe.
 */
void wsh_log_signal_safe(const char *text);

/* Always printed: something the user must act on. One line: cause, object, cure. */
#define wsh_error(...) wsh_log_write(WSH_LOG_ERROR, __VA_ARGS__)
/* Printed unless SHMEM_DEBUG=error: works, but slower or less than asked for. */
#define wsh_warn(...) wsh_log_write(WSH_LOG_WARN, __VA_ARGS__)
#define wsh_log_on(level, subsys) ((level) <= wsh_log_max_level && ((subsys)&wsh_log_subsys))
#define wsh_info(subsys, ...) \
    (wsh_log_on(WSH_LOG_INFO, subsys) ? wsh_log_write(WSH_LOG_INFO, __VA_ARGS__) : (void)0)
#define wsh_trace(subsys, ...) \
    (wsh_log_on(WSH_LOG_TRACE, subsys) ? wsh_log_write(WSH_LOG_TRACE, __VA_ARGS__) : (void)0)

/*
 * Something works, but slower than this machine could: one line at `level`, or with `strict` (SHMEM_STRICT) an error.
 * Returns 0 to go on, or -ENOTSUP.
 */
int wsh_log_slower(bool strict, enum wsh_log_level level, const char *text);

/* Plain output that a setting asks for (SHMEM_INFO, SHMEM_VERSION): no prefix, to `out`. */
void wsh_log_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
