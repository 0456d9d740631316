/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other PEs of an efa world, played by the input: what they send, right or wrong, and what they know of what this
 * PE has sent.
 */
#ifndef WSH_TEST_FUZZ_EFA_PEERS_H
#define WSH_TEST_FUZZ_EFA_PEERS_H

#include "test/fuzz/common/efa_world.h"
#include "test/fuzz/common/fuzz.h"
#include "transports/efa/wire/wire.h"

enum { PEERS_CONTEXTS = 8, PEERS_QUESTIONS = 64, PEERS_MESSAGE = 700 };

/* What a peer and this PE have in one context. */
struct efa_line {
    uint32_t sent, counted;         /* messages and counted writes of this PE to the peer */
    bool ahead[WSH_SRD_WINDOW_MAX]; /* which of them came before one of a lower number */
    uint16_t next;                  /* number of its next message */
};

/* A FETCH or GET of this PE. */
struct efa_question {
    int pe;
    uint16_t ctx;
    uint32_t cookie, len;
};

struct efa_peers {
    const struct efa_world *world;
    struct efa_line line[WORLD_PES][PEERS_CONTEXTS];
    struct efa_question question[PEERS_QUESTIONS];
    unsigned n_questions;
    bool honest; /* nothing wrong has been sent, or failed, so far */
};

/* From now on they see what this PE posts. */
void efa_peers_open(struct efa_peers *peers, const struct efa_world *world);

/* Any message: `len` bytes in `bytes` of PEERS_MESSAGE; true: it carries the secret's tag. */
bool efa_peers_message(struct efa_peers *peers, struct fuzz_input *in, char *bytes, size_t *len);
/* The right answer to a question, which is then over; an acknowledgement of all that this PE sent in a context. */
void efa_peers_answer(struct efa_peers *peers, unsigned question, char *bytes, size_t *len);
void efa_peers_ack(struct efa_peers *peers, int pe, uint16_t ctx, char *bytes, size_t *len);

#endif
