/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: PMIx fences fail from the FENCE_FAILS_FROM-th on; without that variable their number is printed. The
 * PEs named in FENCE_LATE_PES (" 1 3 ") come to the FENCE_LATE-th 3 s later than they would.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERR_UNREACH (-25) /* PMIX_ERR_UNREACH */

typedef int fence_fn(const void *procs, size_t n_procs, const void *info, size_t n_info, void *done,
                     void *data);

static int n_fences;

int PMIx_Fence_nb(const void *procs, size_t n_procs, const void *info, size_t n_info, void *done, void *data);

static void be_late(int fence)
{
    const char *late = getenv("FENCE_LATE"), *pes = getenv("FENCE_LATE_PES");
    char me[16];

    snprintf(me, sizeof me, " %s ", getenv("PMIX_RANK"));
    if (late && pes && fence == atoi(late) && strstr(pes, me))
        sleep(3);
}

int PMIx_Fence_nb(const void *procs, size_t n_procs, const void *info, size_t n_info, void *done, void *data)
{
    const char *from = getenv("FENCE_FAILS_FROM");
    void *found = dlsym(RTLD_NEXT, "PMIx_Fence_nb");
    fence_fn *real;

    if (!found || (from && ++n_fences >= atoi(from)))
        return ERR_UNREACH;
    n_fences += !from;
    be_late(n_fences);
    memcpy(&real, &found, sizeof real);
    return real(procs, n_procs, info, n_info, done, data);
}

__attribute__((destructor)) static void say_count(void)
{
    if (n_fences && !getenv("FENCE_FAILS_FROM"))
        fprintf(stderr, "fences %d\n", n_fences);
}
