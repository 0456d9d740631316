/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever arrives at the efa transport, in whatever order its own operations end: an input is a script of events at
 * the fake provider. What lacks the job's secret changes nothing; what has it is applied within this PE's memory, or
 * ends the job with a line; what goes well comes to an end.
 */
#include "test/fuzz/common/efa_peers.h"
#include "test/fuzz/common/efa_world.h"
#include "test/fuzz/common/fuzz.h"

#include <rdma/fi_errno.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 3, EVENTS_MAX = 200, DONES = 16, LOCAL = 1024, ROUNDS = 200 };

static const struct fake_provider providers[] = {
    {.name = "efa", .nics = 1, .alone = true, .inject = 32},
    {.name = "efa", .nics = FAKE_NICS, .alone = true},
    {.name = "efa", .nics = 1, .alone = true, .imm_receives = true, .local = true},
    {.name = "tcp", .nics = 1, .ordered = true, .inject = 64},
    {.name = "net", .nics = 1},
};

struct script {
    struct fuzz_input in;
    struct efa_world world;
    struct efa_peers peers;
    struct wsh_tctx *ctx[CONTEXTS];
    struct wsh_rmem rmem[WORLD_PES][2];
    struct wsh_done done[DONES];
    char local[LOCAL];
    uint64_t result[DONES];
    unsigned nics, lines;
    bool over; /* the transport has failed, after a line */
};

/* 0, -EAGAIN, or a final error, which is said in a line. */
static int result_take(struct script *s, int rc)
{
    if (rc >= 0 || rc == -EAGAIN || rc == -ENOTSUP)
        return rc;
    s->lines += fuzz_lines();
    FUZZ_CHECK(s->lines);
    s->over = true;
    return rc;
}

static int progress(struct script *s)
{
    int rc = 1;

    for (unsigned i = 0; i < 8 && rc > 0; i++) {
        rc = result_take(s, s->world.ops->progress(s->world.tp));
        FUZZ_CHECK(rc != -EAGAIN && rc != -ENOTSUP); /* any error is final */
    }
    return rc;
}

/* One without the tag: the memory is as before, its receive is posted again, and the job goes on. */
static void stranger_check(struct script *s, const char *bytes, size_t len, unsigned nic)
{
    static char before[2][WORLD_HEAP];
    unsigned receives;

    while (progress(s) > 0)
        ;
    progress(s); /* an error that the last one has met, and not yet returned */
    if (s->over || !fake_receives(nic))
        return;
    receives = fake_receives(nic);
    for (int seg = 0; seg < 2; seg++)
        memcpy(before[seg], s->world.mem[seg], efa_world_len(seg));
    fake_message(nic, bytes, len);
    fake_refuse(0, 0);
    FUZZ_CHECK(s->world.ops->progress(s->world.tp) >= 0);
    FUZZ_CHECK(fake_receives(nic) >= receives);
    for (int seg = 0; seg < 2; seg++)
        FUZZ_CHECK(!memcmp(before[seg], s->world.mem[seg], efa_world_len(seg)));
}

static void event_message(struct script *s)
{
    char bytes[PEERS_MESSAGE];
    size_t len;
    unsigned nic = fuzz_below(&s->in, s->nics);

    if (efa_peers_message(&s->peers, &s->in, bytes, &len))
        fake_message(nic, bytes, len);
    else
        stranger_check(s, bytes, len, nic);
}

static void event_immediate(struct script *s)
{
    uint32_t imm =
        wsh_srd_imm_pack(fuzz_below(&s->in, WORLD_PES + 1), (uint16_t)fuzz_below(&s->in, PEERS_CONTEXTS),
                         (uint8_t)fuzz_take(&s->in, 1));

    if (fuzz_below(&s->in, 2)) {
        uint32_t pe = fuzz_below(&s->in, WORLD_PES + 1), low = (uint32_t)fuzz_take(&s->in, 2);

        imm = wsh_srd_imm_counter(pe, low, (uint32_t)fuzz_take(&s->in, 1)) | (low & WSH_SRD_IMM_PIECE);
    }
    if (strcmp(s->world.env.provider, "efa"))
        return;
    s->peers.honest = false;
    fake_immediate(fuzz_below(&s->in, s->nics), imm);
}

static void event_end(struct script *s)
{
    static const int errors[] = {FI_EIO,       FI_ETIMEDOUT, FI_ENOTCONN, FI_ETRUNC,
                                 FI_ECANCELED, -FI_EIO,      FI_ENOMEM};
    unsigned failing = fuzz_below(&s->in, 16), n = 1 + fuzz_below(&s->in, 8);

    s->peers.honest &= failing != 15;
    for (; n && fake_request_count(); n--)
        fake_request_end(fuzz_below(&s->in, fake_request_count()),
                         failing == 15 ? errors[fuzz_below(&s->in, 7)] : 0);
}

static void event_answer(struct script *s)
{
    char bytes[PEERS_MESSAGE];
    size_t len;

    if (!s->peers.n_questions)
        return;
    efa_peers_answer(&s->peers, fuzz_below(&s->in, s->peers.n_questions), bytes, &len);
    if (!fake_message(fuzz_below(&s->in, s->nics), bytes, len))
        s->peers.honest = false;
}

static void event_ack(struct script *s)
{
    char bytes[PEERS_MESSAGE];
    size_t len;

    efa_peers_ack(&s->peers, (int)fuzz_below(&s->in, WORLD_ABSENT),
                  (uint16_t)fuzz_below(&s->in, CONTEXTS + 1), bytes, &len);
    fake_message(fuzz_below(&s->in, s->nics), bytes, len);
}

static void event_refuse(struct script *s)
{
    static const int errors[] = {-FI_EAGAIN,       -FI_ENOMEM, -FI_EAGAIN, FI_ENOMEM,
                                 -FI_ECONNREFUSED, -FI_EINVAL, -FI_EIO};
    unsigned i = fuzz_below(&s->in, 7);

    s->peers.honest &= i < 3;
    fake_refuse(errors[i], 1 + fuzz_below(&s->in, 8));
}

static void event_mishap(struct script *s)
{
    static const int errors[] = {FI_ETRUNC, FI_ECANCELED, FI_EIO, FI_ENOTCONN};
    unsigned i = fuzz_below(&s->in, 8), nic = fuzz_below(&s->in, s->nics);

    s->peers.honest = false;
    if (i < 4)
        fake_receive_fail(nic, errors[i]);
    else
        fake_event(nic, errors[i - 4], fuzz_below(&s->in, 2) ? 4096 + (int)fuzz_below(&s->in, 32) : 5);
}

/* A counter that nothing uses, or none at all. */
static struct wsh_done *done_take(struct script *s, unsigned i)
{
    return i < DONES && wsh_done_is(&s->done[i]) ? &s->done[i] : NULL;
}

/* Somewhere in a peer's segment, and as much of this PE's bytes. */
struct span {
    const struct wsh_rmem *rmem;
    size_t off, len;
    char *local;
};

static struct span span_take(struct script *s, const struct wsh_rmem *rmem)
{
    struct span span = {.rmem = rmem};

    span.len = fuzz_below(&s->in, 8) ? fuzz_below(&s->in, 64) : fuzz_below(&s->in, LOCAL / 2);
    if (span.len > rmem->len)
        span.len = rmem->len;
    span.off = fuzz_below(&s->in, (unsigned)(rmem->len - span.len + 1));
    span.local = s->local + fuzz_below(&s->in, (unsigned)(LOCAL - span.len + 1));
    return span;
}

static int amo_start(struct script *s, struct wsh_tctx *ctx, const struct wsh_rmem *rmem, unsigned slot)
{
    const struct wsh_amo amo = {(enum wsh_amo_op)fuzz_below(&s->in, WSH_AMO_OPS),
                                fuzz_below(&s->in, 2) ? 4 : 8, fuzz_take(&s->in, 2), fuzz_take(&s->in, 1)};
    size_t off = fuzz_below(&s->in, (unsigned)rmem->len) & ~(size_t)7;
    struct wsh_done *done = done_take(s, slot);

    return s->world.ops->amo(ctx, rmem, off, &amo, done && slot & 1 ? &s->result[slot] : NULL, done);
}

static int signal_start(struct script *s, struct wsh_tctx *ctx, int pe, struct wsh_done *done)
{
    struct span span = span_take(s, &s->rmem[pe][fuzz_below(&s->in, 2)]);
    const struct wsh_rmem *rmem = &s->rmem[pe][fuzz_below(&s->in, 2)];
    const struct wsh_sig sig = {rmem, fuzz_below(&s->in, (unsigned)rmem->len) & ~(size_t)7,
                                fuzz_below(&s->in, 2) ? WSH_AMO_SET : WSH_AMO_ADD, 1};

    return s->world.ops->put_signal(ctx, span.rmem, span.off, span.local, span.len, &sig, done);
}

static int strided_start(struct script *s, struct wsh_tctx *ctx, const struct wsh_rmem *rmem)
{
    struct wsh_strided shape = {.block = 1 + fuzz_below(&s->in, 8), .nelems = 2 + fuzz_below(&s->in, 12)};
    const struct wsh_sig sig = {rmem, 8, WSH_AMO_ADD, 1};
    bool signals = fuzz_below(&s->in, 2);
    size_t taken = 0;
    int rc;

    shape.dst_stride = (ptrdiff_t)(shape.block + fuzz_below(&s->in, 12));
    shape.src_stride = (ptrdiff_t)(shape.block + fuzz_below(&s->in, 12));
    rc = s->world.ops->put_strided(ctx, rmem, fuzz_below(&s->in, 8), s->local, &shape, signals ? &sig : NULL,
                                   &taken);
    FUZZ_CHECK(rc || (taken >= (signals ? shape.nelems : 2) && taken <= shape.nelems));
    return rc;
}

static void event_operation(struct script *s)
{
    struct wsh_tctx *ctx = s->ctx[fuzz_below(&s->in, CONTEXTS)];
    unsigned what = fuzz_below(&s->in, 8), slot = fuzz_below(&s->in, 2 * DONES);
    int pe = (int)fuzz_below(&s->in, WORLD_ABSENT), rc;
    const struct wsh_rmem *rmem = &s->rmem[pe][fuzz_below(&s->in, 2)];
    struct span span;

    switch (what) {
    case 0:
    case 1:
        span = span_take(s, rmem);
        rc = s->world.ops->put(ctx, rmem, span.off, span.local, span.len, done_take(s, slot));
        break;
    case 2:
        span = span_take(s, rmem);
        rc = s->world.ops->get(ctx, rmem, span.off, span.local, span.len, done_take(s, slot));
        break;
    case 3:
    case 4: rc = amo_start(s, ctx, rmem, slot); break;
    case 5: rc = signal_start(s, ctx, pe, done_take(s, slot)); break;
    case 6: rc = strided_start(s, ctx, rmem); break;
    default: rc = s->world.ops->fence(ctx);
    }
    result_take(s, rc);
}

/* What a thread that waits looks at; a context without anything under way makes room for another. */
static void event_look(struct script *s)
{
    char text[256] = "";
    struct wsh_tctx **ctx = &s->ctx[fuzz_below(&s->in, CONTEXTS)];

    s->world.ops->describe(*ctx, text, sizeof text);
    fuzz_read(text, strlen(text) + 1);
    s->world.ops->wait_fd(s->world.tp);
    if (s->world.ops->pending(*ctx, -1))
        return;
    s->world.ops->ctx_close(*ctx);
    FUZZ_CHECK(!s->world.ops->ctx_open(s->world.tp, ctx));
}

static void event_run(struct script *s)
{
    switch (fuzz_below(&s->in, 16)) {
    case 0:
    case 1:
    case 2: event_message(s); break;
    case 3: event_immediate(s); break;
    case 4:
    case 5: event_end(s); break;
    case 6: event_answer(s); break;
    case 7: event_ack(s); break;
    case 8: event_refuse(s); break;
    case 9: event_mishap(s); break;
    case 10: fake_clock_move(UINT64_C(1000000) << fuzz_below(&s->in, 14)); break;
    case 11: event_look(s); break;
    case 12: progress(s); break;
    default: event_operation(s);
    }
}

static size_t pending(const struct script *s)
{
    size_t sum = 0;

    for (unsigned i = 0; i < CONTEXTS; i++)
        sum += s->world.ops->pending(s->ctx[i], -1);
    return sum;
}

/* Everything that was posted ends well, is answered and acknowledged: then nothing stays under way. */
static void all_end(struct script *s)
{
    char bytes[PEERS_MESSAGE];
    size_t len;

    fake_refuse(0, 0);
    for (unsigned round = 0; round < ROUNDS && pending(s) && !s->over; round++) {
        while (fake_request_count())
            fake_request_end(0, 0);
        progress(s);
        while (s->peers.n_questions) {
            efa_peers_answer(&s->peers, 0, bytes, &len);
            FUZZ_CHECK(fake_message(0, bytes, len));
        }
        for (int pe = 0; pe < WORLD_ABSENT; pe++)
            for (uint16_t ctx = 0; ctx <= CONTEXTS; ctx++) {
                efa_peers_ack(&s->peers, pe, ctx, bytes, &len);
                FUZZ_CHECK(fake_message(0, bytes, len));
                progress(s);
            }
    }
    FUZZ_CHECK(!s->over && !pending(s));
    for (unsigned i = 0; i < DONES; i++)
        FUZZ_CHECK(wsh_done_is(&s->done[i]));
}

static void script_open(struct script *s)
{
    const struct fake_provider *provider =
        &providers[fuzz_below(&s->in, sizeof providers / sizeof providers[0])];

    s->nics = provider->nics;
    fake_on_post = NULL;
    efa_world_open(&s->world, provider);
    efa_world_join(&s->world);
    efa_peers_open(&s->peers, &s->world);
    for (int pe = 0; pe < WORLD_ABSENT; pe++)
        for (int seg = 0; seg < 2; seg++)
            FUZZ_CHECK(!s->world.ops->mem_attach(s->world.tp, pe, (enum wsh_seg)seg, s->world.key[seg],
                                                 s->world.key_len[seg], &s->rmem[pe][seg]));
    for (unsigned i = 0; i < CONTEXTS; i++)
        FUZZ_CHECK(!s->world.ops->ctx_open(s->world.tp, &s->ctx[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct script script;

    memset(&script, 0, sizeof script);
    script.in = (struct fuzz_input){data, size};
    script_open(&script);
    fuzz_lines();
    for (unsigned i = 0; i < EVENTS_MAX && script.in.left && !script.over; i++)
        event_run(&script);
    if (script.peers.honest && !script.over)
        all_end(&script);
    efa_world_close(&script.world);
    return 0;
}
