/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs PEs and the network in the order of simulated time. */
#include "sim/mirror.h"

#include <stdarg.h>
#include <stdio.h>

static void (*program)(struct sim_pe *pe);

void sim_violation(const char *format, ...)
{
    va_list args;

    if (sim.stopped)
        return;
    sim.stopped = true;
    va_start(args, format);
    printf("VIOLATION at %.3f us (seed %llu): ", (double)sim.now * 1e-6, (unsigned long long)sim.set.seed);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

/* When the PE has had so much CPU time: on a shared machine the core that is free first gives it. */
static sim_time cpu_time(const struct sim_pe *pe, sim_time cost)
{
    struct sim_core *core = sim.core;

    if (!sim.set.cores)
        return sim.now + cost;
    for (int i = 0; i < sim.set.cores; i++) {
        if (sim.core[i].last == pe) {
            core = &sim.core[i];
            break;
        }
        if (sim.core[i].free_from < core->free_from)
            core = &sim.core[i];
    }
    if (core->free_from < sim.now)
        core->free_from = sim.now;
    core->free_from += cost + (core->last == pe ? 0 : (sim_time)(sim.set.turn * 1000));
    core->last = pe;
    return core->free_from;
}

static void resume_at(struct sim_pe *pe, sim_time at)
{
    pe->waking = true;
    sim_events_add(at, SIM_RESUME, pe);
}

void sim_sleep(sim_time time)
{
    struct sim_pe *pe = sim.running;

    sim.debt = 0;
    resume_at(pe, sim.now + time);
    sim_fiber_yield(&pe->fiber);
}

void sim_spend(sim_time cost)
{
    sim.debt += cost;
    sim_settle();
}

void sim_settle(void)
{
    struct sim_pe *pe = sim.running;
    sim_time cost = sim.debt, at;

    sim.debt = 0;
    if (!cost || sim.stopped)
        return;
    sim_wake_lookers(pe);
    at = cpu_time(pe, cost);
    if (sim_events_next() > at) {
        sim.now = at;
        return;
    }
    resume_at(pe, at);
    sim_fiber_yield(&pe->fiber);
}

void sim_block(struct sim_pe *pe)
{
    if (pe->stirred && !sim.stopped)
        return;
    pe->blocked = true;
    sim_fiber_yield(&pe->fiber);
}

void sim_wake(struct sim_pe *pe, sim_time after)
{
    pe->stirred = true;
    if (pe->blocked && !pe->waking)
        resume_at(pe, sim.now + after);
}

void sim_wake_lookers(struct sim_pe *pe)
{
    const struct sim_host *host = &sim.host[pe->host];

    if (!host->pollers)
        return;
    for (int i = host->first; i < host->first + host->n; i++)
        if (sim.pe[i].polls && &sim.pe[i] != pe)
            sim_wake(&sim.pe[i], (sim_time)(sim.set.shared * 1000));
}

/* Behind its program a PE serves the others until nothing is under way. */
static void pe_main(void *arg)
{
    struct sim_pe *pe = arg;

    program(pe);
    sim.debt = 0;
    pe->over = true;
    sim.ended++;
    for (;;) {
        pe->stirred = false;
        if (!sim_progress(pe))
            sim_block(pe);
    }
}

/* What the shared job says of the PE that runs, and which memory of others is mapped there. */
void sim_enter(const struct sim_pe *pe)
{
    static const struct sim_host *mapped;
    const struct sim_host *host = &sim.host[pe->host];

    sim.job.my_pe = pe->number;
    sim.job.requests = (struct wsh_requests *)&pe->requests;
    sim.job.heap.seg[WSH_SEG_HEAP].base = pe->heap;
    sim.job.ctx = (struct wsh_ctx){
        .job = &sim.job, .team = (struct wsh_team *)&pe->team, .n_pes = sim.n_pes, .world = true};
    sim.job.ctx.tctx[0] = (struct wsh_tctx *)&pe->ctx[0].base;
    if (!sim.mapped)
        mapped = NULL;
    if (mapped == host)
        return;
    for (int i = 0; mapped && i < mapped->n; i++)
        sim.rmem[mapped->first + i].map = NULL;
    for (int i = 0; i < host->n; i++)
        sim.rmem[host->first + i].map = sim.peer[host->first + i];
    mapped = host;
    sim.mapped = true;
}

static void pe_run(struct sim_pe *pe)
{
    pe->blocked = pe->waking = false;
    sim_enter(pe);
    sim.debt = 0;
    sim.running = pe;
    sim_fiber_run(&pe->fiber);
    sim.running = NULL;
    sim.debt = 0;
}

static void deadlock_report(void)
{
    char text[256] = "";
    const struct sim_pe *first = NULL;
    int n = 0;

    for (int i = 0; i < sim.n_pes; i++) {
        if (sim.pe[i].over || !sim_in_full(&sim.pe[i]))
            continue;
        n++;
        if (!first)
            first = &sim.pe[i];
    }
    sim.debt = 0;
    if (first->why && first->why->describe)
        first->why->describe(first->why_arg, text, sizeof text);
    sim_violation("deadlock: %d PEs wait and nothing is under way; PE %d in %s for %s", n, first->number,
                  first->why ? first->why->routine : "?", *text ? text : "its end");
}

int sim_run(void (*body)(struct sim_pe *pe))
{
    struct sim_event event;

    program = body;
    for (int i = 0; i < sim.n_pes; i++) {
        if (!sim_in_full(&sim.pe[i]))
            continue;
        sim.pe[i].fiber.body = pe_main;
        sim.pe[i].fiber.arg = &sim.pe[i];
        resume_at(&sim.pe[i], 0);
    }
    while (!sim.stopped && sim_events_take(&event)) {
        sim.now = event.at;
        sim.counts.events++;
        sim.debt = 0;
        if (event.kind == SIM_RESUME)
            pe_run(event.what);
        else if (event.kind == SIM_STORE)
            sim_store_event(&event);
        else
            sim_net_event(&event);
    }
    if (!sim.stopped && sim.ended < sim.n_full)
        deadlock_report();
    return sim.stopped ? -EPROTO : 0;
}
