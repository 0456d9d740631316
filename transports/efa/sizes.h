/* SPDX-License-Identifier: BSD-3-Clause */
/* How much an endpoint set holds: requests, buffers, receives, and what it grants its peers of them. */
#ifndef WSH_EFA_SIZES_H
#define WSH_EFA_SIZES_H

#define WSH_EFA_MANY 64 /* PEs beyond which each has fewer buffers */
#define EFA_ANSWERS 64  /* requests for replies and acks */
#define EFA_LARGE 65536 /* bytes of a buffer for unregistered user memory */

#include <stdbool.h>
#include <stdint.h>

struct fi_info;
struct wsh_efa_eps;

/* Whether the target can count writes in a job of so many PEs; says so once where it cannot. */
bool wsh_efa_sizes_may_count(int my_pe, uint32_t n_pes);

/* Of an endpoint set whose NICs are like `info`. */
void wsh_efa_sizes_set(struct wsh_efa_eps *eps, const struct fi_info *info);
/* What to ask of the provider for one NIC; after it. */
void wsh_efa_sizes_ask(const struct wsh_efa_eps *eps, struct fi_info *info);

#endif
