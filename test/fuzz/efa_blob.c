/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever a peer says of its endpoints and memory: the efa transport connects, or refuses with one line, and reads
 * nothing beyond the blob.
 */
#include "test/fuzz/common/efa_world.h"
#include "test/fuzz/common/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const struct fake_provider providers[] = {
    {.name = "efa", .nics = 1, .alone = true, .inject = 32},
    {.name = "efa", .nics = FAKE_NICS, .alone = true, .imm_receives = true, .local = true},
    {.name = "tcp", .nics = 1, .ordered = true, .inject = 64},
    {.name = "net", .nics = 1},
};

/* This PE's own with changes, cut or longer; or bytes of the input alone. In memory of exactly its size. */
static void *blob_make(struct fuzz_input *in, const void *own, size_t own_len, size_t room, size_t *len)
{
    unsigned how = fuzz_below(in, 8);
    char *blob;

    if (!how)
        return fuzz_copy(in, fuzz_below(in, (unsigned)room + 1), len);
    *len = how == 1 ? fuzz_below(in, (unsigned)room + 1) : own_len;
    blob = calloc(1, *len ? *len : 1);
    memcpy(blob, own, *len < own_len ? *len : own_len);
    for (unsigned changes = fuzz_below(in, 6); changes && *len >= 8; changes--)
        fuzz_bytes(in, blob + fuzz_below(in, (unsigned)*len - 7), 1u << fuzz_below(in, 4));
    return blob;
}

static void memory_attach(struct efa_world *world, struct fuzz_input *in)
{
    for (int seg = 0; seg < 2; seg++) {
        struct wsh_rmem rmem;
        size_t len;
        void *blob = blob_make(in, world->key[seg], world->key_len[seg], WSH_TP_MEM_MAX, &len);
        int rc;

        fuzz_lines();
        rc = world->ops->mem_attach(world->tp, 0, (enum wsh_seg)seg, blob, len, &rmem);
        FUZZ_CHECK(rc <= 0 && fuzz_lines() == (rc ? 1 : 0));
        FUZZ_CHECK(rc || (rmem.tp == world->tp && rmem.pe == 0 && !rmem.map));
        if (!rc)
            world->ops->mem_detach(world->tp, &rmem);
        free(blob);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct efa_world world;
    const void *address[WORLD_PES];
    size_t len[WORLD_PES];
    void *blob;
    int rc;

    efa_world_open(&world, &providers[fuzz_below(&in, sizeof providers / sizeof providers[0])]);
    for (int pe = 0; pe < WORLD_PES; pe++) {
        address[pe] = world.address;
        len[pe] = pe == WORLD_ABSENT ? 0 : world.address_len;
    }
    address[0] = blob = blob_make(&in, world.address, world.address_len, WSH_TP_ADDRESS_MAX, &len[0]);
    fuzz_lines();
    rc = efa_world_connect(&world, address, len);
    FUZZ_CHECK(rc <= 0 && fuzz_lines() == (rc ? 1 : 0));
    free(blob);
    if (!rc && len[0])
        memory_attach(&world, &in);
    efa_world_close(&world);
    return 0;
}
