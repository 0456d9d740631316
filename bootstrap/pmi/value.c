/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns bytes into text that PMI takes, and reads on which host the launcher put each PE. */
#include "bootstrap/pmi/value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char *wsh_pmi_encode(const void *bytes, size_t len, size_t *chars)
{
    const unsigned char *from = bytes;
    char *text, *to;
    uint32_t bits = 0;
    int have = 0;

    *chars = len / 3 * 4 + (len % 3 ? len % 3 + 1 : 0);
    to = text = malloc(*chars + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        bits = bits << 8 | from[i];
        for (have += 8; have >= 6; have -= 6)
            *to++ = digits[bits >> (have - 6) & 63];
    }
    if (have)
        *to++ = digits[bits << (6 - have) & 63];
    *to = '\0';
    return text;
}

long wsh_pmi_decode(char *text, size_t chars)
{
    unsigned char *to = (unsigned char *)text;
    uint32_t bits = 0;
    int have = 0;

    if (chars % 4 == 1)
        return -EPROTO;
    for (size_t i = 0; i < chars; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;

        if (!digit)
            return -EPROTO;
        bits = bits << 6 | (uint32_t)(digit - digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            *to++ = (unsigned char)(bits >> have);
        }
    }
    return (char *)to - text;
}

struct block {
    int first, hosts, pes;
};

/* One block behind a comma. Returns what follows it, NULL at the end of the vector or where there is none. */
static const char *block_read(const char *at, struct block *block)
{
    int used = 0;

    if (sscanf(at, ",(%9d,%9d,%9d)%n", &block->first, &block->hosts, &block->pes, &used) != 3 || !used)
        return NULL;
    return block->first < 0 || block->hosts < 1 || block->pes < 1 ? NULL : at + used;
}

/* All blocks are whole and the text ends behind them. */
static bool is_vector(const char *blocks)
{
    struct block block;
    const char *next;
    int n = 0;

    while ((next = block_read(blocks, &block))) {
        blocks = next;
        n++;
    }
    return n && !strcmp(blocks, ")");
}

/* The place of one host's PEs in the numbering of the PEs. */
struct locality {
    int rank, size;       /* the PE looked for, and how many PEs there are */
    int host;             /* its host; -1: to be found */
    int before, together; /* PEs of that host below `rank`, and in all */
};

/* PEs `from` to `to` - 1 are on `host`. */
static void locality_count(struct locality *locality, int host, int from, int to)
{
    if (locality->host < 0 && from <= locality->rank && locality->rank < to)
        locality->host = host;
    if (host != locality->host)
        return;
    locality->together += to - from;
    if (from < locality->rank)
        locality->before += (to < locality->rank ? to : locality->rank) - from;
}

/* Goes through the PEs; each step is at least one of them. */
static void locality_walk(struct locality *locality, const char *blocks)
{
    int pe = 0;

    locality->before = locality->together = 0;
    while (pe < locality->size) {
        struct block block;

        for (const char *at = blocks; (at = block_read(at, &block));)
            for (int i = 0; i < block.hosts && pe < locality->size; i++) {
                int n = block.pes < locality->size - pe ? block.pes : locality->size - pe;

                locality_count(locality, block.first + i, pe, pe + n);
                pe += n;
            }
    }
}

int wsh_pmi_mapping(const char *text, int rank, int size, int *local_rank, int *local_size)
{
    static const char head[] = "(vector";
    struct locality locality = {rank, size, -1, 0, 0};

    if (strncmp(text, head, sizeof head - 1) || !is_vector(text + sizeof head - 1))
        return -EPROTO;
    locality_walk(&locality, text + sizeof head - 1);
    locality_walk(&locality, text + sizeof head - 1); /* now that the host is known, from the first PE on */
    *local_rank = locality.before;
    *local_size = locality.together;
    return 0;
}
