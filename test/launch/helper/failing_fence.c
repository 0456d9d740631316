/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To be preloaded: PMIx fences fail from the FENCE_FAILS_FROM-th on; without that variable their number is printed. The
 * PEs named in FENCE_LATE_PES (" 1 3 ") come to the FENCE_LATE-th when the file FENCE_LATE_UNTIL is there.
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

typedef void *find_fn(void *handle, const char *name);

static fence_fn *real_fence;
static int n_fences;

void *dlsym(void *handle, const char *name);

static void be_late(int fence)
{
    const char *late = getenv("FENCE_LATE"), *pes = getenv("FENCE_LATE_PES"),
               *until = getenv("FENCE_LATE_UNTIL");
    char me[16];

    snprintf(me, sizeof me, " %s ", getenv("PMIX_RANK"));
    if (late && pes && until && fence == atoi(late) && strstr(pes, me))
        while (access(until, F_OK))
            usleep(20000);
}

static int fence(const void *procs, size_t n_procs, const void *info, size_t n_info, void *done, void *data)
{
    const char *from = getenv("FENCE_FAILS_FROM");

    if (!real_fence || (from && ++n_fences >= atoi(from)))
        return ERR_UNREACH;
    n_fences += !from;
    be_late(n_fences);
    return real_fence(procs, n_procs, info, n_info, done, data);
}

static void *find(void *handle, const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *found = NULL;
    find_fn *next;

    for (size_t i = 0; i < sizeof versions / sizeof versions[0] && !found; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    memcpy(&next, &found, sizeof next);
    return next(handle, name);
}

/* By which the library finds the routines of PMIx. */
void *dlsym(void *handle, const char *name)
{
    void *found = find(handle, name);
    fence_fn *ours = fence;

    if (!found || strcmp(name, "PMIx_Fence_nb"))
        return found;
    memcpy(&real_fence, &found, sizeof found);
    memcpy(&found, &ours, sizeof found);
    return found;
}

__attribute__((destructor)) static void say_count(void)
{
    if (n_fences && !getenv("FENCE_FAILS_FROM"))
        fprintf(stderr, "fences %d\n", n_fences);
}
