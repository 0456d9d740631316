/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of PMI-1 and PMI-2 over PMI_FD: written, framed and read, without input or output. */
#ifndef WSH_BOOTSTRAP_PMI_WIRE_H
#define WSH_BOOTSTRAP_PMI_WIRE_H

#include <stddef.h>

#define WSH_PMI_MESSAGE 4096 /* bytes of a message, either direction, with its frame */
#define WSH_PMI_NAME 256
#define WSH_PMI_KEY 64
#define WSH_PMI_VALUE 1024

/* What a PE asks for. PMI-1 has no WSH_PMI_JOIN, PMI-2 no WSH_PMI_LIMITS: its limits are fixed. */
enum wsh_pmi_op {
    WSH_PMI_INIT, /* agrees on the version; a line in both */
    WSH_PMI_JOIN,
    WSH_PMI_LIMITS,
    WSH_PMI_SPACE, /* the name of the key space (PMI-1) or the job (PMI-2) */
    WSH_PMI_PUT,
    WSH_PMI_FENCE,
    WSH_PMI_GET,
    WSH_PMI_ATTRIBUTE, /* what the launcher itself publishes about the job */
    WSH_PMI_FINALIZE,
    WSH_PMI_ABORT /* has no answer */
};

struct wsh_pmi_session {
    int version;               /* 1 or 2: what is asked for, then what is spoken */
    int rank, size;            /* what the environment says; an answer that says other is refused */
    char name[WSH_PMI_NAME];   /* as WSH_PMI_SPACE gave it */
    size_t key_max, value_max; /* bytes that a key and a value may have */
};

struct wsh_pmi_message {
    char text[WSH_PMI_MESSAGE];
    size_t len;
};

struct wsh_pmi_answer {
    char text[WSH_PMI_MESSAGE];
    struct {
        const char *key, *value;
    } pairs[32];
    int n_pairs;
};

/* The command as the server knows it, for messages. NULL: this version has none. */
const char *wsh_pmi_command(const struct wsh_pmi_session *session, enum wsh_pmi_op op);

/*
 * Writes the message that asks for `op`; `key` and `value` as it needs them (WSH_PMI_ABORT: the exit status as
 * value), else NULL. 0, -ENOTSUP (this version has no such command), -EINVAL (a character that the protocol gives a
 * meaning) or -EMSGSIZE.
 */
int wsh_pmi_request(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *key,
                    const char *value, struct wsh_pmi_message *message);

/*
 * Bytes of the first message among `have` bytes, frame included; 0: not whole yet; -EMSGSIZE or -EPROTO: none will
 * be.
 */
long wsh_pmi_frame(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *bytes, size_t have);

/*
 * Takes a whole message apart, as wsh_pmi_frame measured it, and into the session what the answer to `op` says of
 * it. 0, or -EPROTO (not an answer to `op`), -EREMOTEIO (the server refuses), -ERANGE (rank, size or a limit that
 * cannot be) or -EAGAIN (WSH_PMI_INIT only: the server speaks the other version, which the session now names).
 */
int wsh_pmi_read(struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *bytes, size_t len,
                 struct wsh_pmi_answer *answer);

/* The value of a key in an answer, or NULL. */
const char *wsh_pmi_value(const struct wsh_pmi_answer *answer, const char *key);

/* A whole decimal number from `min` to `max`; -EINVAL where `text` is NULL or anything else. */
int wsh_pmi_number(const char *text, long min, long max, long *number);

#endif
