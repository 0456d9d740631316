/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the last puts in a ring, and counts those that overlap one of them, by the name of the routine. */
#include "runtime/api/check/overwrite.h"

#include "base/log.h"
#include "runtime/api/api.h"

#include <stdio.h>
#include <string.h>

#define ROUTINES 8 /* counted by name; the rest together */

struct put {
    const char *what;
    const struct wsh_ctx *ctx; /* NULL: forgotten */
    const char *sym;
    size_t len;
    int pe;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static struct put recent[WSH_OVERWRITE_PUTS];
static unsigned n_puts; /* noted so far, modulo 2^32 */
static struct {
    const char *what;
    size_t count;
} routines[ROUTINES + 1];
static size_t total;

static int routine_length(const char *what)
{
    return (int)strcspn(what, ":");
}

/* Where the transport has written before it returns, program order is the order. */
static bool is_unordered(const void *sym, size_t len, int pe)
{
    size_t off;
    const struct wsh_rmem *rmem = wsh_job_rmem_first(&wsh_job, sym, len, pe, &off);

    return rmem && !wsh_job.limits[rmem->tp->index].immediate;
}

static const struct put *overwritten_find(const struct put *later)
{
    for (unsigned i = 0; i < WSH_OVERWRITE_PUTS; i++) {
        const struct put *put = &recent[i];

        if (put->ctx == later->ctx && put->pe == later->pe && put->sym < later->sym + later->len &&
            later->sym < put->sym + put->len)
            return put;
    }
    return NULL;
}

static void routine_count(const char *what)
{
    int i = 0;

    while (i < ROUTINES && routines[i].what && strcmp(routines[i].what, what))
        i++;
    routines[i].what = what;
    routines[i].count++;
    total++;
}

static void overwrite_found(const struct put *earlier, const struct put *later)
{
    routine_count(later->what);
    if (total == 1)
        wsh_warn("%.*s: %zu bytes at %p of PE %d may arrive before those of an earlier %.*s there: a network "
                 "orders them "
                 "by shmem_fence only; shmem_finalize says how many there are",
                 routine_length(later->what), later->what, later->len, (const void *)later->sym, later->pe,
                 routine_length(earlier->what), earlier->what);
}

void wsh_overwrite_note(const char *what, const struct wsh_ctx *ctx, const void *sym, size_t len, int pe)
{
    struct put put = {what, ctx, sym, len, 0};
    const struct put *earlier;

    if (!len || pe < 0 || pe >= ctx->n_pes)
        return;
    put.pe = ctx->team->members[pe];
    if (!is_unordered(sym, len, put.pe))
        return;
    pthread_mutex_lock(&mutex);
    earlier = overwritten_find(&put);
    if (earlier)
        overwrite_found(earlier, &put);
    recent[n_puts++ % WSH_OVERWRITE_PUTS] = put;
    pthread_mutex_unlock(&mutex);
}

void wsh_overwrite_forget(const struct wsh_ctx *ctx)
{
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < WSH_OVERWRITE_PUTS; i++)
        if (!ctx || recent[i].ctx == ctx)
            recent[i].ctx = NULL;
    pthread_mutex_unlock(&mutex);
}

void wsh_overwrite_report(void)
{
    char text[512] = "";
    size_t used = 0;

    wsh_overwrite_forget(NULL);
    for (int i = 0; i <= ROUTINES && routines[i].what; i++) {
        const char *what = i < ROUTINES ? routines[i].what : "others";

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s %zu", i ? ", " : "",
                                 routine_length(what), what, routines[i].count);
        used = used < sizeof text ? used : sizeof text - 1;
    }
    if (total)
        wsh_warn("%zu puts wrote where an earlier one to the same PE may not have arrived (%s): put "
                 "shmem_fence between "
                 "them, unless something else orders them",
                 total, text);
    memset(routines, 0, sizeof routines);
    total = 0;
}
