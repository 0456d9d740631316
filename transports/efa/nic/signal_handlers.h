/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done around the loading of libfabric: variables for its libraries, and the program's signal handlers kept. */
#ifndef WSH_EFA_HANDLERS_H
#define WSH_EFA_HANDLERS_H

#include <signal.h>
#include <stdbool.h>

#define WSH_EFA_VARIABLES 7 /* two of them in wsh_env_no_handlers */

struct wsh_efa_handlers {
    struct sigaction before[NSIG]; /* by number */
    bool known[NSIG];              /* before[] has the action */
    bool set[WSH_EFA_VARIABLES];   /* the variable is ours */
};

/*
 * Around all calls that may load libraries. Their handlers would end a PE that crashes by exit() inside a handler: with
 * status 1, or never, where libfabric's destructor waits for a lock that the interrupted thread holds. In between,
 * variables are set, unless the user has set them: those that keep known handlers away, and what the providers should
 * do (`sockets`: there is no RDMA NIC). The program should take no signals in other threads meanwhile: that is undone
 * too.
 */
void wsh_efa_handlers_save(struct wsh_efa_handlers *saved, bool sockets);
/* In between: the bytes of a buffer that ofi_rxm is told. */
const char *wsh_efa_rxm_buffers(void);
/* Restores what has changed since, and takes the variables back. One line at SHMEM_DEBUG=info names the signals. */
void wsh_efa_handlers_restore(const struct wsh_efa_handlers *saved);

#endif
