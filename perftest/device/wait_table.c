/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of rows of wait, their grids, and the comparison after them. */
#include "perftest/device/wait.h"

#define HOWS(MEASURE, UNIT, WHAT)                                                             \
    {MEASURE "_wait_until", UNIT, 0, DEV_FIXED, 0, WHAT " by signal_wait_until"},             \
        {MEASURE "_acquire", UNIT, 0, DEV_FIXED, 0, WHAT " by a bare ld.acquire.sys loop"},   \
        {MEASURE "_volatile", UNIT, 0, DEV_FIXED, 0, WHAT " by a volatile loop and a fence"}, \
    {                                                                                         \
        MEASURE "_fetch", UNIT, 0, DEV_FIXED, 0, WHAT " by a loop of signal_fetch"            \
    }

const struct dev_kind wait_kinds[WAIT_KINDS] = {
    HOWS("wake_own", DEV_US, "from the writes to the last return, each thread on its own word,"),
    HOWS("wake_one", DEV_US, "from the write to the last return, all threads on one word,"),
    HOWS("incoming_own", DEV_GBS, "a copy from the host while threads wait, each on its own word,"),
    HOWS("incoming_one", DEV_GBS, "a copy from the host while threads wait on one word"),
    HOWS("issue_own", DEV_US, "8 warps that compute on the SM of threads that wait, each on its own word,"),
    HOWS("issue_one", DEV_US, "8 warps that compute on the SM of threads that wait on one word"),
    {"incoming_none", DEV_GBS, 0, DEV_FIXED, 0, "a copy from the host while nobody waits"},
    {"issue_none", DEV_US, 0, DEV_FIXED, 0, "8 warps that compute on an SM where nobody waits"},
};

#define GRIDS "1x1,1x32,1x1024"
#define SHAPES(KIND, SIZE)                                                                            \
    {(KIND) + WAIT_UNTIL, DEV_THREAD, SIZE, GRIDS}, {(KIND) + WAIT_ACQUIRE, DEV_THREAD, SIZE, GRIDS}, \
        {(KIND) + WAIT_VOLATILE, DEV_THREAD, SIZE, GRIDS},                                            \
    {                                                                                                 \
        (KIND) + WAIT_FETCH, DEV_THREAD, SIZE, GRIDS                                                  \
    }

static const struct dev_shape shapes[] = {
    SHAPES(0 * WAIT_HOWS, "8"),
    SHAPES(1 * WAIT_HOWS, "8"),
    {WAIT_INCOMING_NONE, DEV_THREAD, "64M", "1x1"},
    SHAPES(2 * WAIT_HOWS, "64M"),
    SHAPES(3 * WAIT_HOWS, "64M"),
    {WAIT_ISSUE_NONE, DEV_THREAD, "8", "1x1"},
    SHAPES(4 * WAIT_HOWS, "8"),
    SHAPES(5 * WAIT_HOWS, "8"),
};

static bool possible(const struct dev_row *row, int pes)
{
    (void)row;
    (void)pes;
    return true;
}

const struct dev_table dev_table = {
    .name = "wait",
    .what = "Threads of a block that wait for words which another SM writes as a NIC would, beside poll "
            "loops; one PE",
    .kinds = wait_kinds,
    .shapes = shapes,
    .n_kinds = WAIT_KINDS,
    .n_shapes = sizeof shapes / sizeof shapes[0],
    .possible = possible,
};

enum { GRIDS_MAX = 3 };

static double medians[WAIT_KINDS][GRIDS_MAX];
static const int threads_of[GRIDS_MAX] = {1, 32, 1024};

void wait_claims_keep(const struct dev_row *row, double us)
{
    for (int g = 0; g < GRIDS_MAX; g++)
        if (row->threads == threads_of[g])
            medians[row->kind][g] = us;
}

/* The loop that took least, or 0: not all were measured. */
static int best_loop(int first, int grid)
{
    int best = WAIT_ACQUIRE;

    for (int how = WAIT_UNTIL; how < WAIT_HOWS; how++)
        if (medians[first + how][grid] <= 0)
            return 0;
    for (int how = WAIT_ACQUIRE; how < WAIT_HOWS; how++)
        if (medians[first + how][grid] < medians[first + best][grid])
            best = how;
    return best;
}

/* The part of bandwidth, or of computing, that waiters take. */
static double loss(double none, double us)
{
    return none > 0 ? 100 * (1 - none / us) : 0;
}

void wait_claims_print(FILE *to)
{
    for (int first = 0; first < WAIT_INCOMING_NONE; first += WAIT_HOWS) {
        int measure = first / WAIT_HOWS / WAIT_WORDS;
        double none = medians[measure == WAIT_INCOMING ? WAIT_INCOMING_NONE : WAIT_ISSUE_NONE][0];

        for (int g = 0; g < GRIDS_MAX; g++) {
            int best = best_loop(first, g);
            double us = medians[first][g], other = medians[first + best][g];

            if (!best)
                continue;
            fprintf(to, "# %-24s %4d threads: %.4g us, best loop (%s) %.4g us, ratio %.3f",
                    wait_kinds[first].name, threads_of[g], us, wait_kinds[first + best].name, other,
                    us / other);
            if (measure != WAIT_WAKE)
                fprintf(to, "; taken from %s: %.1f %% and %.1f %%",
                        measure == WAIT_INCOMING ? "incoming bandwidth" : "issue slots", loss(none, us),
                        loss(none, other));
            fprintf(to, "%s\n", us > 1.03 * other ? " LOST" : "");
        }
    }
}
