/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever a kernel leaves in the rings to the proxy: the host takes records within the ring, or says that one is
 * damaged. An input is a script of what the GPU writes, and of how operations end. The rings are small, so that they
 * wrap.
 */
#include "runtime/gpu/proxy/record.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 2, FLYING = 4 * WSH_RING_PIECES, EVENTS_MAX = 400 };

struct flying {
    struct wsh_done *done;
    void *into;
    size_t len;
};

struct script {
    struct fuzz_input in;
    struct wsh_ring *rings;
    struct wsh_consumer *consumer;
    uint64_t head[RINGS]; /* of a producer that keeps to the rules */
    struct flying flying[FLYING];
    unsigned n_flying;
};

static bool is_of_ring(const struct script *s, const struct wsh_ring_request *request)
{
    const unsigned char *payload = request->payload;

    for (unsigned r = 0; r < RINGS; r++)
        if (payload >= s->rings[r].payload && payload < s->rings[r].payload + sizeof s->rings[r].payload)
            return request->len <= (size_t)(s->rings[r].payload + sizeof s->rings[r].payload - payload);
    return false;
}

/* The bytes of the ring, or an answer of 8 bytes, that the operation may touch; nothing of a zero-copy source. */
static bool is_reading(const struct script *s, const struct wsh_ring_request *request)
{
    bool word = request->kind == WSH_RING_GET_WORD || request->kind == WSH_RING_AMO;

    if (wsh_record_is_zero_copy(request->kind)) {
        FUZZ_CHECK(request->len && request->len <= WSH_RING_ZERO_COPY_MAX &&
                   (uint64_t)request->payload <= WSH_RING_ADDRESS);
        return false;
    }
    FUZZ_CHECK(word || is_of_ring(s, request));
    FUZZ_CHECK(request->kind != WSH_RING_GET_WORD || request->len <= 8);
    if (request->kind == WSH_RING_GET || request->kind == WSH_RING_IGET || word)
        return true;
    fuzz_read(request->payload, request->len);
    return false;
}

/* As the proxy: elements go on where they stopped, and an atomic has 4 or 8 bytes. */
static int start(void *arg, const struct wsh_ring_request *request, struct wsh_done *done)
{
    struct script *s = arg;
    bool reading = is_reading(s, request),
         strided = request->kind == WSH_RING_IPUT || request->kind == WSH_RING_IGET;

    FUZZ_CHECK(request->pe >= 0 && request->pe < 1 << WSH_RING_PE_BITS && request->sym <= WSH_RING_ADDRESS);
    if (request->kind == WSH_RING_AMO && request->len != 4 && request->len != 8)
        return -EFAULT;
    if (s->n_flying == FLYING || !fuzz_below(&s->in, 8))
        return -EAGAIN;
    if (strided && *request->taken < request->len >> request->op)
        *request->taken += 1 + fuzz_below(&s->in, 4);
    s->flying[s->n_flying++] = (struct flying){done, reading ? request->payload : NULL, request->len};
    FUZZ_CHECK(done || (wsh_record_is_zero_copy(request->kind) && !request->answer));
    if (done)
        done->left++;
    return strided && *request->taken < request->len >> request->op ? -EAGAIN : 0;
}

static int fence(void *arg)
{
    return fuzz_below(&((struct script *)arg)->in, 8) ? 0 : -EAGAIN;
}

static size_t pending(void *arg, bool sources, bool awaited)
{
    (void)sources, (void)awaited;
    return ((struct script *)arg)->n_flying;
}

static const struct wsh_consumer_ops ops = {start, fence, pending};

static void one_end(struct script *s)
{
    struct flying *flying = &s->flying[fuzz_below(&s->in, s->n_flying)];

    if (flying->into)
        memset(flying->into, 0x77, flying->len);
    FUZZ_CHECK(!flying->done || flying->done->left > 0);
    if (flying->done)
        flying->done->left--;
    *flying = s->flying[--s->n_flying];
}

/* Half of a record, with the parity that its position asks for, now and then with another. */
static void piece_write(struct script *s, struct wsh_ring *ring, uint64_t at, uint64_t a, uint64_t b)
{
    uint64_t parity = at / WSH_RING_PIECES % 2 ? 0 : WSH_RING_PARITY;
    struct wsh_ring_piece *piece = &ring->piece[at % WSH_RING_PIECES];

    piece->a = (a & ~WSH_RING_PARITY) | parity;
    piece->b = (b & ~WSH_RING_PARITY) | parity;
    if (!fuzz_below(&s->in, 32))
        piece->a ^= WSH_RING_PARITY;
}

/* At the producer's head, which counts as many positions as it likes: `kind`, with fields of the input. */
static void record_write(struct script *s)
{
    unsigned r = fuzz_below(&s->in, RINGS), kind = fuzz_below(&s->in, WSH_RING_KINDS + 1),
             how = fuzz_below(&s->in, 8);
    struct wsh_ring *ring = &s->rings[r];
    uint64_t op = fuzz_below(&s->in, how ? 6 : 32), len = fuzz_take(&s->in, how ? 1 : 3);
    uint64_t a = fuzz_take(&s->in, 2) | op << WSH_RING_OP_AT | (uint64_t)kind << WSH_RING_KIND_AT;
    uint64_t b = (len & WSH_RING_LOW(WSH_RING_LEN_BITS)) | (uint64_t)fuzz_below(&s->in, 4) << WSH_RING_PE_AT |
                 (uint64_t)fuzz_below(&s->in, 4) << WSH_RING_EPOCH_AT;

    if (kind == WSH_RING_AMO && how > 1)
        b = (b & ~WSH_RING_LOW(WSH_RING_LEN_BITS)) | 8;
    a |= (how & 1 ? WSH_RING_ANSWER : 0) | (how == 2 ? WSH_RING_FENCED : 0);
    piece_write(s, ring, s->head[r], a, b);
    for (unsigned i = 1; i < 3; i++)
        piece_write(s, ring, s->head[r] + i, fuzz_take(&s->in, 1), fuzz_take(&s->in, 2));
    s->head[r] = s->consumer->ring[r].started + fuzz_below(&s->in, 8) * (how == 3);
}

/* A kernel writes where it must not. */
static void damage(struct script *s)
{
    char *ring = (char *)&s->rings[fuzz_below(&s->in, RINGS)];

    fuzz_bytes(&s->in, ring + 8 * fuzz_below(&s->in, (unsigned)(sizeof *s->rings / 8)), 8);
}

static void answer_take(struct script *s)
{
    struct wsh_ring_piece *answer =
        &s->rings[fuzz_below(&s->in, RINGS)].answer[fuzz_below(&s->in, WSH_RING_PIECES)];

    answer->a = answer->b = 0;
}

/* False: the consumer has given up, after a line. */
static bool step(struct script *s)
{
    int rc = wsh_consumer_step(s->consumer);

    FUZZ_CHECK(rc >= 0 || rc == -EFAULT || (rc == -EPROTO && fuzz_lines() == 1));
    for (unsigned r = 0; r < RINGS; r++) {
        const struct wsh_consumer_ring *ring = &s->consumer->ring[r];

        FUZZ_CHECK(ring->started - ring->freed <= WSH_RING_PIECES && ring->n_due <= WSH_RING_PIECES);
        FUZZ_CHECK(ring->done <= ring->started && ring->read <= ring->started &&
                   ring->freed <= ring->started);
        s->head[r] = s->head[r] < ring->started ? ring->started : s->head[r];
    }
    return rc >= 0;
}

static bool event_run(struct script *s)
{
    switch (fuzz_below(&s->in, 12)) {
    case 0:
    case 1:
    case 2:
    case 3: record_write(s); return true;
    case 4: damage(s); return true;
    case 5:
    case 6:
        if (s->n_flying)
            one_end(s);
        return true;
    case 7: answer_take(s); return true;
    case 8:
        wsh_consumer_hold(s->consumer, fuzz_below(&s->in, 2) ? WSH_HOLD_FLUSH : WSH_HOLD_QUIET);
        return true;
    case 9:
        wsh_consumer_snapshot(s->consumer);
        wsh_rings_are_idle(s->rings, RINGS);
        return true;
    default: return step(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct script s;
    bool going = true;

    memset(&s, 0, sizeof s);
    s.in = (struct fuzz_input){data, size};
    s.rings = aligned_alloc(128, RINGS * sizeof *s.rings);
    memset(s.rings, 0, RINGS * sizeof *s.rings);
    s.consumer = wsh_consumer_open(s.rings, RINGS, &ops, &s);
    FUZZ_CHECK(s.consumer);
    fuzz_lines();
    for (unsigned i = 0; i < EVENTS_MAX && s.in.left && going; i++)
        going = event_run(&s);
    wsh_consumer_close(s.consumer);
    free(s.rings);
    return 0;
}
