/* SPDX-License-Identifier: BSD-3-Clause */
/* The secret of a job, which only its PEs and its launcher know, the tags made of it, and random bytes. */
#define _GNU_SOURCE
#include "base/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int wsh_random_fill(void *bytes, size_t len)
{
    unsigned char *at = bytes;

    while (len) {
        ssize_t n = getrandom(at, len, 0);

        if (n < 0 && errno != EINTR)
            return -errno;
        at += n < 0 ? 0 : n;
        len -= n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

void wsh_secret_print(const struct wsh_secret *secret, char text[WSH_SECRET_TEXT])
{
    for (int i = 0; i < WSH_SIPHASH_KEY; i++)
        snprintf(text + 2 * i, 3, "%02x", secret->key[i]);
}

static int digit_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

int wsh_secret_parse(struct wsh_secret *secret, const char *text)
{
    if (strlen(text) != WSH_SECRET_TEXT - 1)
        return -EINVAL;
    for (int i = 0; i < WSH_SIPHASH_KEY; i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return -EINVAL;
        secret->key[i] = (unsigned char)(16 * high + low);
    }
    return 0;
}

uint64_t wsh_secret_tag(const struct wsh_secret *secret, uint32_t source, uint32_t target,
                        uint32_t generation)
{
    const uint32_t words[] = {source, target, generation};

    return wsh_siphash(secret->key, words, sizeof words);
}
