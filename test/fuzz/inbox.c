/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever a GPU leaves in the inbox of the staging: the host counts what was pulled, takes back what was not, or says
 * that the inbox is damaged. An input is a script of messages, of the GPU's words, and of how far its stream is.
 */
#include "runtime/gpu/stage/state.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 600 };

struct script {
    struct wsh_stage stage; /* first */
    struct fuzz_input in;
    struct wsh_inbox shared;
    struct wsh_stage_peer peer;
    char memory[1024];
    struct wsh_rmem mine;
};

/* The stream takes it, or has no room. */
static int stream_give(struct script *s)
{
    if (s->stage.issued - s->stage.landed == 16)
        return -EAGAIN;
    s->stage.issued++;
    return 0;
}

int wsh_stage_in_apply(struct wsh_stage *stage, struct wsh_stage_peer *peer, uint64_t pos)
{
    struct script *s = (struct script *)stage;
    int rc = stream_give(s);

    FUZZ_CHECK(peer == &s->peer && pos < peer->taken);
    if (rc)
        return rc;
    stage->in_issued = stage->issued;
    stage->in_applied++;
    return 0;
}

int wsh_stage_gpu_probe(struct wsh_stage *stage)
{
    return stream_give((struct script *)stage);
}

static void message_come(struct script *s)
{
    const struct wsh_stage_head head = {.kind = (uint8_t)(WSH_STAGE_PUT + fuzz_below(&s->in, 5)),
                                        .op = (uint8_t)fuzz_below(&s->in, 8),
                                        .width = 8,
                                        .len = 8 + fuzz_below(&s->in, 512),
                                        .off = 8u * fuzz_below(&s->in, 32)};
    uint64_t pos = s->peer.taken++;

    switch (wsh_stage_inbox_dispatch(&s->stage, &head)) {
    case WSH_STAGE_HELD: s->peer.taken--; break;
    case WSH_STAGE_BY_STREAM: s->peer.taken -= wsh_stage_in_apply(&s->stage, &s->peer, pos) != 0; break;
    default:
        s->peer.taken--;
        wsh_stage_inbox_queue(&s->stage, &s->peer, &head, &s->mine, &s->mine, s->memory);
        s->peer.taken++;
    }
}

/* As a lane does, or anything. */
static void gpu_write(struct script *s)
{
    const struct wsh_stage_inbox *in = &s->stage.inbox;

    switch (fuzz_below(&s->in, 8)) {
    case 0: s->shared.state = fuzz_take(&s->in, 8); break;
    case 1: s->shared.state |= WSH_INBOX_BUSY; break;
    case 2: s->shared.polls += 64 + fuzz_below(&s->in, 33); break;
    default:
        if (in->handed > s->shared.state / 2 && !in->closed)
            s->shared.state = 2 * (s->shared.state / 2 + 1);
    }
}

static bool event_run(struct script *s)
{
    int rc;

    switch (fuzz_below(&s->in, 8)) {
    case 0:
    case 1:
    case 2: message_come(s); return true;
    case 3:
    case 4: gpu_write(s); return true;
    case 5: s->stage.landed += s->stage.landed < s->stage.issued; return true;
    default: break;
    }
    rc = wsh_stage_inbox_progress(&s->stage, wsh_stage_in_apply);
    FUZZ_CHECK(rc >= 0 || (rc == -EPROTO && fuzz_lines() == 1));
    FUZZ_CHECK(s->stage.inbox.pulled <= s->stage.inbox.handed);
    FUZZ_CHECK(s->stage.inbox.handed - s->stage.inbox.pulled <= WSH_INBOX_ITEMS);
    return rc >= 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct script s;
    bool going = true;

    memset(&s, 0, sizeof s);
    s.in = (struct fuzz_input){data, size};
    s.mine = (struct wsh_rmem){.map = s.memory, .len = sizeof s.memory};
    s.stage.inbox.shared = &s.shared;
    fuzz_lines();
    for (unsigned i = 0; i < EVENTS_MAX && s.in.left && going; i++)
        going = event_run(&s);
    wsh_stage_inbox_say(&s.stage);
    return 0;
}
