/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the messages of peers, and checks those to them. */
#include "test/fuzz/common/efa_peers.h"

#include <string.h>

#define WSH_EFA_WIRE_ACK (WSH_EFA_WIRE_REPLY + 1) /* only a head */

static struct efa_peers *watching;

static uint64_t tag_of(const struct efa_peers *peers, int from, int to)
{
    return wsh_secret_tag(&peers->world->secret, (uint32_t)from, (uint32_t)to, 1);
}

static void question_note(struct efa_peers *peers, int pe, const union wsh_efa_msg *msg)
{
    struct efa_question *question = &peers->question[peers->n_questions];

    if (peers->n_questions == PEERS_QUESTIONS) {
        peers->honest = false;
        return;
    }
    peers->n_questions++;
    if (msg->head.type == WSH_EFA_WIRE_GET)
        *question = (struct efa_question){pe, msg->head.ctx, msg->get.cookie, msg->get.len};
    else
        *question = (struct efa_question){pe, msg->head.ctx, msg->amo.cookie, 8};
}

/* NICs take messages in an order of their own. False: it was seen before. */
static bool number_note(struct efa_line *line, uint16_t number)
{
    uint16_t off = (uint16_t)(number - line->sent);

    if (off >= WSH_SRD_WINDOW_MAX || line->ahead[number % WSH_SRD_WINDOW_MAX])
        return false;
    line->ahead[number % WSH_SRD_WINDOW_MAX] = true;
    while (line->ahead[line->sent % WSH_SRD_WINDOW_MAX])
        line->ahead[line->sent++ % WSH_SRD_WINDOW_MAX] = false;
    return true;
}

/* Every message of this PE is one that its receiver takes. One that goes by another NIC again is not counted again. */
static void message_see(struct efa_peers *peers, int pe, const void *bytes, size_t len)
{
    union wsh_efa_msg msg;

    FUZZ_CHECK(len >= sizeof msg.head);
    memset(&msg, 0, sizeof msg);
    memcpy(&msg, bytes, len < sizeof msg ? len : sizeof msg);
    FUZZ_CHECK(msg.head.src == WORLD_ME && msg.head.tag == tag_of(peers, WORLD_ME, pe));
    FUZZ_CHECK(!wsh_efa_wire_check(bytes, len));
    if (msg.head.type >= WSH_EFA_WIRE_REPLY || msg.head.ctx >= PEERS_CONTEXTS)
        return;
    if (!number_note(&peers->line[pe][msg.head.ctx], msg.head.stamp.seq))
        return;
    if (msg.head.type == WSH_EFA_WIRE_GET || msg.head.type == WSH_EFA_WIRE_FETCH)
        question_note(peers, pe, &msg);
}

static void posted_see(enum fake_kind kind, int pe, const void *bytes, size_t len, uint64_t imm)
{
    struct efa_peers *peers = watching;
    struct wsh_srd_imm write = wsh_srd_imm_unpack((uint32_t)imm);

    FUZZ_CHECK(pe >= 0 && pe < WORLD_PES);
    if (kind == FAKE_SEND)
        message_see(peers, pe, bytes, len);
    if (kind != FAKE_WRITE || imm == UINT64_MAX)
        return;
    FUZZ_CHECK(write.pe == WORLD_ME && !write.by_counter);
    if (write.ctx < PEERS_CONTEXTS)
        peers->line[pe][write.ctx].counted++;
}

void efa_peers_open(struct efa_peers *peers, const struct efa_world *world)
{
    *peers = (struct efa_peers){.world = world, .honest = true};
    watching = peers;
    fake_on_post = posted_see;
}

static void head_fill(const struct efa_peers *peers, struct wsh_efa_head *head, int type, size_t len, int src,
                      uint16_t ctx)
{
    const struct efa_line *line = &peers->line[src][ctx % PEERS_CONTEXTS];

    wsh_efa_wire_head(head, (enum wsh_efa_wire)type, len, src, ctx);
    head->tag = tag_of(peers, src, WORLD_ME);
    head->stamp.applied = line->sent;
    head->stamp.counted = line->counted;
}

void efa_peers_answer(struct efa_peers *peers, unsigned i, char *bytes, size_t *len)
{
    struct efa_question question = peers->question[i];
    struct wsh_efa_reply_msg *msg = (struct wsh_efa_reply_msg *)bytes;

    *len = sizeof *msg + question.len;
    FUZZ_CHECK(*len <= PEERS_MESSAGE);
    memset(bytes, 0, *len);
    head_fill(peers, &msg->head, WSH_EFA_WIRE_REPLY, *len, question.pe, question.ctx);
    msg->cookie = question.cookie;
    peers->question[i] = peers->question[--peers->n_questions];
}

void efa_peers_ack(struct efa_peers *peers, int pe, uint16_t ctx, char *bytes, size_t *len)
{
    *len = sizeof(struct wsh_efa_head);
    head_fill(peers, (struct wsh_efa_head *)bytes, WSH_EFA_WIRE_ACK, *len, pe, ctx);
}

static void target_fill(struct fuzz_input *in, struct wsh_efa_target *target)
{
    unsigned how = fuzz_below(in, 8);

    target->seg = (uint8_t)(how < 6 ? fuzz_below(in, 2) : fuzz_take(in, 1));
    target->off = how == 7 ? fuzz_take(in, 8) : fuzz_take(in, 2) % 4160;
    target->width = (uint8_t)(how == 5 ? fuzz_take(in, 1) : how & 1 ? 4 : 8);
    target->op = (uint8_t)(how == 4 ? fuzz_take(in, 1) : fuzz_below(in, 8));
    if (how < 4)
        target->off &= ~UINT64_C(7);
}

static size_t bytes_fill(struct fuzz_input *in, char *bytes, size_t head)
{
    size_t len = fuzz_below(in, 64) * (fuzz_below(in, 4) ? 1 : 8);

    if (len > PEERS_MESSAGE - head)
        len = PEERS_MESSAGE - head;
    fuzz_bytes(in, bytes, len);
    return head + len;
}

static size_t strided_fill(struct fuzz_input *in, struct wsh_efa_strided_msg *msg)
{
    unsigned how = fuzz_below(in, 8);
    size_t len;

    target_fill(in, &msg->data);
    if (fuzz_below(in, 2)) {
        target_fill(in, &msg->signal);
        msg->value = fuzz_take(in, 2);
    }
    msg->stride = how ? fuzz_take(in, 1) : fuzz_take(in, 8);
    msg->block = how == 1 ? (uint32_t)fuzz_take(in, 4) : 1 + fuzz_below(in, 16);
    len = bytes_fill(in, msg->bytes, sizeof *msg);
    return how == 2 || !msg->block ? len : len - (len - sizeof *msg) % msg->block;
}

/* The rest of the message, of its type's form; its length. */
static size_t body_fill(const struct efa_peers *peers, struct fuzz_input *in, int type,
                        union wsh_efa_msg *msg)
{
    switch (type) {
    case WSH_EFA_WIRE_PUT:
        target_fill(in, &msg->put.data);
        return bytes_fill(in, msg->put.bytes, sizeof msg->put);
    case WSH_EFA_WIRE_STRIDED: return strided_fill(in, &msg->strided);
    case WSH_EFA_WIRE_SIGNAL:
        target_fill(in, &msg->signal.data);
        target_fill(in, &msg->signal.signal);
        msg->signal.value = fuzz_take(in, 2);
        return bytes_fill(in, msg->signal.bytes, sizeof msg->signal);
    case WSH_EFA_WIRE_AMO:
    case WSH_EFA_WIRE_FETCH:
        target_fill(in, &msg->amo.word);
        msg->amo.operand = fuzz_take(in, 8);
        msg->amo.compare = fuzz_take(in, 2);
        msg->amo.cookie = (uint32_t)fuzz_take(in, 1);
        return sizeof msg->amo;
    case WSH_EFA_WIRE_GET:
        target_fill(in, &msg->get.data);
        msg->get.len = (uint32_t)fuzz_take(in, fuzz_below(in, 8) ? 1 : 4);
        return sizeof msg->get;
    case WSH_EFA_WIRE_REPLY:
        msg->reply.cookie =
            peers->n_questions && fuzz_below(in, 4) ? peers->question[0].cookie : (uint32_t)fuzz_take(in, 4);
        return bytes_fill(in, msg->reply.bytes, sizeof msg->reply);
    case WSH_EFA_WIRE_ACK_REQUEST:
    case WSH_EFA_WIRE_COUNTED:
        msg->count.counter_writes = (uint32_t)fuzz_take(in, 2);
        msg->count.end = (uint32_t)fuzz_take(in, 2);
        msg->count.ctx = (uint16_t)fuzz_below(in, 2 * PEERS_CONTEXTS);
        return sizeof msg->count;
    default: return fuzz_below(in, 8) ? sizeof msg->head : bytes_fill(in, (char *)msg, sizeof msg->head);
    }
}

/* What the engine of the source says; true: the next in its flow, waiting for nothing. */
static bool stamp_fill(struct fuzz_input *in, struct wsh_srd_stamp *stamp, const struct efa_line *line)
{
    unsigned wrong = fuzz_below(in, 4) ? 0 : fuzz_below(in, 16);

    stamp->seq = (uint16_t)(line->next + (wrong & 1 ? fuzz_take(in, 2) : 0));
    if (wrong & 2) {
        stamp->condition = (uint16_t)fuzz_below(in, 4);
        stamp->after = (uint16_t)(line->next + fuzz_below(in, 4) - 2);
        stamp->condition_group = (uint8_t)fuzz_take(in, 1);
        stamp->condition_count = (uint16_t)fuzz_below(in, 4);
    }
    if (wrong & 4) {
        stamp->own_group = (uint8_t)fuzz_take(in, 1);
        stamp->own_count = (uint16_t)fuzz_below(in, 4);
    }
    if (wrong & 8) {
        stamp->applied += (uint32_t)fuzz_take(in, 1) - 8;
        stamp->counted += (uint32_t)fuzz_take(in, 1);
    }
    return !wrong;
}

bool efa_peers_message(struct efa_peers *peers, struct fuzz_input *in, char *bytes, size_t *len)
{
    union wsh_efa_msg *msg = (union wsh_efa_msg *)bytes;
    unsigned wrong = fuzz_below(in, 16);
    int type = (int)(fuzz_take(in, 1) % (WSH_EFA_WIRE_COUNTED + 2)), src = (int)fuzz_below(in, WORLD_PES);
    uint16_t ctx = (uint16_t)(wrong == 15 ? fuzz_take(in, 2) : fuzz_below(in, PEERS_CONTEXTS));
    struct efa_line *line = &peers->line[src][ctx % PEERS_CONTEXTS];

    memset(bytes, 0, PEERS_MESSAGE);
    *len = body_fill(peers, in, type, msg);
    head_fill(peers, &msg->head, type, *len, src, ctx);
    if (stamp_fill(in, &msg->head.stamp, line) && type < WSH_EFA_WIRE_REPLY)
        line->next++;
    peers->honest = false;
    msg->head.lazy = (uint8_t)fuzz_below(in, 2);
    if (wrong == 14)
        msg->head.lost = (uint8_t)fuzz_take(in, 1);
    if (wrong == 13)
        msg->head.version = (uint8_t)fuzz_take(in, 1);
    if (wrong == 12)
        *len = fuzz_below(in, PEERS_MESSAGE);
    if (wrong == 11)
        msg->head.src = (uint32_t)fuzz_take(in, 4);
    if (wrong == 10)
        msg->head.tag ^= UINT64_C(1) << fuzz_below(in, 64);
    return *len >= sizeof msg->head && msg->head.src < WORLD_PES &&
           msg->head.tag == tag_of(peers, (int)msg->head.src, WORLD_ME);
}
