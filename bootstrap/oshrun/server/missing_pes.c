/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the PEs that have not come to a fence of shmem_init or shmem_finalize in which others have waited too long. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/server/missing_pes.h"

#include "bootstrap/oshrun/io.h"
#include "bootstrap/pmix/keys.h"

#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_SECONDS 0.5 /* that the PEs have to say that they wait */

int wsh_absent_init(struct wsh_absent *absent, int n_pes)
{
    size_t n = (size_t)n_pes;

    *absent = (struct wsh_absent){n_pes, calloc(n, sizeof(bool)), calloc(n, sizeof(bool)), false, 0};
    if (absent->here && absent->missing)
        return 0;
    wsh_say("out of memory");
    return -ENOMEM;
}

void wsh_absent_fini(struct wsh_absent *absent)
{
    free(absent->here);
    free(absent->missing);
}

static void event_sent(pmix_status_t status, void *unused)
{
    (void)status, (void)unused;
}

/* The event is not cached: a PE that joins later must not receive a question of before. */
static void pes_query(void)
{
    pmix_info_t info;
    bool yes = true;
    pmix_proc_t oshrun;

    PMIX_LOAD_PROCID(&oshrun, "oshrun", 0);
    PMIX_INFO_LOAD(&info, PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIx_Notify_event(WSH_PMIX_WHO_WAITS, &oshrun, PMIX_RANGE_LOCAL, &info, 1, event_sent, NULL);
    PMIX_INFO_DESTRUCT(&info);
}

static void round_begin(struct wsh_absent *absent, bool finalize)
{
    memset(absent->here, 0, (size_t)absent->n_pes * sizeof *absent->here);
    absent->finalize = finalize;
    absent->until = wsh_now() + ANSWER_SECONDS;
    pes_query();
}

void wsh_absent_event(struct wsh_absent *absent, const struct wsh_event *event)
{
    bool finalize = event->status;

    if (event->kind != WSH_EVENT_WAITS || event->pe < 0 || event->pe >= absent->n_pes)
        return;
    if (!absent->until)
        round_begin(absent, finalize);
    absent->here[event->pe] = absent->here[event->pe] || finalize == absent->finalize;
}

double wsh_absent_wait(const struct wsh_absent *absent)
{
    double left = absent->until - wsh_now();

    if (!absent->until)
        return -1;
    return left > 0 ? left : 0;
}

/* "2, 5-7"; cut at `size`. Returns how many PEs. */
static int pes_print(const struct wsh_absent *absent, char *text, size_t size)
{
    size_t used = 0;
    int n = 0;

    *text = 0;
    for (int pe = 0, end; pe < absent->n_pes; pe = end + 1) {
        for (end = pe; end < absent->n_pes && !absent->here[end]; end++)
            n++;
        if (end == pe || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%d", used ? ", " : "", pe);
        if (end - pe > 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d", end - pe > 2 ? "-" : ", ", end - 1);
    }
    return n;
}

/* Whether the PEs that are missing now are others than those of the last line. */
static bool pes_changed(struct wsh_absent *absent)
{
    bool changed = false;

    for (int pe = 0; pe < absent->n_pes; pe++) {
        changed = changed || absent->missing[pe] == absent->here[pe];
        absent->missing[pe] = !absent->here[pe];
    }
    return changed;
}

void wsh_absent_timeout(struct wsh_absent *absent)
{
    char pes[512];
    int n;

    if (!absent->until || wsh_now() < absent->until)
        return;
    absent->until = 0;
    n = pes_print(absent, pes, sizeof pes);
    if (n && pes_changed(absent))
        wsh_say("%s %s %s not come to %s, where %d of %d PEs wait; look what %s (gdb -p, kill -USR1)",
                n > 1 ? "PEs" : "PE", pes, n > 1 ? "have" : "has",
                absent->finalize ? "shmem_finalize" : "the end of shmem_init", absent->n_pes - n,
                absent->n_pes, n > 1 ? "they do" : "it does");
}
