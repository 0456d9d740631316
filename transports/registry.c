/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all transports in order of preference; the only file that names them. */
#include "transports/transport.h"

#include <pthread.h>

extern const struct wsh_tp_ops wsh_local_ops, wsh_nvlink_ops, wsh_efa_ops;

static const struct wsh_tp_ops *const known[] = {&wsh_local_ops, &wsh_nvlink_ops, &wsh_efa_ops};

#define N_KNOWN (sizeof known / sizeof known[0])

static struct wsh_tp_ops full[N_KNOWN];
static const struct wsh_tp_ops *list[N_KNOWN + 1];

static void fill_table(void)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        wsh_tp_fill(&full[i], known[i]);
        list[i] = &full[i];
    }
}

const struct wsh_tp_ops *const *wsh_tp_registry(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_table);
    return list;
}
