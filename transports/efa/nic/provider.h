/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the libfabric provider, and decides what to ask of it. */
#ifndef WSH_EFA_PROVIDER_H
#define WSH_EFA_PROVIDER_H

#include "transports/efa/nic/libfabric_load.h"
#include "transports/efa/nic/interface.h"

#include "base/env/env.h"

#include <stdbool.h>

/*
 * Chooses a provider of reliable messages and remote memory access: the one that the settings name, or the best
 * of this machine. *info is freed with lib->freeinfo: the best endpoint, followed by those of its sort on other NICs
 * (none where SHMEM_LIBFABRIC_DOMAIN names one). `hmem`: device memory is asked for too; that never decides which
 * provider is chosen. -ENODEV: none, `why` says so in words; any other error was logged.
 */
int wsh_efa_provider_choose(const struct wsh_efa_lib *lib, const struct wsh_env *env,
                            const struct wsh_efa_where *where, bool hmem, struct fi_info **info, char *why,
                            size_t size);

/*
 * Opens libfabric, and chooses as a job of several hosts does, without one and without device memory. *info is freed
 * with lib->freeinfo, and then the library closed; it is closed here where anything fails. Errors as above.
 */
int wsh_efa_provider_open(struct wsh_efa_lib *lib, const struct wsh_env *env, struct fi_info **info,
                          char *why, size_t size);

/* The endpoint takes registered device memory. */
bool wsh_efa_info_takes_hmem(const struct fi_info *info);

/* What the provider orders by itself on one endpoint, for operations of any size. */
bool wsh_efa_info_orders_waw(const struct fi_info *info);
bool wsh_efa_info_orders_saw(const struct fi_info *info);
bool wsh_efa_info_orders_raw(const struct fi_info *info);

/* The device moves data with no help of a CPU, neither here nor there: each request is one of its own. */
bool wsh_efa_info_moves_alone(const struct fi_info *info);

/* How small puts go; messages are stored by the target's CPU, in order. */
enum wsh_efa_put {
    WSH_EFA_PUT_WRITES,
    WSH_EFA_PUT_MESSAGES,
    WSH_EFA_PUT_ONE_WRITE /* a write where none is under way, else a message */
};
enum wsh_efa_put wsh_efa_info_small_puts(const struct fi_info *info);

/* Registered memory is pinned and counts against RLIMIT_MEMLOCK. */
bool wsh_efa_info_pins(const struct fi_info *info);

#endif
