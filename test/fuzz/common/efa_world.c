/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the efa transport as the core does, alone of all transports, and closes it. */
#include "test/fuzz/common/efa_world.h"

#include "test/fuzz/common/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const struct wsh_tp_ops *efa_find(void)
{
    const struct wsh_tp_ops *const *ops = wsh_tp_registry();

    while (*ops && strcmp((*ops)->name, "efa"))
        ops++;
    FUZZ_CHECK(*ops);
    return *ops;
}

size_t efa_world_len(int seg)
{
    return seg == WSH_SEG_HEAP ? WORLD_HEAP : WORLD_STATIC;
}

static void memory_register(struct efa_world *world, int seg)
{
    struct wsh_mem mem = {.seg = (enum wsh_seg)seg, .len = efa_world_len(seg), .fd = -1, .gpu = -1};

    mem.base = world->mem[seg] = aligned_alloc(64, mem.len);
    memset(mem.base, seg + 1, mem.len);
    world->key_len[seg] = sizeof world->key[seg];
    FUZZ_CHECK(
        !world->ops->mem_register(world->tp, &mem, &world->lmem[seg], world->key[seg], &world->key_len[seg]));
}

/* Half of all counters are in use. */
static int count(void *core, uint32_t counter, uint32_t generation, uint32_t mask)
{
    (void)core, (void)mask;
    FUZZ_CHECK(counter < 65536 && generation < 2);
    return counter % 2 ? -EPROTO : 0;
}

void efa_world_open_as(struct efa_world *world, const struct fake_provider *provider, int me)
{
    struct wsh_tp_params params = {.my_pe = me,
                                   .n_pes = WORLD_PES,
                                   .local_size = 1,
                                   .env = &world->env,
                                   .threads = true,
                                   .count = count};
    struct wsh_tp_limits limits;

    memset(world, 0, sizeof *world);
    fake_fabric_reset(provider);
    world->ops = efa_find();
    world->env.provider = provider->name;
    world->env.endpoint_sets = 1;
    world->env.nics_per_pe = (long)provider->nics;
    world->generation = 1;
    memset(world->secret.key, 0x37, sizeof world->secret.key);
    FUZZ_CHECK(!world->ops->open(&params, &world->tp, &limits));
    memory_register(world, WSH_SEG_STATIC);
    memory_register(world, WSH_SEG_HEAP);
    world->address_len = sizeof world->address;
    FUZZ_CHECK(!world->ops->address(world->tp, world->address, &world->address_len));
}

void efa_world_open(struct efa_world *world, const struct fake_provider *provider)
{
    efa_world_open_as(world, provider, WORLD_ME);
}

int efa_world_connect(struct efa_world *world, const void *const *address, const size_t *len)
{
    static const bool same_host[WORLD_PES];
    const struct wsh_tp_peers peers = {.n_pes = WORLD_PES,
                                       .address = address,
                                       .len = len,
                                       .same_host = same_host,
                                       .secret = world->secret,
                                       .generation = world->generation};

    return world->ops->connect(world->tp, &peers);
}

/* The fake provider's names end with the number of their PE. */
static void names_number(char *blob, size_t len, int pe)
{
    for (size_t i = 0; i + FAKE_NAME <= len; i++)
        if (!memcmp(blob + i, "fake nic ", 9))
            blob[i + FAKE_NAME - 1] = (char)pe;
}

void efa_world_join(struct efa_world *world)
{
    static char blob[WORLD_PES][WSH_TP_ADDRESS_MAX];
    const void *address[WORLD_PES];
    size_t len[WORLD_PES];

    for (int pe = 0; pe < WORLD_PES; pe++) {
        len[pe] = pe == WORLD_ABSENT ? 0 : world->address_len;
        memcpy(blob[pe], world->address, world->address_len);
        names_number(blob[pe], world->address_len, pe);
        address[pe] = blob[pe];
    }
    FUZZ_CHECK(!efa_world_connect(world, address, len));
}

void efa_world_close(struct efa_world *world)
{
    world->ops->stop(world->tp, true);
    for (int seg = 0; seg < 2; seg++)
        world->ops->mem_release(world->tp, world->lmem[seg]);
    world->ops->close(world->tp);
    FUZZ_CHECK(!fake_fabric_objects());
    for (int seg = 0; seg < 2; seg++)
        free(world->mem[seg]);
}
