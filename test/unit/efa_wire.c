/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/wire/wire.c: good messages pass, broken ones are refused, and no bytes at all do harm. */
#include "test/common/unit.h"
#include "transports/efa/wire/wire.h"
#include "transports/transport.h"

#include <stdlib.h>
#include <string.h>

enum { N_PES = 5, EXTRA = 40 };

static const struct {
    enum wsh_efa_wire type;
    size_t len;
} good[] = {
    {WSH_EFA_WIRE_HELLO, sizeof(struct wsh_efa_head)},
    {WSH_EFA_WIRE_PUT, sizeof(struct wsh_efa_put_msg)},
    {WSH_EFA_WIRE_PUT, sizeof(struct wsh_efa_put_msg) + EXTRA},
    {WSH_EFA_WIRE_SIGNAL, sizeof(struct wsh_efa_signal_msg)},
    {WSH_EFA_WIRE_SIGNAL, sizeof(struct wsh_efa_signal_msg) + EXTRA},
    {WSH_EFA_WIRE_AMO, sizeof(struct wsh_efa_amo_msg)},
    {WSH_EFA_WIRE_FETCH, sizeof(struct wsh_efa_amo_msg)},
    {WSH_EFA_WIRE_GET, sizeof(struct wsh_efa_get_msg)},
    {WSH_EFA_WIRE_REPLY, sizeof(struct wsh_efa_reply_msg) + EXTRA},
    {WSH_EFA_WIRE_ACK, sizeof(struct wsh_efa_head)},
    {WSH_EFA_WIRE_ACK_REQUEST, sizeof(struct wsh_efa_count_msg)},
    {WSH_EFA_WIRE_COUNTED, sizeof(struct wsh_efa_count_msg)},
    {WSH_EFA_WIRE_STRIDED, sizeof(struct wsh_efa_strided_msg) + EXTRA},
};
#define N_GOOD (sizeof good / sizeof good[0])

union room {
    union wsh_efa_msg msg;
    unsigned char bytes[sizeof(union wsh_efa_msg) + EXTRA];
};

static void make(union room *room, size_t i)
{
    memset(room, 0, sizeof *room);
    wsh_efa_wire_head(&room->msg.head, good[i].type, good[i].len, 3, 7);
    if (good[i].type == WSH_EFA_WIRE_SIGNAL)
        room->msg.signal.signal = (struct wsh_efa_target){.off = 16, .op = WSH_AMO_ADD, .width = 8};
    if (good[i].type == WSH_EFA_WIRE_AMO || good[i].type == WSH_EFA_WIRE_FETCH)
        room->msg.amo.word = (struct wsh_efa_target){.off = 4, .op = WSH_AMO_XOR, .width = 4};
    if (good[i].type == WSH_EFA_WIRE_STRIDED) {
        room->msg.strided.block = EXTRA;
        room->msg.strided.signal = (struct wsh_efa_target){.off = 16, .op = WSH_AMO_SET, .width = 8};
    }
}

static bool refused(const union room *room, size_t len)
{
    const char *why;

    if (wsh_efa_wire_src(&room->msg, len, N_PES) < 0)
        return true;
    why = wsh_efa_wire_check(&room->msg, len);
    return why && *why;
}

static void good_pass(void)
{
    union room room;

    for (size_t i = 0; i < N_GOOD; i++) {
        make(&room, i);
        CU_ASSERT_EQUAL(wsh_efa_wire_src(&room.msg, good[i].len, N_PES), 3);
        CU_ASSERT_PTR_NULL(wsh_efa_wire_check(&room.msg, good[i].len));
    }
}

/* Such a message may be shorter. */
static bool has_bytes(size_t i)
{
    return good[i].len == sizeof(struct wsh_efa_put_msg) + EXTRA ||
           good[i].len == sizeof(struct wsh_efa_signal_msg) + EXTRA || good[i].type == WSH_EFA_WIRE_REPLY;
}

static void wrong_lengths(void)
{
    union room room;

    for (size_t i = 0; i < N_GOOD; i++)
        for (size_t len = 0; len < sizeof room.bytes; len++) {
            make(&room, i);
            if (len != good[i].len)
                CU_ASSERT(refused(&room, len)); /* differs from the head's */
            room.msg.head.len = (uint16_t)len;
            if (len < sizeof room.msg.head || (len < good[i].len && !has_bytes(i)))
                CU_ASSERT(refused(&room, len)); /* head agrees, body is cut */
        }
}

static void wrong_heads(void)
{
    union room room;

    for (size_t i = 0; i < N_GOOD; i++) {
        make(&room, i);
        room.msg.head.version++;
        CU_ASSERT(refused(&room, good[i].len));
        make(&room, i);
        room.msg.head.src = N_PES;
        CU_ASSERT(refused(&room, good[i].len));
        room.msg.head.src = UINT32_MAX;
        CU_ASSERT(refused(&room, good[i].len));
        make(&room, i);
        room.msg.head.type = 0;
        CU_ASSERT(refused(&room, good[i].len));
        room.msg.head.type = WSH_EFA_WIRE_COUNTED + 1;
        CU_ASSERT(refused(&room, good[i].len));
        make(&room, i);
        room.msg.head.ctx = WSH_EFA_CONTEXTS;
        CU_ASSERT(refused(&room, good[i].len));
    }
}

static void wrong_atomics(void)
{
    const struct wsh_efa_target bad[] = {
        {.op = WSH_AMO_OPS, .width = 8},          {.op = 255, .width = 8},
        {.op = WSH_AMO_ADD, .width = 0},          {.op = WSH_AMO_ADD, .width = 2},
        {.op = WSH_AMO_ADD, .width = 16},         {.op = WSH_AMO_ADD, .width = 8, .off = 4},
        {.op = WSH_AMO_ADD, .width = 4, .off = 2}};
    union room room;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        make(&room, 5);
        room.msg.amo.word = bad[i];
        CU_ASSERT(refused(&room, good[5].len));
        make(&room, 3);
        room.msg.signal.signal = bad[i];
        CU_ASSERT(refused(&room, good[3].len));
        make(&room, N_GOOD - 1);
        room.msg.strided.signal = bad[i];
        CU_ASSERT_EQUAL(refused(&room, good[N_GOOD - 1].len), bad[i].width != 0); /* 0: it has none */
    }
}

static void wrong_strides(void)
{
    static const struct {
        uint64_t stride;
        uint32_t block;
        bool ok;
    } shapes[] = {{8, 8, true},
                  {0, EXTRA, true},
                  {8, 0, false},
                  {8, 7, false},
                  {8, UINT32_MAX, false},
                  {UINT64_MAX, 8, false},
                  {UINT64_C(1) << 47, 8, false}};
    union room room;

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        make(&room, N_GOOD - 1);
        room.msg.strided.stride = shapes[i].stride;
        room.msg.strided.block = shapes[i].block;
        CU_ASSERT(refused(&room, good[N_GOOD - 1].len) == !shapes[i].ok);
    }
}

static void places(void)
{
    char memory[64];
    char *const base[WSH_SEGS] = {NULL, memory, NULL};
    const size_t size[WSH_SEGS] = {0, sizeof memory, 0};
    struct wsh_efa_target target = {.seg = 1, .off = 8};

    CU_ASSERT_PTR_EQUAL(wsh_efa_wire_resolve(&target, 56, base, size), memory + 8);
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 57, base, size));
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, SIZE_MAX, base, size));
    target.off = 64;
    CU_ASSERT_PTR_EQUAL(wsh_efa_wire_resolve(&target, 0, base, size), memory + 64);
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 1, base, size));
    target.off = UINT64_MAX;
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 8, base, size));
    target = (struct wsh_efa_target){.seg = 0};
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 0, base, size));
    target.seg = WSH_SEGS_HOST;
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 0, base, size));
    target.seg = 255;
    CU_ASSERT_PTR_NULL(wsh_efa_wire_resolve(&target, 0, base, size));
}

/* Random changes of good messages, of the very length on the heap so that a sanitizer sees any read beyond. */
static void fuzz(void)
{
    unsigned seed = 1;
    long passed = 0, rounds = 300000;

    for (long round = 0; round < rounds; round++) {
        size_t i = (size_t)rand_r(&seed) % N_GOOD, len = good[i].len;
        union room room;
        unsigned char *copy;

        make(&room, i);
        for (int change = rand_r(&seed) % 4; change; change--)
            room.bytes[(size_t)rand_r(&seed) % len] = (unsigned char)rand_r(&seed);
        if (rand_r(&seed) % 4 == 0)
            len = (size_t)rand_r(&seed) % (len + 1);
        copy = malloc(len ? len : 1);
        memcpy(copy, room.bytes, len);
        passed += wsh_efa_wire_src((const union wsh_efa_msg *)copy, len, N_PES) >= 0 &&
                  !wsh_efa_wire_check((const union wsh_efa_msg *)copy, len);
        free(copy);
    }
    CU_ASSERT(passed > 0 && passed < rounds);
}

const struct unit_test unit_tests[] = {
    {"good messages pass", good_pass},
    {"any other length is refused", wrong_lengths},
    {"another version, type, PE or context is refused", wrong_heads},
    {"an atomic that no CPU can do is refused", wrong_atomics},
    {"blocks that are cut or too far apart are refused", wrong_strides},
    {"a place outside of the segments has no address", places},
    {"random bytes are judged without reading beyond them", fuzz},
    {NULL, NULL},
};
