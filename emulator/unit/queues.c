/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues in memory: what entries say, and that each mistake of whoever posts is found. No threads, no network. */
#include "emulator/queues/checks.h"

#include "test/common/unit.h"

#include <string.h>

#define ENTRIES 64

static uint64_t words[ENTRIES * EMU_WIDE_WQE_WORDS];
static _Atomic uint32_t doorbell;
static uint32_t posted;

static struct emu_ring ring_open(uint32_t entry_words)
{
    struct emu_ring ring = {
        .words = words, .doorbell = &doorbell, .entries = ENTRIES, .entry_words = entry_words};

    posted = 0;
    atomic_store_explicit(&doorbell, 0, memory_order_relaxed);
    emu_ring_clear(&ring);
    return ring;
}

static struct emu_request write_of(uint64_t id)
{
    return (struct emu_request){.id = id,
                                .operation = EMU_IO_WRITE,
                                .pieces = 1,
                                .dst_qpn = 7,
                                .ahn = 3,
                                .qkey = 99,
                                .len = 8,
                                .piece = {{0x1122334455667788, 8, 0xabcdef}},
                                .remote = {0x99, 8, 0x12345678}};
}

static void ring_write(struct emu_ring *ring, const struct emu_request *request, unsigned phase)
{
    uint64_t *at = ring->words + (size_t)(posted++ % ENTRIES) * ring->entry_words;

    emu_wqe_write(request, phase, at, ring->entry_words);
}

static void ring_doorbell(void)
{
    atomic_store_explicit(&doorbell, posted, memory_order_release);
}

static void post_well(struct emu_ring *ring, uint64_t id)
{
    struct emu_request request = write_of(id);

    ring_write(ring, &request, posted / ENTRIES & 1);
    ring_doorbell();
}

static enum emu_violation take(struct emu_ring *ring)
{
    struct emu_request request;

    CU_ASSERT_NOT_EQUAL_FATAL(emu_ring_announced(ring), 0);
    return emu_send_take(ring, &request);
}

static void fields_are_where_the_device_has_them(void)
{
    struct emu_request in = write_of(0x1234567890ab), out;
    const unsigned char *bytes = (const unsigned char *)words;
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);

    in.has_imm = true;
    in.imm = 0xa1b2c3d4;
    ring_write(&ring, &in, 1);
    CU_ASSERT_TRUE(bytes[0] == 0xab && bytes[1] == 0x90 && bytes[2] == 0x92 && bytes[3] == 0x1d);
    CU_ASSERT_TRUE(bytes[4] == 7 && bytes[6] == 1 && bytes[8] == 0xd4 && bytes[12] == 3 && bytes[16] == 99);
    CU_ASSERT_TRUE(bytes[26] == 0x78 && bytes[32] == 8 && bytes[36] == 0x78 && bytes[40] == 0x99);
    CU_ASSERT_TRUE(bytes[48] == 8 && bytes[52] == 0xef && bytes[54] == 0xab && bytes[56] == 0x88);
    emu_wqe_read(words, &out);
    CU_ASSERT_TRUE(out.id == in.id && out.operation == EMU_IO_WRITE && out.imm == in.imm && out.has_imm);
    CU_ASSERT_TRUE(out.piece[0].addr == in.piece[0].addr && out.piece[0].key == 0xabcdef);
    CU_ASSERT_TRUE(out.remote.addr == 0x99 && out.remote.key == 0x12345678 && out.len == 8);
}

static void inline_data_is_carried(void)
{
    struct emu_request in = {.operation = EMU_IO_WRITE, .is_inline = true, .len = 80, .remote.len = 80}, out;
    struct emu_ring ring = ring_open(EMU_WIDE_WQE_WORDS);

    for (unsigned i = 0; i < 80; i++)
        in.data[i] = (unsigned char)(i + 1);
    ring_write(&ring, &in, 0);
    ring_doorbell();
    CU_ASSERT_EQUAL(((unsigned char *)words)[48], 1);
    CU_ASSERT_EQUAL(emu_send_take(&ring, &out), EMU_GOOD);
    CU_ASSERT_TRUE(out.len == 80 && !memcmp(in.data, out.data, 80));
}

static void completions_say_what_happened(void)
{
    struct emu_report send = {.id = 0xfedcba9876543210, .of_send_queue = true, .qpn = 5, .status = 7}, out;
    struct emu_report write = {.operation = EMU_IO_WRITE,
                               .has_imm = true,
                               .unsolicited = true,
                               .imm = 77,
                               .len = 0x123456,
                               .ahn = 4,
                               .src_qpn = 9,
                               .qpn = 5};
    const unsigned char *bytes = (const unsigned char *)words;

    emu_cqe_write(&send, 1, words);
    CU_ASSERT_TRUE(bytes[0] == 0x10 && bytes[2] == 7 && bytes[3] == 3 && bytes[4] == 5);
    CU_ASSERT_TRUE(bytes[6] == 0x54 && bytes[8] == 0x98 && bytes[10] == 0xdc);
    emu_cqe_read(words, &out);
    CU_ASSERT_TRUE(out.id == send.id && out.of_send_queue && out.status == 7);
    emu_cqe_write(&write, 0, words);
    CU_ASSERT_TRUE(bytes[3] == (4 | 8 | 0x20 | 0x80) && bytes[6] == 0x56 && bytes[8] == 4 && bytes[10] == 9);
    CU_ASSERT_TRUE(bytes[12] == 77 && bytes[16] == 0x12);
    emu_cqe_read(words, &out);
    CU_ASSERT_TRUE(out.len == 0x123456 && out.unsolicited && out.imm == 77 && out.src_qpn == 9);
}

static void turns_of_the_queue_change_the_phase(void)
{
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);
    struct emu_request request;

    for (uint32_t i = 0; i < 70000; i++) {
        post_well(&ring, i & 0xffff);
        CU_ASSERT_EQUAL_FATAL(emu_send_take(&ring, &request), EMU_GOOD);
        CU_ASSERT_EQUAL_FATAL(request.id, i & 0xffff);
        atomic_fetch_add_explicit(&ring.completed, 1, memory_order_release);
        CU_ASSERT_EQUAL_FATAL(emu_ring_announced(&ring), 0);
    }
}

static void a_wrong_phase_is_found(void)
{
    struct emu_request request = write_of(1);
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);

    ring_write(&ring, &request, 1);
    ring_doorbell();
    CU_ASSERT_EQUAL(take(&ring), EMU_WRONG_PHASE);
}

static void a_torn_request_is_found(void)
{
    for (unsigned word = 0; word < EMU_WQE_WORDS; word++) {
        struct emu_ring ring = ring_open(EMU_WQE_WORDS);
        struct emu_request request = write_of(1);

        ring_write(&ring, &request, 0);
        words[word] = EMU_UNWRITTEN;
        ring_doorbell();
        CU_ASSERT_EQUAL(take(&ring), EMU_WRONG_TORN);
    }
}

static enum emu_violation verdict_on(const struct emu_request *request, uint32_t entry_words)
{
    struct emu_ring ring = ring_open(entry_words);

    ring_write(&ring, request, 0);
    ring_doorbell();
    return take(&ring);
}

static void contents_are_judged(void)
{
    struct emu_request request = write_of(1);
    struct emu_ring ring;

    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_GOOD);
    request.pieces = 2;
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_WRONG_PIECES);
    request.pieces = 1;
    request.remote.len = 9;
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_WRONG_LENGTH);
    request = (struct emu_request){.is_inline = true, .len = 33};
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_WRONG_INLINE);
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WIDE_WQE_WORDS), EMU_GOOD);
    request.operation = EMU_IO_WRITE;
    request.remote.len = request.len = 8;
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_WRONG_INLINE);
    request.operation = 5;
    CU_ASSERT_EQUAL(verdict_on(&request, EMU_WQE_WORDS), EMU_WRONG_OPERATION);
    request = write_of(1);
    ring = ring_open(EMU_WQE_WORDS);
    ring_write(&ring, &request, 0);
    words[0] &= ~EMU_WQE_COMPLETE;
    ring_doorbell();
    CU_ASSERT_EQUAL(take(&ring), EMU_WRONG_CONTROL);
}

static void doorbells_are_awaited_in_time(void)
{
    struct emu_request request = write_of(1);
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);

    CU_ASSERT_EQUAL(emu_send_watch(&ring, 1), EMU_GOOD);
    for (unsigned i = 0; i < EMU_MAX_BATCH; i++)
        ring_write(&ring, &request, 0);
    CU_ASSERT_EQUAL(emu_ring_unrung(&ring), EMU_MAX_BATCH);
    CU_ASSERT_EQUAL(emu_send_watch(&ring, 1), EMU_GOOD);
    CU_ASSERT_EQUAL(emu_send_watch(&ring, EMU_UNRUNG_NS), EMU_GOOD);
    CU_ASSERT_EQUAL(emu_send_watch(&ring, EMU_UNRUNG_NS + 2), EMU_WRONG_UNRUNG);
    ring_write(&ring, &request, 0);
    CU_ASSERT_EQUAL(emu_send_watch(&ring, EMU_UNRUNG_NS + 3), EMU_WRONG_BATCH);
    ring_doorbell();
    CU_ASSERT_EQUAL(emu_ring_unrung(&ring), 0);
    CU_ASSERT_EQUAL(take(&ring), EMU_GOOD);
}

static void a_doorbell_goes_forwards(void)
{
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);

    post_well(&ring, 1);
    CU_ASSERT_EQUAL(take(&ring), EMU_GOOD);
    atomic_store_explicit(&doorbell, 0, memory_order_release);
    CU_ASSERT_EQUAL(take(&ring), EMU_WRONG_DOORBELL);
}

static void slots_are_free_when_completed(void)
{
    struct emu_ring ring = ring_open(EMU_WQE_WORDS);

    for (unsigned i = 0; i < ENTRIES; i++) {
        post_well(&ring, i);
        CU_ASSERT_EQUAL(take(&ring), EMU_GOOD);
    }
    post_well(&ring, ENTRIES);
    CU_ASSERT_EQUAL(take(&ring), EMU_WRONG_FULL);
}

static unsigned receive(struct emu_ring *ring, const struct emu_buffer *buffers, unsigned n,
                        enum emu_violation *violation)
{
    struct emu_buffer taken[3];

    for (unsigned i = 0; i < n; i++)
        emu_rqe_write(&buffers[i], words + (posted++ % ENTRIES) * EMU_RQE_WORDS);
    ring_doorbell();
    n = emu_receive_take(ring, taken, 3, violation);
    CU_ASSERT_TRUE(!n || (taken[0].piece.key == buffers[0].piece.key && taken[0].id == buffers[0].id));
    return n;
}

static void receives_have_their_descriptors(void)
{
    const struct emu_buffer one = {.piece = {1, 2, 3}, .id = 4, .first = true, .last = true};
    struct emu_buffer parts[4] = {one, one, one, one};
    struct emu_ring ring = ring_open(EMU_RQE_WORDS);
    enum emu_violation violation;

    CU_ASSERT_EQUAL(emu_receive_take(&ring, parts, 3, &violation), 0);
    CU_ASSERT_EQUAL(violation, EMU_GOOD);
    CU_ASSERT_EQUAL(receive(&ring, &one, 1, &violation), 1);
    parts[0] = parts[1] = parts[2] = (struct emu_buffer){.piece = {1, 2, 5}, .id = 6, .first = true};
    CU_ASSERT_EQUAL(receive(&ring, parts, 2, &violation), 0);
    CU_ASSERT_EQUAL(violation, EMU_GOOD);
    parts[0].last = true;
    CU_ASSERT_EQUAL(receive(&ring, parts, 1, &violation), 3);
    parts[0].last = false;
    CU_ASSERT_EQUAL(receive(&ring, parts, 3, &violation), 0);
    CU_ASSERT_EQUAL(receive(&ring, &one, 1, &violation), 0);
    CU_ASSERT_EQUAL(violation, EMU_WRONG_DESCRIPTOR);
}

static void every_violation_has_its_text(void)
{
    for (int i = EMU_GOOD + 1; i < EMU_VIOLATION_KINDS; i++)
        CU_ASSERT_STRING_NOT_EQUAL(emu_violation_text((enum emu_violation)i), emu_violation_text(EMU_GOOD));
}

const struct unit_test unit_tests[] = {
    {"fields are where the device has them", fields_are_where_the_device_has_them},
    {"inline data is carried by wide requests", inline_data_is_carried},
    {"completions say what happened", completions_say_what_happened},
    {"turns of the queue change the phase, and the doorbell's 16 bits wrap",
     turns_of_the_queue_change_the_phase},
    {"a wrong phase is found", a_wrong_phase_is_found},
    {"a torn request is found, whatever part is missing", a_torn_request_is_found},
    {"two pieces, lengths, inline data, operations and control bits are judged", contents_are_judged},
    {"17 requests without a doorbell, and one that waits too long, are found", doorbells_are_awaited_in_time},
    {"a doorbell that goes backwards is found", a_doorbell_goes_forwards},
    {"a request into a place that is taken is found", slots_are_free_when_completed},
    {"receives go from a first descriptor to a last", receives_have_their_descriptors},
    {"every violation has its text", every_violation_has_its_text},
    {NULL, NULL},
};
