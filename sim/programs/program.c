/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program's calls in rounds; a sync after each round, so that sources and results may be used again. */
#include "sim/programs/program.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct sim_call *calls;
    int n;
    size_t used; /* of the heap */
} program;

static const struct sim_work *work_find(const char *word, size_t len)
{
    for (const struct sim_work *const *work = sim_works; *work; work++)
        if (strlen((*work)->name) == len && !memcmp((*work)->name, word, len))
            return *work;
    return NULL;
}

static size_t reserve(size_t *end, size_t len)
{
    size_t at = *end;

    *end = (at + len + 63) & ~(size_t)63;
    return at;
}

const char *sim_program_read(const struct sim_options *set, struct sim_call calls[SIM_CALLS], int *n,
                             size_t *data_len)
{
    size_t area = sim_area_len(set->pes, set->per_host), end = area, more = 0;

    for (const char *word = set->program, *next; *word; word = *next ? next + 1 : next) {
        const struct sim_work *work;

        next = word + strcspn(word, ",");
        work = work_find(word, (size_t)(next - word));
        if (!work || *n == SIM_CALLS)
            return word;
        calls[*n] = (struct sim_call){.work = work, .len = set->len};
        calls[*n].us = calloc((size_t)set->rounds, sizeof(double));
        if (work->src_len) {
            calls[*n].src = reserve(&end, work->src_len(set->len, (size_t)set->pes));
            calls[*n].dest = reserve(&end, work->dest_len(set->len, (size_t)set->pes));
        }
        more += work->bytes ? work->bytes(set) : 0;
        ++*n;
    }
    *data_len = end - area + more;
    program.used = end;
    return NULL;
}

bool sim_program_keeps_twice(const struct sim_call *calls, int n)
{
    int keeping = 0;

    for (int i = 0; i < n; i++)
        keeping += calls[i].work->begin != NULL;
    return keeping > 1;
}

/* A PE enters. Times are those of calls that all have entered: the last one ends what the first one began. */
static void call_enter(struct sim_call *call, struct sim_pe *pe)
{
    pe->before = pe->given;
    call->entered++;
    call->last_in = sim.host[pe->host].last_in = sim.now;
}

static void call_tally(struct sim_call *call, const struct sim_pe *pe)
{
    struct sim_tally *sum = &call->given;
    const struct sim_tally *now = &pe->given, *before = &pe->before;

    sum->messages += now->messages - before->messages;
    sum->credits += now->credits - before->credits;
    sum->bytes += now->bytes - before->bytes;
    sum->least_messages += now->least_messages - before->least_messages;
    sum->least_bytes += now->least_bytes - before->least_bytes;
}

/* Few hosts in full may drift apart, each in step with its like: a call's time is then that of the slowest host. */
static void call_time(struct sim_call *call, int round, const struct sim_pe *pe)
{
    bool all = sim.n_full == sim.n_pes;
    double us = (double)(sim.now - (all ? call->last_in : sim.host[pe->host].last_in)) * 1e-6;

    if (all ? call->left == (uint64_t)sim.n_pes * (uint64_t)(round + 1) : us > call->us[round])
        call->us[round] = us;
}

static void call_leave(struct sim_call *call, int round, const struct sim_pe *pe)
{
    bool syncs = call->work->src_len && !call->work->src_len(8, 1) && !call->work->dest_len(8, 1);

    if (syncs && sim.n_full == sim.n_pes && call->entered < (uint64_t)sim.n_pes * (uint64_t)(round + 1))
        sim_violation("%s, call %d: PE %d has left the call before all have entered", call->work->name, round,
                      pe->number);
    call->left++;
    call_tally(call, pe);
    call_time(call, round, pe);
}

static int works_begin(struct sim_pe *pe)
{
    int rc = 0;

    pe->used = program.used;
    for (int i = 0; i < program.n && !rc; i++)
        if (program.calls[i].work->begin)
            rc = program.calls[i].work->begin(pe);
    return rc;
}

static void works_end(struct sim_pe *pe)
{
    for (int i = 0; i < program.n; i++)
        if (program.calls[i].work->end)
            program.calls[i].work->end(pe);
}

static int prepare(struct sim_pe *pe, const struct sim_call *call, uint64_t round)
{
    int rc = call->work->prepare ? call->work->prepare(pe, round) : 0;

    return rc || !call->work->prepare ? rc : wsh_sync(&pe->team, "what comes before a call");
}

static void pe_program(struct sim_pe *pe)
{
    int rc = works_begin(pe);

    for (int round = 0; round < sim.set.rounds && !rc; round++) {
        for (int i = 0; i < program.n && !rc; i++) {
            struct sim_call *call = &program.calls[i];

            if (sim.set.skew > 0)
                sim_sleep(sim_below(&pe->random, (uint64_t)(sim.set.skew * 1000)));
            pe->round = (uint64_t)round;
            rc = prepare(pe, call, (uint64_t)round);
            call_enter(call, pe);
            if (!rc)
                rc = call->work->run(pe, call, (uint64_t)round);
            sim_settle(); /* what it has copied last */
            call_leave(call, round, pe);
            sim.debt = 0;
        }
        if (!rc)
            rc = wsh_sync(&pe->team, "the end of a round");
    }
    if (rc)
        sim_violation("PE %d: a call has failed: %d", pe->number, rc);
    else
        works_end(pe);
}

static int check_quiet(void)
{
    for (int i = 0; i < sim.n_pes; i++)
        for (int c = 0; c < SIM_CTXS; c++)
            if (wsh_srd_ctx_pending(&sim.pe[i].ctx[c].srd)) {
                sim_violation("PE %d: operations are pending, though nothing is under way", i);
                return -EPROTO;
            }
    return 0;
}

int sim_program_run(struct sim_call *calls, int n)
{
    int rc;

    program.calls = calls;
    program.n = n;
    sim_enter(&sim.pe[0]);
    sim_mirror_open(&calls[0]);
    rc = sim_run(pe_program);
    return rc ? rc : check_quiet();
}
