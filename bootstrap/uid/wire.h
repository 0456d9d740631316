/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the root of a unique id and its PEs send each other. First each shows the other that it knows the id's secret,
 * by tags over bytes that the other has drawn; from then on messages are a head and a body.
 */
#ifndef WSH_BOOTSTRAP_UID_WIRE_H
#define WSH_BOOTSTRAP_UID_WIRE_H

#include "bootstrap/uid/id.h"

#include <stddef.h>

#define WSH_UID_WIRE_VERSION 4
#define WSH_UID_NONCE 16
#define WSH_UID_TEXT_MAX 512
#define WSH_UID_BODY_MAX (16u << 20) /* of one PE */
#define WSH_UID_PES_MAX (1 << 20)
#define WSH_UID_FOR_EVER 3e7 /* seconds */

/* The root to whoever connects. */
struct wsh_uid_challenge {
    uint32_t magic;
    uint16_t version, zero;
    unsigned char nonce[WSH_UID_NONCE];
};

/* The answer. */
struct wsh_uid_hello {
    uint32_t magic;
    uint16_t version, zero;
    int32_t rank, n_ranks;
    uint64_t machine, host;
    uint32_t pid, zero2;
    char name[40]; /* of the host, cut, with its end */
    unsigned char nonce[WSH_UID_NONCE];
    uint64_t tag;
};

/* What the root sends first to those that it takes in. */
struct wsh_uid_proof {
    uint32_t magic, zero;
    uint64_t tag;
};

enum wsh_uid_type {
    WSH_UID_START = 1, /* the root's: all are there; struct wsh_uid_start */
    WSH_UID_PUBLISH,   /* arg: round. A PE's blob; the root's answer has those of all (host_blobs.h) */
    WSH_UID_HOST,      /* a PE's bytes; the answer has those of its host's PEs (wsh_uid_part) */
    WSH_UID_BARRIER,   /* arg: 1 where it is the last of the world. The root's answer: all have come */
    WSH_UID_ABORT,     /* a PE's; arg: exit status */
    WSH_UID_REQUEST,   /* a PE's: whom do I wait for? arg: 1 before the start, WSH_UID_REQUESTS_START */
    WSH_UID_SAY,       /* the root's answer: text */
    WSH_UID_END,       /* the root's; arg: exit status. The job ends; text: why, empty after an abort */
    WSH_UID_LEAVE,     /* a PE's: would finalize at its exit. The root's answer: all PEs would */
    WSH_UID_LEFT,      /* a PE's: it goes, and has not failed. The root's, to it too; arg: who has left */
    WSH_UID_SUCCEED,   /* the root's, whose own PE has left: be the root from now on */
    WSH_UID_MOVE, /* struct wsh_uid. A PE's answer to that, and what the root then passes on: the new root */
    WSH_UID_FAILED, /* the root's; arg: who; text: a line, for one that prints it. The others go on */
    WSH_UID_BEAT, /* a PE's, and the root's answer; arg: a number. Where PEs go on without one that has failed */
    WSH_UID_TELL,   /* a PE's, which the root passes on: where in memory that all have, and bytes */
    WSH_UID_DECIDE, /* struct wsh_uid_decide. A PE's; the root's to all, of the first that fits */
    WSH_UID_TYPES
};

#define WSH_UID_REQUESTS_START 1

struct wsh_uid_head {
    uint32_t magic;
    uint32_t type, arg, zero;
    uint64_t len; /* of the body */
};

struct wsh_uid_start {
    int32_t local_rank, local_size, one_machine;
    int32_t lease_ms; /* 0: a PE that fails ends the job */
};

/* A word at that place changes from `before` to `after`. */
struct wsh_uid_decide {
    uint64_t at, before, after;
};

#define WSH_UID_TELL_MAX 4096

/* Tags of the two sides. */
uint64_t wsh_uid_hello_tag(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                           const struct wsh_uid_hello *hello);
uint64_t wsh_uid_proof_tag(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                           const struct wsh_uid_hello *hello);

int wsh_uid_challenge_make(struct wsh_uid_challenge *challenge);
/* 0; -EPROTO: it is not from a root; -EPROTONOSUPPORT: from one of another version. */
int wsh_uid_challenge_check(const struct wsh_uid_challenge *challenge);

/* All of the hello but tag; draws its nonce. */
int wsh_uid_hello_make(struct wsh_uid_hello *hello, int rank, int n_ranks, uint64_t machine, uint64_t host);
/* Is it from someone who knows the secret, and in itself possible? */
bool wsh_uid_hello_is_valid(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                            const struct wsh_uid_hello *hello);

struct wsh_uid_head wsh_uid_head_make(enum wsh_uid_type type, uint32_t arg, uint64_t len);
/* n_pes: of whom the message may be; 1 for those of a PE. */
bool wsh_uid_head_is_valid(const struct wsh_uid_head *head, int n_pes);

/* The bodies of n PEs in one: n lengths, then the bytes. Part i, or NULL where the body does not have it. */
const char *wsh_uid_part(const char *body, size_t len, int n, int i, size_t *part_len);

/* Sends at once; where a host vanishes its connections end within a minute. */
void wsh_uid_socket_tune(int fd);

double wsh_uid_now(void); /* seconds, monotonic */

/* All bytes before `deadline`. 0, -ETIMEDOUT, -EPIPE (the other has closed) or another errno; nothing is logged. */
int wsh_uid_send(int fd, const void *bytes, size_t len, double deadline);
int wsh_uid_receive(int fd, void *bytes, size_t len, double deadline);
/* A message, within a minute: the other end reads all the time. */
int wsh_uid_send_message(int fd, enum wsh_uid_type type, uint32_t arg, const void *body, size_t len);
/* Until something can be received. 0, -ETIMEDOUT or another errno. */
int wsh_uid_await(int fd, double deadline);

#endif
