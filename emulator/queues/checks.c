/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes entries out of queues in memory, and finds what is wrong with them. */
#include "emulator/queues/checks.h"

#include <string.h>

const char *emu_violation_text(enum emu_violation violation)
{
    switch (violation) {
#define EMU_VIOLATION_TEXT(name, text) \
    case EMU_WRONG_##name: return text;
        EMU_VIOLATIONS(EMU_VIOLATION_TEXT)
#undef EMU_VIOLATION_TEXT
    default: return "nothing is wrong";
    }
}

static uint64_t *entry_at(const struct emu_ring *ring, uint32_t index)
{
    return ring->words + (size_t)(index & (ring->entries - 1)) * ring->entry_words;
}

/* Whoever posts writes the words while they are read here: that is what is looked for. */
static uint64_t word_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void entry_clear(uint64_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(&words[i], EMU_UNWRITTEN, __ATOMIC_RELAXED);
}

void emu_ring_clear(struct emu_ring *ring)
{
    entry_clear(ring->words, ring->entries * ring->entry_words);
}

uint32_t emu_ring_announced(const struct emu_ring *ring)
{
    /* acquire: pairs with the fence of whoever posts, between the entries and the doorbell */
    uint32_t doorbell = atomic_load_explicit(ring->doorbell, memory_order_acquire);

    return (uint16_t)(doorbell - ring->taken);
}

uint32_t emu_ring_unrung(const struct emu_ring *ring)
{
    uint32_t announced = emu_ring_announced(ring), n = 0;

    while (n < ring->entries && word_load(entry_at(ring, ring->taken + announced + n)) != EMU_UNWRITTEN)
        n++;
    return n;
}

/* The entry's words; TORN or CHANGED if they are not all there and at rest. */
static enum emu_violation entry_load(const uint64_t *entry, uint32_t n, uint64_t *words)
{
    for (uint32_t i = 0; i < n; i++) {
        words[i] = word_load(&entry[i]);
        if (words[i] == EMU_UNWRITTEN)
            return EMU_WRONG_TORN;
    }
    atomic_signal_fence(memory_order_seq_cst); /* the second look is one */
    for (uint32_t i = 0; i < n; i++)
        if (word_load(&entry[i]) != words[i])
            return EMU_WRONG_CHANGED;
    return EMU_GOOD;
}

static enum emu_violation check_content(const struct emu_ring *ring, const struct emu_request *request)
{
    bool wide = ring->entry_words == EMU_WIDE_WQE_WORDS, send = request->operation == EMU_IO_SEND;
    uint32_t room = wide ? EMU_WIDE_INLINE : 32;

    if (request->operation >= EMU_IO_OPERATIONS)
        return EMU_WRONG_OPERATION;
    if (request->is_inline && (request->len > room || request->operation == EMU_IO_READ || (!send && !wide)))
        return EMU_WRONG_INLINE;
    if (request->is_inline)
        return send || request->remote.len == request->len ? EMU_GOOD : EMU_WRONG_LENGTH;
    if (request->pieces > (send ? 2u : 1u))
        return EMU_WRONG_PIECES;
    if (!send && request->remote.len != (request->pieces ? request->piece[0].len : 0))
        return EMU_WRONG_LENGTH;
    return EMU_GOOD;
}

static enum emu_violation check_entry(const struct emu_ring *ring, const uint64_t *words,
                                      struct emu_request *request)
{
    unsigned phase = ring->taken / ring->entries & 1;

    emu_wqe_read(words, request);
    if (((words[0] & EMU_WQE_PHASE) != 0) != phase)
        return EMU_WRONG_PHASE;
    if ((words[0] & EMU_WQE_ALWAYS) != EMU_WQE_ALWAYS || (words[0] & EMU_WQE_MBZ))
        return EMU_WRONG_CONTROL;
    /* acquire: pairs with the release of who completes, so that its place is free */
    if (ring->taken - atomic_load_explicit(&ring->completed, memory_order_acquire) >= ring->entries)
        return EMU_WRONG_FULL;
    return check_content(ring, request);
}

enum emu_violation emu_send_take(struct emu_ring *ring, struct emu_request *request)
{
    uint64_t *entry = entry_at(ring, ring->taken), words[EMU_WIDE_WQE_WORDS];
    enum emu_violation violation = EMU_WRONG_DOORBELL;

    ring->unrung_since = 0;
    if (emu_ring_announced(ring) <= ring->entries)
        violation = entry_load(entry, ring->entry_words, words);
    if (violation)
        request->id = word_load(entry) & 0xffff;
    else
        violation = check_entry(ring, words, request);
    entry_clear(entry, ring->entry_words);
    ring->taken++;
    return violation;
}

uint64_t emu_send_discard(struct emu_ring *ring)
{
    uint64_t *entry = entry_at(ring, ring->taken);
    uint64_t id = (word_load(entry) & 0xffff) | (word_load(entry + 3) & ~0xffffull);

    entry_clear(entry, ring->entry_words);
    ring->taken++;
    return id;
}

/*
 * The doorbell is looked at once more behind the entry: who rings in time has rung before it writes that entry. An
 * entry past so many slots that there are must be one of the turn before.
 */
static bool batch_is_too_long(const struct emu_ring *ring)
{
    const uint64_t *entry = entry_at(ring, ring->taken + EMU_MAX_BATCH);

    if (ring->entries <= EMU_MAX_BATCH || __atomic_load_n(entry, __ATOMIC_ACQUIRE) == EMU_UNWRITTEN)
        return false;
    return emu_ring_announced(ring) == 0;
}

enum emu_violation emu_send_watch(struct emu_ring *ring, uint64_t now_ns)
{
    if (batch_is_too_long(ring))
        return EMU_WRONG_BATCH;
    if (word_load(entry_at(ring, ring->taken)) == EMU_UNWRITTEN) {
        ring->unrung_since = 0;
    } else if (!ring->unrung_since) {
        ring->unrung_since = now_ns;
    } else if (now_ns - ring->unrung_since > EMU_UNRUNG_NS) {
        ring->unrung_since = now_ns;
        return emu_ring_announced(ring) ? EMU_GOOD : EMU_WRONG_UNRUNG;
    }
    return EMU_GOOD;
}

/* With `n` descriptors of a receive read: are these a receive so far? libfabric marks every one of them as first. */
static bool descriptors_are_well(const struct emu_buffer *buffers, unsigned n)
{
    return buffers[0].first && buffers[n - 1].id == buffers[0].id;
}

unsigned emu_receive_take(struct emu_ring *ring, struct emu_buffer *buffers, unsigned most,
                          enum emu_violation *violation)
{
    uint32_t announced = emu_ring_announced(ring), n = 0;
    uint64_t words[EMU_RQE_WORDS];

    *violation = announced > ring->entries ? EMU_WRONG_RECEIVES : EMU_GOOD;
    while (!*violation && n < announced) {
        *violation = entry_load(entry_at(ring, ring->taken + n), EMU_RQE_WORDS, words);
        if (*violation)
            break;
        if (n < most)
            emu_rqe_read(words, &buffers[n]);
        if (n++ == most || !descriptors_are_well(buffers, n))
            *violation = EMU_WRONG_DESCRIPTOR;
        else if (buffers[n - 1].last) {
            for (uint32_t i = 0; i < n; i++)
                entry_clear(entry_at(ring, ring->taken + i), EMU_RQE_WORDS);
            ring->taken += n;
            return n;
        }
    }
    return 0;
}
