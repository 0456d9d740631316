/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts bytes into pieces that fit into values of PMI, and puts what other PEs have cut together again. */
#include "bootstrap/pmi/keys.h"

#include "bootstrap/pmi/value.h"
#include "base/err.h"
#include "base/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a blob as far as it has been read. */
struct reading {
    char *text;
    size_t have, chars;
};

void wsh_pmi_key(const struct wsh_blob_id *id, int piece, char *key)
{
    snprintf(key, WSH_PMI_KEY, "wsh%x.%x.%x.%x", id->generation, id->round, id->pe, (unsigned)piece);
}

static int out_of_memory(size_t len)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", len);
    return -ENOMEM;
}

int wsh_pmi_damaged(const struct wsh_blob_id *id)
{
    wsh_error("PE %u published something else in round %u (through PMI); do all PEs run the same program?",
              id->pe, id->round);
    return -EPROTO;
}

/* The first piece begins with the number of characters in all. */
static int text_put(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, const char *text, size_t chars)
{
    int rc = 0;

    for (int piece = 0; !rc && (!piece || chars); piece++) {
        char key[WSH_PMI_KEY], value[WSH_PMI_VALUE];
        size_t used = piece ? 0 : (size_t)snprintf(value, sizeof value, "%zu.", chars);
        size_t room = talk->session.value_max - used, n = chars < room ? chars : room;
        struct wsh_pmi_answer answer;

        memcpy(value + used, text, n);
        value[used + n] = '\0';
        text += n;
        chars -= n;
        wsh_pmi_key(id, piece, key);
        rc = wsh_pmi_talk_request(talk, WSH_PMI_PUT, key, value, &answer);
    }
    return rc;
}

int wsh_pmi_bytes_put(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, const void *bytes, size_t len)
{
    size_t chars;
    char *text = wsh_pmi_encode(bytes, len, &chars);
    int rc;

    if (!text)
        return out_of_memory(len);
    rc = text_put(talk, id, text, chars);
    free(text);
    return rc;
}

/* Takes the number of characters from the first piece. Returns where the text begins, or NULL. */
static const char *reading_begin(struct reading *reading, const char *value)
{
    size_t digits = strspn(value, "0123456789");

    if (!digits || digits > 9 || value[digits] != '.')
        return NULL;
    reading->chars = (size_t)atol(value);
    return reading->chars > WSH_PMI_TEXT_MAX ? NULL : value + digits + 1;
}

static int piece_get(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, int piece,
                     struct reading *reading)
{
    struct wsh_pmi_answer answer;
    char key[WSH_PMI_KEY];
    const char *value;
    size_t n;
    int rc;

    wsh_pmi_key(id, piece, key);
    rc = wsh_pmi_talk_request(talk, WSH_PMI_GET, key, NULL, &answer);
    if (rc)
        return rc;
    value = wsh_pmi_value(&answer, "value");
    if (!piece) {
        value = reading_begin(reading, value);
        reading->text = value ? malloc(reading->chars + 1) : NULL;
        if (!reading->text)
            return value ? out_of_memory(reading->chars) : wsh_pmi_damaged(id);
    }
    n = strlen(value);
    if (n > reading->chars - reading->have || (!n && reading->chars))
        return wsh_pmi_damaged(id);
    memcpy(reading->text + reading->have, value, n);
    reading->have += n;
    return 0;
}

int wsh_pmi_bytes_get(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, void **bytes, size_t *len)
{
    struct reading reading = {0};
    long n = 0;
    int rc = 0;

    for (int piece = 0; !rc && (!piece || reading.have < reading.chars); piece++)
        rc = piece_get(talk, id, piece, &reading);
    if (!rc) {
        n = wsh_pmi_decode(reading.text, reading.chars);
        rc = n < 0 ? wsh_pmi_damaged(id) : 0;
    }
    if (rc) {
        free(reading.text);
        return rc;
    }
    *bytes = reading.text;
    *len = (size_t)n;
    return 0;
}
