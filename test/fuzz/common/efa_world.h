/* SPDX-License-Identifier: BSD-3-Clause */
/* The efa transport of one PE, opened over the fake provider, with memory, peers, and this PE's own blobs. */
#ifndef WSH_TEST_FUZZ_EFA_WORLD_H
#define WSH_TEST_FUZZ_EFA_WORLD_H

#include "test/fuzz/common/fake_fabric.h"
#include "transports/transport.h"

enum { WORLD_PES = 4, WORLD_ME = 1, WORLD_ABSENT = 3, WORLD_STATIC = 256, WORLD_HEAP = 4096 };

struct efa_world {
    struct wsh_env env;
    const struct wsh_tp_ops *ops;
    struct wsh_tp *tp;
    struct wsh_secret secret;
    uint32_t generation; /* of shmem_init; 1 unless it is changed before the world is joined */
    char *mem[2];        /* of WSH_SEG_STATIC and WSH_SEG_HEAP, in blocks of their own */
    struct wsh_lmem *lmem[2];
    char address[WSH_TP_ADDRESS_MAX], key[2][WSH_TP_MEM_MAX];
    size_t address_len, key_len[2];
};

/* Opened, with memory registered. */
void efa_world_open(struct efa_world *world, const struct fake_provider *provider);
/* The same for a PE other than WORLD_ME. */
void efa_world_open_as(struct efa_world *world, const struct fake_provider *provider, int me);
/* Connects to all but PE WORLD_ABSENT, of which address[pe] of len[pe] bytes are the blobs; what the transport says. */
int efa_world_connect(struct efa_world *world, const void *const *address, const size_t *len);
/* The same with each peer's own address, as it is. */
void efa_world_join(struct efa_world *world);
/* Nothing is left open. */
void efa_world_close(struct efa_world *world);

size_t efa_world_len(int seg);

#endif
