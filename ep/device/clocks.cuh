/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For who tunes low latency: a library built with -DEP_CLOCKS (CPPFLAGS and NVCC) notes when the first thread of a
 * kernel was where, and prints that of the last calls, in clock cycles since their beginning, when the instance ends.
 */
#ifndef WSH_EP_DEVICE_CLOCKS_CUH
#define WSH_EP_DEVICE_CLOCKS_CUH

#ifdef EP_CLOCKS
#include <stdio.h>

/* Marks `first` + 1 to `last`. */
static void ep_print_marks(const struct ep_state *state, const char *kind, const char *const *names, int first, int n)
{
    printf("; %s", kind);
    for (int i = 1; i <= n; i++)
        printf(", %s %lld", names[i - 1], (long long)(state->clocks[first + i] - state->clocks[first]));
}

static void ep_print_clocks(const struct shmemx_ep *ep)
{
    static const char *const dispatch[] = {"ranked", "told", "sent", "counted", "given", "expanded"};
    static const char *const combine[] = {"recalled", "sent", "all begun", "summed"};
    struct ep_state state;

    if (!ep->shape.pushes || cudaMemcpy(&state, ep->state, sizeof state, cudaMemcpyDeviceToHost))
        return;
    printf("# clocks of PE %d", ep->shape.me);
    ep_print_marks(&state, "dispatch", dispatch, 0, 6);
    ep_print_marks(&state, "combine", combine, 8, 4);
    printf("\n");
    fflush(stdout);
}
#else
static void ep_print_clocks(const struct shmemx_ep *ep)
{
    (void)ep;
}
#endif

#endif
