/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of row of wait measures: kind = (measure * WAIT_WORDS + words) * WAIT_HOWS + how. */
#ifndef PERFTEST_DEVICE_WAIT_H
#define PERFTEST_DEVICE_WAIT_H

#include "perftest/device/rows.h"

enum wait_measure { WAIT_WAKE, WAIT_INCOMING, WAIT_ISSUE, WAIT_MEASURES };
enum wait_words { WAIT_OWN, WAIT_ONE, WAIT_WORDS };
enum wait_how { WAIT_UNTIL, WAIT_ACQUIRE, WAIT_VOLATILE, WAIT_FETCH, WAIT_HOWS };

enum {
    WAIT_INCOMING_NONE =
        WAIT_MEASURES * WAIT_WORDS * WAIT_HOWS, /* nobody waits: what the others are compared with */
    WAIT_ISSUE_NONE,
    WAIT_KINDS
};

#define WAIT_COPY ((size_t)64 << 20) /* bytes that come in */

extern const struct dev_kind wait_kinds[WAIT_KINDS];

/* Keeps the row's median, and after the rows prints wait_until beside the best loop of each: comments. */
void wait_claims_keep(const struct dev_row *row, double us);
void wait_claims_print(FILE *to);

#endif
