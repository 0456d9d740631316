/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares, among the members of a team, the text of their collective calls, and finds which members differ. */
#include "runtime/api/check/collectives.h"

#include "runtime/api/api.h"
#include "runtime/api/check/overwrite.h"
#include "base/log.h"
#include "runtime/coll/coll.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS 31 /* of a call's text; twice as many fit an LL line */
_Static_assert(2 * WORDS * sizeof(uint64_t) <= WSH_LL_DATA, "a call and its complement fit one LL line");

union call {
    uint64_t words[WORDS];
    char text[WORDS * sizeof(uint64_t)];
};

struct comparison {
    struct wsh_team *team;
    const union call *mine;
};

static void words_combine(const struct comparison *comparison, uint64_t *words, size_t n, enum wsh_reduce op)
{
    int rc = wsh_reduce_small(comparison->team, words, words, n, wsh_arith_find(op, WSH_NUM_U64),
                              comparison->mine->text);

    if (rc && !wsh_coll_met_failure(comparison->team, comparison->mine->text, rc))
        wsh_abort(1);
}

/* The calls are equal if each bit is set in all of them or in none. */
static bool all_same(const struct comparison *comparison)
{
    uint64_t both[2 * WORDS];
    bool same = true;

    for (int w = 0; w < WORDS; w++) {
        both[w] = comparison->mine->words[w];
        both[WORDS + w] = ~both[w];
    }
    words_combine(comparison, both, 2 * WORDS, WSH_REDUCE_AND);
    for (int w = 0; w < WORDS; w++)
        same &= both[w] == ~both[WORDS + w];
    return same;
}

/* The call of one member, sent to all. */
static union call call_of(const struct comparison *comparison, int member)
{
    union call call = {{0}};

    if (comparison->team->my_pe == member)
        call = *comparison->mine;
    words_combine(comparison, call.words, WORDS, WSH_REDUCE_OR);
    return call;
}

static int first_unlike(const struct comparison *comparison, const union call *call)
{
    const struct wsh_team *team = comparison->team;
    uint64_t member =
        memcmp(call, comparison->mine, sizeof *call) ? (uint64_t)team->my_pe : (uint64_t)team->n_pes;

    words_combine(comparison, &member, 1, WSH_REDUCE_MIN);
    return (int)member;
}

/* Called by all members; the first one prints the message, while the others wait for the end of the job. */
static _Noreturn void call_refuse(const struct comparison *comparison)
{
    const struct wsh_team *team = comparison->team;
    const union call first = call_of(comparison, 0);
    int unlike = first_unlike(comparison, &first);
    const union call other = call_of(comparison, unlike);

    if (team->my_pe == 0)
        wsh_error("%s on PE %d, but %s on PE %d: all PEs of a team call the same collectives with equal "
                  "arguments in "
                  "the same order",
                  first.text, team->members[0], other.text, team->members[unlike]);
    else
        wsh_sync(comparison->team, comparison->mine->text);
    wsh_abort(1);
}

void wsh_check_same(const char *what, struct wsh_team *team, const char *fmt, ...)
{
    union call call = {{0}};
    const struct comparison comparison = {team, &call};
    char args[sizeof call - 80];
    va_list list;

    wsh_overwrite_forget(NULL); /* who comes to a collective may have seen what was put before */
    if (team->n_pes == 1 || team->broken)
        return;
    va_start(list, fmt);
    vsnprintf(args, sizeof args, fmt, list);
    va_end(list);
    snprintf(call.text, sizeof call.text, "%.*s%s%s%s", (int)strcspn(what, ":"), what, *args ? " (" : "",
             args, *args ? ")" : "");
    if (!all_same(&comparison))
        call_refuse(&comparison);
}

/* Where an address is, in words that are the same on all PEs. */
static void name_address(const void *addr, char *text, size_t size)
{
    size_t off = 0;
    int seg = wsh_heap_find(&wsh_job.heap, addr, 1, &off);

    if (seg < 0)
        snprintf(text, size, addr ? "memory that is not symmetric" : "NULL");
    else
        snprintf(text, size, "%s + %#zx",
                 seg == WSH_SEG_HEAP     ? "heap"
                 : seg == WSH_SEG_STATIC ? "static data"
                                         : "device memory",
                 off);
}

void wsh_check_same_data(const char *what, struct wsh_team *team, const struct wsh_check_data *data)
{
    char text[160] = "", name[48];
    size_t used = 0;

    if (data->len != WSH_CHECK_ANY)
        used += (size_t)snprintf(text, sizeof text, "%zu bytes", data->len);
    if (data->len) {
        name_address(data->dest, name, sizeof name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%sto %s", used ? " " : "", name);
    }
    if (data->len && data->source) {
        name_address(data->source, name, sizeof name);
        used += (size_t)snprintf(text + used, sizeof text - used, " from %s", name);
    }
    if (data->root >= 0)
        used += (size_t)snprintf(text + used, sizeof text - used, ", PE_root %d", data->root);
    if (data->dst)
        snprintf(text + used, sizeof text - used, ", dst %td, sst %td", data->dst, data->sst);
    wsh_check_same(what, team, "%s", text);
}

void wsh_check_collected(struct wsh_team *team, const struct wsh_check_arrays *arrays)
{
    struct wsh_check_arrays all = *arrays;
    uint64_t sum = arrays->dest_len;
    size_t off;
    int rc = team->broken ? -EOWNERDEAD
                          : wsh_reduce_small(team, &sum, &sum, 1, wsh_arith_find(WSH_REDUCE_SUM, WSH_NUM_U64),
                                             "shmem_collect");

    if (rc && !wsh_coll_met_failure(team, "shmem_collect", rc))
        wsh_abort(1);
    if (rc)
        return;
    all.dest_len = sum;
    if (sum && wsh_heap_find(&wsh_job.heap, all.dest, sum, &off) >= 0)
        wsh_check_arrays(&all);
}

void wsh_check_same_block(const char *what, const void *ptr, size_t size)
{
    char name[48];

    name_address(ptr, name, sizeof name);
    if (size == WSH_CHECK_ANY)
        wsh_check_same(what, wsh_job.all, "%s", name);
    else
        wsh_check_same(what, wsh_job.all, "%s, %zu bytes", name, size);
}
