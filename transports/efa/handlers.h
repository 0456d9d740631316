/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps libraries that libfabric loads from handling the program's signals: what they take is given back. */
#ifndef WSH_EFA_HANDLERS_H
#define WSH_EFA_HANDLERS_H

#include <signal.h>
#include <stdbool.h>

#define WSH_EFA_NO_HANDLERS 2 /* names in wsh_env_no_handlers */

struct wsh_efa_handlers {
    struct sigaction before[NSIG]; /* by number */
    bool known[NSIG];              /* before[] has the action */
    bool set[WSH_EFA_NO_HANDLERS]; /* the variable is ours */
};

/*
 * Around each call that may load libraries. Their handlers would end a PE that crashes by exit() inside a handler: with
 * status 1, or never, where libfabric's destructor waits for a lock that the interrupted thread holds. In between, the
 * variables that keep known ones away are set, unless the user has set them. The program should take no signals in
 * other threads meanwhile: that is undone too.
 */
void wsh_efa_handlers_save(struct wsh_efa_handlers *saved);
/* Restores what has changed since, and takes the variables back. One line at SHMEM_DEBUG=info names the signals. */
void wsh_efa_handlers_restore(const struct wsh_efa_handlers *saved);

#endif
