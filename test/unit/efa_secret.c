/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps strangers out of the efa transport: memory keys are drawn anew each time that it is opened, weak ones are
 * said once in a job, each shmem_init has tags of its own, and another build is found before any message is sent.
 */
#include "test/fuzz/common/efa_world.h"
#include "test/fuzz/common/fuzz.h"
#include "test/common/unit.h"
#include "transports/efa/set/parts.h"
#include "transports/efa/wire/wire.h"

#include <errno.h>
#include <string.h>

enum { OPENINGS = 32, N_KEYS = 2 * OPENINGS };

static const struct fake_provider tcp = {.name = "tcp", .nics = 1, .ordered = true, .inject = 64};

/* The last word of a blob of memory with one rail is its key there. */
static uint64_t key_of(const struct efa_world *world, int seg)
{
    uint64_t key;

    memcpy(&key, world->key[seg] + world->key_len[seg] - sizeof key, sizeof key);
    return key;
}

static void keys_are_fresh(void)
{
    uint64_t keys[N_KEYS], all = 0, none = UINT64_MAX;
    struct efa_world world;

    for (int i = 0; i < OPENINGS; i++) {
        efa_world_open(&world, &tcp);
        keys[2 * i] = key_of(&world, WSH_SEG_STATIC);
        keys[2 * i + 1] = key_of(&world, WSH_SEG_HEAP);
        efa_world_close(&world);
    }
    for (int i = 0; i < N_KEYS; i++) {
        all |= keys[i];
        none &= keys[i];
        for (int k = 0; k < i; k++)
            CU_ASSERT_NOT_EQUAL(keys[i], keys[k]);
    }
    CU_ASSERT(all == UINT64_MAX && none == 0); /* every bit is drawn: wrong once in 2^57 runs */
}

/* Lines about weak keys that PE `pe` logs with keys of so many bytes. */
static unsigned weak_lines(size_t key_size, int pe)
{
    struct fake_provider provider = tcp;
    struct efa_world world;
    unsigned lines;

    provider.key_size = key_size;
    fuzz_lines();
    efa_world_open_as(&world, &provider, pe);
    lines = fuzz_lines();
    if (lines)
        CU_ASSERT_PTR_NOT_NULL(strstr(fuzz_line(), "which others on this network may guess"));
    if (key_size < sizeof(uint64_t))
        CU_ASSERT(key_of(&world, WSH_SEG_HEAP) >> 8 * key_size == 0);
    efa_world_close(&world);
    return lines;
}

static void weak_keys_are_said_once(void)
{
    CU_ASSERT_EQUAL(weak_lines(8, 0), 0);
    for (size_t size = 4; size < 8; size++) {
        CU_ASSERT_EQUAL(weak_lines(size, 0), 1);
        for (int pe = 1; pe < WORLD_PES - 1; pe++)
            CU_ASSERT_EQUAL(weak_lines(size, pe), 0);
    }
}

/* Whether a message with the tag of PE 0 in the shmem_init number `sent` is taken for a stranger's in number `now`. */
static bool is_strange(uint32_t sent, uint32_t now)
{
    struct efa_world world;
    struct wsh_efa_head head;
    unsigned lines;

    efa_world_open(&world, &tcp);
    world.generation = now;
    efa_world_join(&world);
    wsh_efa_wire_head(&head, WSH_EFA_WIRE_HELLO, sizeof head, 0, 0);
    head.tag = wsh_secret_tag(&world.secret, 0, WORLD_ME, sent);
    while (fake_request_count())
        fake_request_end(0, 0);
    fuzz_lines();
    CU_ASSERT(fake_message(0, &head, sizeof head));
    world.ops->progress(world.tp);
    lines = fuzz_lines();
    if (lines)
        CU_ASSERT_PTR_NOT_NULL(strstr(fuzz_line(), "without this job's secret dropped, 1 so far"));
    efa_world_close(&world);
    return lines;
}

static void tags_are_of_one_init(void)
{
    for (uint32_t sent = 1; sent <= 3; sent++)
        for (uint32_t now = 1; now <= 3; now++)
            CU_ASSERT_EQUAL(is_strange(sent, now), sent != now);
}

/* With the byte `at` of PE 0's address blob changed: what the transport says of it. */
static int connect_with(size_t at)
{
    struct efa_world world;
    const void *address[WORLD_PES];
    size_t len[WORLD_PES], part_len;
    char blob[WSH_TP_ADDRESS_MAX];
    char *part;
    int rc;

    efa_world_open(&world, &tcp);
    memcpy(blob, world.address, world.address_len);
    part = (char *)wsh_efa_parts_get(blob, 0, &part_len);
    CU_ASSERT_FATAL(part != NULL && part_len > at);
    part[at]++;
    for (int pe = 0; pe < WORLD_PES; pe++) {
        address[pe] = pe == 0 ? blob : world.address;
        len[pe] = pe == WORLD_ABSENT ? 0 : world.address_len;
    }
    fuzz_lines();
    rc = efa_world_connect(&world, address, len);
    CU_ASSERT_EQUAL(fake_request_count(), 0);
    CU_ASSERT_EQUAL(fuzz_lines(), 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(fuzz_line(), "PE 0 gives a libfabric address in another form; run the same library"));
    efa_world_close(&world);
    return rc;
}

static void other_builds_are_found(void)
{
    CU_ASSERT_EQUAL(connect_with(0), -EPROTO); /* the version of the blob */
    CU_ASSERT_EQUAL(connect_with(1), -EPROTO); /* the version of messages */
}

const struct unit_test unit_tests[] = {
    {"memory keys are fresh at each opening", keys_are_fresh},
    {"weak keys are said once a job", weak_keys_are_said_once},
    {"tags are those of one shmem_init", tags_are_of_one_init},
    {"other versions are found before any message", other_builds_are_found},
    {NULL, NULL},
};
