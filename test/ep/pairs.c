/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters, their constraints, and the table: each case is the best of some that are improved value by value. */
#include "test/ep/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { VALUES = 8, TRIES = 40 };

const struct pairs_parameter pairs_parameters[PAIRS_PARAMETERS] = {
    {"mode", {"low", "high"}},
    {"dtype", {"bf16", "fp8", "ue8m0"}},
    {"routing", {"uniform", "zipf", "hot", "empty", "holes", "edge", "mixed"}},
    {"pes", {"1", "2", "3", "4", "6", "8"}},
    {"hosts", {"1", "2", "4"}},
    {"route", {"direct", "onecopy"}},
    {"tokens", {"0", "1", "37", "64"}},
    {"hidden", {"128", "256", "1024", "7168"}},
    {"topk", {"1", "2", "8", "16"}},
    {"experts", {"1", "2", "4", "16"}},
    {"path", {"local", "mixed", "mixedefa"}},
    {"window", {"512", "8"}},
    {"halves", {"no", "yes"}},
    {"coded", {"no", "yes"}},
    {"kept", {"no", "yes"}},
    {"buffers", {"no", "yes"}},
};

/* The table while it is made. */
struct table {
    bool wanted[PAIRS_PARAMETERS][VALUES][PAIRS_PARAMETERS][VALUES]; /* [a][of a][b][of b], a < b */
    uint64_t state;                                                  /* of random numbers */
};

int pairs_values(int parameter)
{
    int n = 0;

    while (pairs_parameters[parameter].values[n])
        n++;
    return n;
}

static int number(const struct pairs_case *one, int parameter)
{
    return atoi(pairs_parameters[parameter].values[one->value[parameter]]);
}

bool pairs_valid(const struct pairs_case *one)
{
    int pes = number(one, PAIRS_PES), hosts = number(one, PAIRS_HOSTS);

    return pes % hosts == 0 && pes * number(one, PAIRS_EXPERTS) >= number(one, PAIRS_TOPK) &&
           (hosts == 1) == (one->value[PAIRS_PATH] == PAIRS_LOCAL) &&
           (hosts > 1 || one->value[PAIRS_ROUTE] == REF_DIRECT) &&
           (!one->value[PAIRS_CODED] || one->value[PAIRS_DTYPE] != REF_BF16);
}

static int draw(struct table *table, int limit)
{
    table->state = table->state * 6364136223846793005u + 1442695040888963407u;
    return (int)((table->state >> 33) % (uint64_t)limit);
}

/* Fills with random values all parameters but two (or none: -1) until the case is valid; false where it never is. */
static bool fill(struct table *table, struct pairs_case *one, int a, int b)
{
    for (int tries = 0; tries < 5000; tries++) {
        for (int p = 0; p < PAIRS_PARAMETERS; p++)
            if (p != a && p != b)
                one->value[p] = (unsigned char)draw(table, pairs_values(p));
        if (pairs_valid(one))
            return true;
    }
    return false;
}

static int count_new(const struct table *table, const struct pairs_case *one)
{
    int n = 0;

    for (int a = 0; a < PAIRS_PARAMETERS; a++)
        for (int b = a + 1; b < PAIRS_PARAMETERS; b++)
            n += table->wanted[a][one->value[a]][b][one->value[b]];
    return n;
}

/* Takes for each parameter but a and b, beginning with a random one, the value with which most is new. */
static int improve(struct table *table, struct pairs_case *one, int a, int b)
{
    int best = count_new(table, one), first = draw(table, PAIRS_PARAMETERS);

    for (int i = 0; i < 2 * PAIRS_PARAMETERS; i++) {
        int p = (first + i) % PAIRS_PARAMETERS;
        for (int value = 0; value < pairs_values(p) && p != a && p != b; value++) {
            unsigned char before = one->value[p];
            one->value[p] = (unsigned char)value;
            int n = pairs_valid(one) ? count_new(table, one) : -1;
            if (n > best)
                best = n;
            else
                one->value[p] = before;
        }
    }
    return best;
}

/* The best of some cases in which parameters a and b have the given values. */
static struct pairs_case best_with(struct table *table, struct pairs_case start, int a, int b)
{
    struct pairs_case best = start;
    int most = 0;

    for (int tries = 0; tries < TRIES; tries++) {
        struct pairs_case one = start;
        if (!fill(table, &one, a, b))
            continue;
        int n = improve(table, &one, a, b);
        if (n > most) {
            most = n;
            best = one;
        }
    }
    return best;
}

static void take(struct table *table, const struct pairs_case *one)
{
    for (int a = 0; a < PAIRS_PARAMETERS; a++)
        for (int b = a + 1; b < PAIRS_PARAMETERS; b++)
            table->wanted[a][one->value[a]][b][one->value[b]] = false;
}

/* Calls `each` with every pair of values, the parameters with many values first. */
static void each_pair(struct table *table,
                      void (*each)(struct table *, struct pairs_case, int a, int b, void *), void *arg)
{
    for (int product = VALUES * VALUES; product > 0; product--) {
        for (int a = 0; a < PAIRS_PARAMETERS; a++) {
            for (int b = a + 1; b < PAIRS_PARAMETERS; b++) {
                for (int at = 0; at < product && pairs_values(a) * pairs_values(b) == product; at++) {
                    struct pairs_case one = {{0}};
                    one.value[a] = (unsigned char)(at / pairs_values(b));
                    one.value[b] = (unsigned char)(at % pairs_values(b));
                    each(table, one, a, b, arg);
                }
            }
        }
    }
}

static void want(struct table *table, struct pairs_case one, int a, int b, void *arg)
{
    struct pairs_case filled = one;

    (void)arg;
    table->wanted[a][one.value[a]][b][one.value[b]] = fill(table, &filled, a, b);
}

/* The cases that are there already. */
struct made {
    struct pairs_case *cases;
    int n;
};

static void cover(struct table *table, struct pairs_case one, int a, int b, void *arg)
{
    struct made *made = arg;

    if (!table->wanted[a][one.value[a]][b][one.value[b]] || made->n == PAIRS_MOST)
        return;
    struct pairs_case best = best_with(table, one, a, b);
    take(table, &best);
    made->cases[made->n++] = best;
}

/* So that the first cases have as many pairs as so many cases can. */
static void put_in_order(struct table *table, struct made *made)
{
    each_pair(table, want, NULL);
    for (int at = 0; at < made->n; at++) {
        int best = at;
        for (int i = at + 1; i < made->n; i++)
            if (count_new(table, &made->cases[i]) > count_new(table, &made->cases[best]))
                best = i;
        struct pairs_case one = made->cases[best];
        made->cases[best] = made->cases[at];
        made->cases[at] = one;
        take(table, &one);
    }
}

int pairs_make(struct pairs_case cases[PAIRS_MOST])
{
    static struct table table;
    struct made made = {cases, 0};

    memset(&table, 0, sizeof table);
    table.state = 1;
    each_pair(&table, want, NULL);
    each_pair(&table, cover, &made);
    put_in_order(&table, &made);
    return made.n;
}
