/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "transports/efa/nic/signal_handlers.h"

#include "base/env/env.h"
#include "base/log.h"
#include "transports/efa/wire/sizes.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RXM_BUFFER_SIZE "FI_OFI_RXM_BUFFER_SIZE"
#define TEXT(number) #number
#define TEXT_OF(number) TEXT(number)

/*
 * Peers of this host are the local transport's, which knows device memory. Over sockets ofi_rxm has 128 receives of
 * 16 KiB for each connection, 50 MiB of memory a PE: as many as this are as fast (perftest/put_bw, alltoall_latency),
 * and a buffer holds a message of ours. Its completion queue has places for all that so many processes may have under
 * way: with libfabric's 256 that is 12 MiB, all of which are touched in time; what finds no place waits in a list.
 */
static const struct variable {
    const char *name, *value;
    bool sockets; /* only where there is no RDMA NIC, which ofi_rxm may serve too */
} of_providers[] = {
    {"FI_EFA_ENABLE_SHM_TRANSFER", "0", false},
    {"FI_EFA_USE_HW_CNTR", "1", false}, /* off in libfabric 2.6.0 */
    {RXM_BUFFER_SIZE, TEXT_OF(WSH_EFA_RXM_BUFFER), true},
    {"FI_OFI_RXM_MSG_RX_SIZE", "32", true},
    {"FI_UNIVERSE_SIZE", "16", true},
};

#define NO_HANDLERS (WSH_EFA_VARIABLES - (int)(sizeof of_providers / sizeof of_providers[0]))

static struct variable variable_at(int i)
{
    if (i < NO_HANDLERS)
        return (struct variable){wsh_env_no_handlers[i], "1", false};
    return of_providers[i - NO_HANDLERS];
}

void wsh_efa_handlers_save(struct wsh_efa_handlers *saved, bool sockets)
{
    for (int sig = 1; sig < NSIG; sig++)
        saved->known[sig] = !sigaction(sig, NULL, &saved->before[sig]);
    for (int i = 0; i < WSH_EFA_VARIABLES; i++) {
        struct variable variable = variable_at(i);

        saved->set[i] = (sockets || !variable.sockets) && wsh_env_set_default(variable.name, variable.value);
    }
}

const char *wsh_efa_rxm_buffers(void)
{
    const char *bytes = wsh_env_foreign(RXM_BUFFER_SIZE);

    return bytes ? bytes : "not set";
}

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_flags == b->sa_flags &&
           (a->sa_flags & SA_SIGINFO ? a->sa_sigaction == b->sa_sigaction : a->sa_handler == b->sa_handler);
}

/* The library that the handler lies in, as far as that is known. */
static const char *owner_of(const struct sigaction *action)
{
    Dl_info info;

    return dladdr((const void *)(uintptr_t)action->sa_handler, &info) && info.dli_fname ? info.dli_fname
                                                                                        : "a library";
}

void wsh_efa_handlers_restore(const struct wsh_efa_handlers *saved)
{
    char owner[256] = "", text[256] = "";
    size_t used = 0;

    for (int i = 0; i < WSH_EFA_VARIABLES; i++)
        if (saved->set[i])
            unsetenv(variable_at(i).name);
    for (int sig = 1; sig < NSIG; sig++) {
        struct sigaction now;

        if (!saved->known[sig] || sigaction(sig, NULL, &now) || is_same(&now, &saved->before[sig]))
            continue;
        sigaction(sig, &saved->before[sig], NULL);
        snprintf(owner, sizeof owner, "%s", owner_of(&now));
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? ", " : "", sig);
    }
    if (used)
        wsh_info(WSH_SUB_TRANSPORT,
                 "%s, loaded by libfabric, had taken signals %s: given back to the program", owner, text);
}
