/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 is lines of key=value words, PMI-2 key=value; pairs behind a length of six characters. What a server sends
 * is taken to be anything at all: nothing here reads past what came, and a word that is not understood is passed
 * over.
 */
#include "bootstrap/pmi/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_DIGITS 6

/* By version, then by operation: what is asked, and what must come back. */
static const struct {
    const char *request, *answer;
} commands[2][WSH_PMI_ABORT + 1] = {
    {[WSH_PMI_INIT] = {"init", "response_to_init"},
     [WSH_PMI_LIMITS] = {"get_maxes", "maxes"},
     [WSH_PMI_SPACE] = {"get_my_kvsname", "my_kvsname"},
     [WSH_PMI_PUT] = {"put", "put_result"},
     [WSH_PMI_FENCE] = {"barrier_in", "barrier_out"},
     [WSH_PMI_GET] = {"get", "get_result"},
     [WSH_PMI_ATTRIBUTE] = {"get", "get_result"},
     [WSH_PMI_FINALIZE] = {"finalize", "finalize_ack"},
     [WSH_PMI_ABORT] = {"abort", NULL}},
    {[WSH_PMI_INIT] = {"init", "response_to_init"},
     [WSH_PMI_JOIN] = {"fullinit", "fullinit-response"},
     [WSH_PMI_SPACE] = {"job-getid", "job-getid-response"},
     [WSH_PMI_PUT] = {"kvs-put", "kvs-put-response"},
     [WSH_PMI_FENCE] = {"kvs-fence", "kvs-fence-response"},
     [WSH_PMI_GET] = {"kvs-get", "kvs-get-response"},
     [WSH_PMI_ATTRIBUTE] = {"info-getjobattr", "info-getjobattr-response"},
     [WSH_PMI_FINALIZE] = {"finalize", "finalize-response"},
     [WSH_PMI_ABORT] = {"abort", NULL}},
};

const char *wsh_pmi_command(const struct wsh_pmi_session *session, enum wsh_pmi_op op)
{
    return commands[session->version == 2][op].request;
}

static bool is_framed(const struct wsh_pmi_session *session, enum wsh_pmi_op op)
{
    return session->version == 2 && op != WSH_PMI_INIT;
}

/* What both protocols take in a key and a value. */
static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || *text == ';' || *text == '=')
            return false;
    return true;
}

int wsh_pmi_number(const char *text, long min, long max, long *number)
{
    char *end;

    if (!text || !*text || strspn(text, "-0123456789") != strlen(text) || strlen(text) > 18)
        return -EINVAL;
    *number = strtol(text, &end, 10);
    return *end || *number < min || *number > max ? -EINVAL : 0;
}

/* One pair and what ends it. */
static int pair_add(struct wsh_pmi_message *message, bool framed, const char *key, const char *value)
{
    size_t room = sizeof message->text - message->len;
    int len;

    if (!is_plain(value))
        return -EINVAL;
    len = snprintf(message->text + message->len, room, framed ? "%s=%s;" : "%s=%s ", key, value);
    if (len < 0 || (size_t)len >= room)
        return -EMSGSIZE;
    message->len += (size_t)len;
    return 0;
}

/* Pairs of texts up to NULL; a pair without a value is left out. */
static int pairs_add(struct wsh_pmi_message *message, int framed, ...)
{
    const char *key;
    va_list pairs;
    int rc = 0;

    va_start(pairs, framed);
    while (!rc && (key = va_arg(pairs, const char *))) {
        const char *value = va_arg(pairs, const char *);

        if (value)
            rc = pair_add(message, framed, key, value);
    }
    va_end(pairs);
    return rc;
}

static int request_1(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *key,
                     const char *value, struct wsh_pmi_message *message)
{
    const char *space = key ? session->name : NULL;

    if (op == WSH_PMI_INIT)
        return pairs_add(message, false, "pmi_version", session->version == 2 ? "2" : "1", "pmi_subversion",
                         session->version == 2 ? "0" : "1", NULL);
    if (op == WSH_PMI_ABORT)
        return pairs_add(message, false, "exitcode", value, NULL);
    return pairs_add(message, false, "kvsname", space, "key", key, "value", value, NULL);
}

static int request_2(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *key,
                     const char *value, struct wsh_pmi_message *message)
{
    char rank[16];

    snprintf(rank, sizeof rank, "%d", session->rank);
    switch (op) {
    case WSH_PMI_JOIN:
        return pairs_add(message, true, "pmijobid", value, "pmirank", rank, "threaded", "FALSE", NULL);
    case WSH_PMI_GET:
        return pairs_add(message, true, "jobid", session->name, "srcid", "-1", "key", key, NULL);
    case WSH_PMI_ABORT: return pairs_add(message, true, "isworld", "TRUE", "msg", value, NULL);
    default: return pairs_add(message, true, "key", key, "value", value, NULL);
    }
}

/* PMI-1: the last blank becomes the end of the line. PMI-2: the length goes in front. */
static void frame_close(struct wsh_pmi_message *message, bool framed)
{
    char digits[16];

    if (!framed) {
        message->text[message->len - 1] = '\n';
        return;
    }
    snprintf(digits, sizeof digits, "%6u", (unsigned)(message->len - LENGTH_DIGITS));
    memcpy(message->text, digits, LENGTH_DIGITS);
}

int wsh_pmi_request(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *key,
                    const char *value, struct wsh_pmi_message *message)
{
    bool framed = is_framed(session, op);
    const char *command = wsh_pmi_command(session, op);
    int rc;

    if (!command)
        return -ENOTSUP;
    if ((key && strlen(key) > session->key_max) ||
        (value && session->value_max && strlen(value) > session->value_max))
        return -EMSGSIZE;
    message->len = framed ? LENGTH_DIGITS : 0;
    rc = pair_add(message, framed, "cmd", command);
    if (!rc)
        rc = (framed ? request_2 : request_1)(session, op, key, value, message);
    if (!rc)
        frame_close(message, framed);
    return rc;
}

/* Six characters: a number with blanks on either side, as servers differ. */
static long length_read(const char *bytes)
{
    char digits[LENGTH_DIGITS + 1];
    char *from = digits;
    long len;

    memcpy(digits, bytes, LENGTH_DIGITS);
    digits[LENGTH_DIGITS] = '\0';
    from += strspn(from, " ");
    from[strcspn(from, " ")] = '\0';
    if ((size_t)(from - digits) + strlen(from) < LENGTH_DIGITS) {
        const char *rest = from + strlen(from) + 1;

        if (rest[strspn(rest, " ")])
            return -EPROTO;
    }
    return wsh_pmi_number(from, 1, 999999, &len) ? -EPROTO : len;
}

long wsh_pmi_frame(const struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *bytes, size_t have)
{
    const char *end;
    long len;

    if (!is_framed(session, op)) {
        end = memchr(bytes, '\n', have);
        if (!end)
            return have >= WSH_PMI_MESSAGE ? -EMSGSIZE : 0;
        return end - bytes + 1 > WSH_PMI_MESSAGE ? -EMSGSIZE : end - bytes + 1;
    }
    if (have < LENGTH_DIGITS)
        return 0;
    len = length_read(bytes);
    if (len < 0)
        return len;
    len += LENGTH_DIGITS;
    if (len > WSH_PMI_MESSAGE)
        return -EMSGSIZE;
    return have < (size_t)len ? 0 : len;
}

/* Cuts the text into pairs in place. */
static void pairs_cut(struct wsh_pmi_answer *answer, const char *ends)
{
    char *rest = answer->text, *word;

    answer->n_pairs = 0;
    while ((word = strsep(&rest, ends)) &&
           answer->n_pairs < (int)(sizeof answer->pairs / sizeof answer->pairs[0])) {
        char *equals = strchr(word, '=');

        if (!equals)
            continue;
        *equals = '\0';
        answer->pairs[answer->n_pairs].key = word;
        answer->pairs[answer->n_pairs++].value = equals + 1;
    }
}

const char *wsh_pmi_value(const struct wsh_pmi_answer *answer, const char *key)
{
    for (int i = 0; i < answer->n_pairs; i++)
        if (!strcmp(answer->pairs[i].key, key))
            return answer->pairs[i].value;
    return NULL;
}

/* The server names its own version: ours, or the other one. */
static int version_read(struct wsh_pmi_session *session, const struct wsh_pmi_answer *answer, bool refused)
{
    long version;

    if (wsh_pmi_number(wsh_pmi_value(answer, "pmi_version"), 1, 2, &version))
        return -EPROTO;
    if (version == session->version)
        return refused ? -EREMOTEIO : 0;
    session->version = (int)version;
    return -EAGAIN;
}

/* Says the answer the same as the environment? */
static int join_read(const struct wsh_pmi_session *session, const struct wsh_pmi_answer *answer)
{
    long rank, size;

    if (wsh_pmi_number(wsh_pmi_value(answer, "rank"), 0, session->size - 1, &rank) || rank != session->rank)
        return -ERANGE;
    return wsh_pmi_number(wsh_pmi_value(answer, "size"), 1, session->size, &size) || size != session->size
               ? -ERANGE
               : 0;
}

/* A server counts the end of a text with it. Less than this is too little to be of use. */
static int limits_read(struct wsh_pmi_session *session, const struct wsh_pmi_answer *answer)
{
    long key, value;

    if (wsh_pmi_number(wsh_pmi_value(answer, "keylen_max"), 32, 1 << 30, &key) ||
        wsh_pmi_number(wsh_pmi_value(answer, "vallen_max"), 64, 1 << 30, &value))
        return -ERANGE;
    session->key_max = (size_t)(key < WSH_PMI_KEY ? key : WSH_PMI_KEY) - 1;
    session->value_max = (size_t)(value < WSH_PMI_VALUE ? value : WSH_PMI_VALUE) - 1;
    return 0;
}

static int space_read(struct wsh_pmi_session *session, const struct wsh_pmi_answer *answer)
{
    const char *name = wsh_pmi_value(answer, session->version == 2 ? "jobid" : "kvsname");

    if (!name || !*name || !is_plain(name) || strlen(name) >= sizeof session->name)
        return -ERANGE;
    memcpy(session->name, name, strlen(name) + 1);
    return 0;
}

/* PMI-2 says apart whether there is such a key; servers differ in the word. */
static int found_read(const struct wsh_pmi_session *session, const struct wsh_pmi_answer *answer)
{
    const char *found = wsh_pmi_value(answer, "found");

    if (session->version == 2 && !found)
        found = wsh_pmi_value(answer, "flag");
    if (session->version == 2 && (!found || strcmp(found, "TRUE")))
        return -EREMOTEIO;
    return wsh_pmi_value(answer, "value") ? 0 : -EPROTO;
}

static int answer_take(struct wsh_pmi_session *session, enum wsh_pmi_op op,
                       const struct wsh_pmi_answer *answer)
{
    const char *rc = wsh_pmi_value(answer, "rc"), *command = wsh_pmi_value(answer, "cmd");
    const char *wanted = commands[session->version == 2][op].answer;
    bool refused = rc && strcmp(rc, "0");

    if (!wanted || !command || strcmp(command, wanted))
        return -EPROTO;
    if (op == WSH_PMI_INIT)
        return version_read(session, answer, refused);
    if (refused)
        return -EREMOTEIO;
    switch (op) {
    case WSH_PMI_JOIN: return join_read(session, answer);
    case WSH_PMI_LIMITS: return limits_read(session, answer);
    case WSH_PMI_SPACE: return space_read(session, answer);
    case WSH_PMI_GET:
    case WSH_PMI_ATTRIBUTE: return found_read(session, answer);
    default: return 0;
    }
}

int wsh_pmi_read(struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *bytes, size_t len,
                 struct wsh_pmi_answer *answer)
{
    bool framed = is_framed(session, op);
    size_t skip = framed ? LENGTH_DIGITS : 0, end = framed ? 0 : 1;

    answer->n_pairs = 0;
    if (len > sizeof answer->text || len < skip + end || memchr(bytes, '\0', len))
        return -EPROTO;
    len -= skip + end;
    memcpy(answer->text, bytes + skip, len);
    answer->text[len] = '\0';
    pairs_cut(answer, framed ? ";" : " ");
    return answer_take(session, op, answer);
}
