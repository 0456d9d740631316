/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract over the efa transport with the provider that it chooses itself where there are only sockets. */
#include "test/contract/group.h"

#include <stdlib.h>

/* Of libfabric's own: only these are loaded. */
static void __attribute__((constructor)) only_sockets(void)
{
    setenv("FI_PROVIDER", "tcp,net,ofi_rxm", 1);
}

/* net tries for ever to reach a peer that is gone, and takes operations meanwhile: it is the launcher that notices. */
const struct group_path group_path = {.name = "sockets", .transport = "efa"};
