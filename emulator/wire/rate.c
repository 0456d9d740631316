/* SPDX-License-Identifier: BSD-3-Clause */
/* The time model. */
#include "emulator/wire/rate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SCALE (1.0 / 40)
/* What a message costs its NIC: with 100 Gb/s, messages of 8 KiB then reach about three quarters of the rate. */
#define MESSAGE_NS 200

void emu_rate_init(struct emu_rate *rate, const struct emu_profile *profile, double scale)
{
    *rate = (struct emu_rate){.latency_ns = profile->latency_us * 1000ull};
    if (scale <= 0)
        return;
    rate->ns_per_byte = 8.0 / profile->gbps / scale;
    rate->message_ns = (uint64_t)(MESSAGE_NS / scale);
    rate->latency_ns = (uint64_t)((double)rate->latency_ns / scale);
}

uint64_t emu_rate_depart(const struct emu_rate *rate, uint64_t now, uint32_t len, bool first, uint64_t *busy)
{
    if (rate->ns_per_byte == 0)
        return now;
    if (*busy < now)
        *busy = now;
    *busy += (uint64_t)(len * rate->ns_per_byte) + (first ? rate->message_ns : 0);
    return *busy;
}

uint64_t emu_rate_arrive(const struct emu_rate *rate, uint64_t departed, uint32_t len, uint64_t busy)
{
    uint64_t on_arrival = departed + rate->latency_ns;
    uint64_t taken = busy + (uint64_t)(len * rate->ns_per_byte);

    return rate->ns_per_byte == 0 || on_arrival > taken ? on_arrival : taken;
}

int emu_rate_parse(const char *text, double *scale)
{
    char *end;
    double number;

    if (!strcmp(text, "1")) {
        *scale = DEFAULT_SCALE;
        return 0;
    }
    number = strtod(text, &end);
    if (end == text || number <= 0)
        return -EINVAL;
    if (*end == '/') {
        char *rest;
        double below = strtod(end + 1, &rest);

        if (rest == end + 1 || below <= 0)
            return -EINVAL;
        number /= below;
        end = rest;
    }
    *scale = number;
    return *end ? -EINVAL : 0;
}
