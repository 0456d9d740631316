/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the PEs of a run: one job whose few words that differ between PEs are exchanged when another one runs, and
 * teams that share their tables, so that 100,000 PEs fit.
 */
#include "sim/sim.h"

#include "runtime/coll/choose/dispatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct sim sim;

static void *take(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (!memory) {
        fprintf(stderr, "sim: no memory for %zu elements of %zu bytes\n", n, size);
        exit(1);
    }
    return memory;
}

/* Pages come when they are touched. */
static char *map_pages(size_t len)
{
    char *memory =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        fprintf(stderr, "sim: no address space for %zu bytes; choose fewer PEs or a smaller --len\n", len);
        exit(1);
    }
    return memory;
}

/* The rule of set_credits in transports/efa/wire/sizes.c, with four shares and messages of 640 or 8928 bytes. */
static void limits_set(void)
{
    uint32_t n = (uint32_t)sim.n_pes, most = (24u << 20) / (n > 64 ? 640 : 8928), shares = 4, window = 1;
    uint64_t receives = (uint64_t)shares * WSH_SRD_WINDOW_MAX * n;

    if (receives > most)
        receives = most;
    while (window < WSH_SRD_WINDOW_MAX && (uint64_t)2 * shares * window * n <= receives)
        window *= 2;
    sim.window = sim.set.window ? sim.set.window : window;
    sim.receives = sim.set.receives ? sim.set.receives : (uint32_t)receives;
    if (!sim.set.ops)
        sim.set.ops = 1024;
}

static void hosts_make(void)
{
    sim.n_hosts = (sim.n_pes + sim.set.per_host - 1) / sim.set.per_host;
    sim.host = take((size_t)sim.n_hosts, sizeof *sim.host);
    sim.nic = take((size_t)(sim.n_hosts * sim.set.nics), sizeof *sim.nic);
    sim.core = take((size_t)sim.set.cores + 1, sizeof *sim.core);
    for (int h = 0; h < sim.n_hosts; h++) {
        int first = h * sim.set.per_host, left = sim.n_pes - first;

        sim.host[h] =
            (struct sim_host){.first = first, .n = left < sim.set.per_host ? left : sim.set.per_host};
    }
}

static void job_make(void)
{
    struct wsh_job *job = &sim.job;

    memset(job, 0, sizeof *job);
    job->n_pes = sim.n_pes;
    job->n_domains = sim.n_hosts;
    job->network = sim.n_hosts > 1;
    job->oversubscribed = sim.set.cores && sim.set.cores < sim.n_pes;
    job->nics = sim.set.nics;
    job->by_sockets = sim.set.sockets;
    job->env.sync_linear_max = 32; /* SHMEM_SYNC_LINEAR_MAX */
    job->n_tps = 1;
    job->advance = wsh_req_advance;
    wsh_tp_fill(&sim.ops, &sim_tp_ops);
    sim.tp.ops = &sim.ops;
    job->tp[0] = &sim.tp;
    job->heap.seg[WSH_SEG_HEAP].len = sim.heap_len;
    job->domain = take((size_t)sim.n_pes, sizeof *job->domain);
    for (int pe = 0; pe < sim.n_pes; pe++)
        job->domain[pe] = sim.host[pe / sim.set.per_host].first;
    sim.rmem = take((size_t)sim.n_pes, sizeof *sim.rmem);
    job->routes.entry[WSH_ENTRY_MAIN][WSH_SEG_HEAP] = sim.rmem;
}

static void tables_make(void)
{
    if (sim_rows_make(&sim.rows, sim.n_pes, sim.set.per_host))
        abort();
    sim.peer = take((size_t)sim.n_pes, sizeof *sim.peer);
    for (int pe = 0; pe < sim.n_pes; pe++) {
        sim.peer[pe] = sim.heaps + (size_t)pe * sim.heap_len;
        sim.rmem[pe] = (struct wsh_rmem){.tp = &sim.tp,
                                         .pe = pe,
                                         .seg = WSH_SEG_HEAP,
                                         .len = sim.heap_len,
                                         .base = (uint64_t)(uintptr_t)sim.peer[pe]};
    }
}

/* The algorithm that was asked for; WSH_ALGOS: none. */
static enum wsh_algo algo_forced(void)
{
    int algo = 0;

    while (sim.set.algo && algo < WSH_ALGOS && strcmp(wsh_choice_algo((enum wsh_algo)algo), sim.set.algo))
        algo++;
    if (algo < WSH_ALGOS)
        return sim.set.algo ? (enum wsh_algo)algo : WSH_ALGOS;
    fprintf(stderr, "sim: --algo %s: there is none; warpshmem-info --collectives lists them\n", sim.set.algo);
    exit(2);
}

enum wsh_algo __real_wsh_coll_choose(const struct wsh_team *team, const struct wsh_coll_request *request);
enum wsh_algo __wrap_wsh_coll_choose(const struct wsh_team *team, const struct wsh_coll_request *request);

enum wsh_algo __wrap_wsh_coll_choose(const struct wsh_team *team, const struct wsh_coll_request *request)
{
    if (sim.algo != WSH_ALGOS && !strcmp(wsh_choice_routine(request->routine), sim.set.program))
        return sim.algo;
    return __real_wsh_coll_choose(team, request);
}

static void coll_make(struct sim_pe *pe)
{
    struct wsh_coll *coll = &pe->coll;

    coll->ctx = (struct wsh_ctx){.job = &sim.job, .team = &pe->team, .n_pes = sim.n_pes, .world = true};
    coll->ctx.tctx[0] = &pe->ctx[1].base;
    if (sim_rows_join(&sim.rows, &pe->team, coll, pe->heap, sim.peer))
        abort();
    pe->requests = (struct wsh_requests){.ctx = coll->ctx, .ready = true};
    pthread_mutex_init(&pe->requests.lock, NULL);
    if (sim.algo != WSH_ALGOS && (!strcmp(sim.set.program, "sync") || !strcmp(sim.set.program, "barrier")))
        *(coll->layout == WSH_LAYOUT_HOSTS ? &coll->lead_sync : &coll->sync) = sim.algo;
}

static void pe_make(struct sim_pe *pe, int number)
{
    pe->number = number;
    pe->choice.n = (uint32_t)sim_nics_of(&sim.host[number / sim.set.per_host]);
    wsh_efa_choice_suppose(&pe->choice, (uint32_t)sim.n_hosts - 1);
    pe->host = number / sim.set.per_host;
    pe->heap = sim.peer[number];
    pe->cq_end = &pe->cq;
    pe->random = (sim.set.seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(number + 1) << 20;
    for (uint16_t i = 0; i < SIM_CTXS; i++)
        pe->ctx[i] = (struct sim_ctx){.base = {&sim.tp}, .pe = pe, .number = i};
    pe->team =
        (struct wsh_team){.job = &sim.job, .my_pe = number, .n_pes = sim.n_pes, .members = sim.rows.all};
    coll_make(pe);
    pe->fiber.stack = sim.stacks + (size_t)number * sim.set.stack;
    pe->fiber.size = sim.set.stack;
    for (int i = 0; i < 4; i++)
        sim_next_random(&pe->random);
}

size_t sim_area_len(int n_pes, int per_host)
{
    int hosts = (n_pes + per_host - 1) / per_host;

    return wsh_sync_area_layout(n_pes, hosts < n_pes ? hosts : n_pes, hosts == n_pes).len;
}

void sim_open(const struct sim_options *set, size_t data_len)
{
    sim = (struct sim){.set = *set, .n_pes = set->pes, .n_full = set->pes};
    sim.algo = algo_forced();
    limits_set();
    hosts_make();
    sim.heap_len = (sim_area_len(set->pes, set->per_host) + data_len + 8191) & ~(size_t)4095;
    sim.heaps = map_pages((size_t)set->pes * sim.heap_len);
    sim.stacks = map_pages((size_t)set->pes * set->stack);
    job_make();
    tables_make();
    sim.pe = take((size_t)set->pes, sizeof *sim.pe);
    for (int pe = 0; pe < set->pes; pe++)
        pe_make(&sim.pe[pe], pe);
    sim.lost_at = set->mutant == SIM_LOST ? 1 + (set->seed * 7919 + 13) % ((uint64_t)set->pes + 1) : 0;
}

void sim_close(void)
{
    for (int pe = 0; pe < sim.n_pes; pe++) {
        sim.job.requests = &sim.pe[pe].requests;
        sim.job.my_pe = pe;
        pthread_mutex_init(&sim.pe[pe].requests.lock,
                           NULL); /* a fiber that a violation stopped may hold it */
        wsh_req_forget(&sim.pe[pe].team);
        sim_rows_leave(&sim.pe[pe].coll);
        free(sim.pe[pe].program);
        sim_map_clear(&sim.pe[pe].map);
    }
    sim_events_clear();
    munmap(sim.heaps, (size_t)sim.n_pes * sim.heap_len);
    munmap(sim.stacks, (size_t)sim.n_pes * sim.set.stack);
    free(sim.pe);
    free(sim.rmem);
    free(sim.job.domain);
    sim_rows_free(&sim.rows);
    free(sim.peer);
    free(sim.host);
    free(sim.nic);
    free(sim.core);
}
