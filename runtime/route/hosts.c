/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds from the peers' blobs which PEs share a host, memory and cores. */
#define _GNU_SOURCE
#include "runtime/route/hosts.h"

#include "runtime/job/job.h"
#include "runtime/route/route.h"
#include "runtime/route/blob.h"
#include "runtime/wait/wait.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

static void note_hosts(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    uint64_t mine = wsh_peer_blob_host(&peers[job->my_pe]);

    job->local_rank = job->local_size = 0;
    for (int pe = 0; pe < job->n_pes; pe++) {
        job->same_host[pe] = wsh_peer_blob_host(&peers[pe]) == mine;
        job->local_rank += job->same_host[pe] && pe < job->my_pe;
        job->local_size += job->same_host[pe];
    }
}

/* Open addressing by host: 1 + the first PE on it. */
struct firsts {
    uint32_t room; /* a power of two, more than there are hosts */
    int first[];
};

static struct firsts *firsts_open(int n_pes)
{
    struct firsts *firsts;
    uint32_t room = 4;

    while (room < 2 * (uint32_t)n_pes)
        room *= 2;
    firsts = calloc(1, sizeof *firsts + room * sizeof firsts->first[0]);
    if (firsts)
        firsts->room = room;
    return firsts;
}

/* The first PE on the host of `pe`; PEs come in order. */
static int firsts_find(struct firsts *firsts, const struct wsh_peer_blob *peers, int pe)
{
    uint64_t host = wsh_peer_blob_host(&peers[pe]);
    uint32_t at = (uint32_t)((host * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (firsts->room - 1);

    while (firsts->first[at] && wsh_peer_blob_host(&peers[firsts->first[at] - 1]) != host)
        at = (at + 1) & (firsts->room - 1);
    if (!firsts->first[at])
        firsts->first[at] = 1 + pe;
    return firsts->first[at] - 1;
}

/*
 * Which PEs share memory, with the same result on all PEs: the blobs are the same everywhere, and so must the settings
 * be.
 */
static void note_domains(struct wsh_job *job, struct firsts *firsts, const struct wsh_peer_blob *peers)
{
    bool shares = wsh_route_shares_memory(job);

    job->n_domains = 0;
    for (int pe = 0; pe < job->n_pes; pe++) {
        job->host[pe] = firsts_find(firsts, peers, pe);
        job->domain[pe] = shares ? job->host[pe] : pe;
        job->n_domains += job->domain[pe] == pe;
    }
}

struct machine {
    int n_pes, n_cores;
    cpu_set_t seen;
};

/* A core set that several PEs share counts once, so PEs bound to different cores are not short of them. */
static void machine_add(struct machine *machine, const struct wsh_peer_blob *blob)
{
    int first, cpus = wsh_peer_blob_cpus(blob, &first);

    machine->n_pes++;
    machine->n_cores += CPU_ISSET(first, &machine->seen) ? 0 : cpus;
    CPU_SET(first, &machine->seen);
}

/* The PEs of each machine, and the cores that they may use together. Emulated hosts are one machine: that of PE 0. */
static int machine_number(const struct wsh_job *job, int pe)
{
    return job->env.node_emulated < 0 ? job->host[pe] : 0;
}

/* Waits are tuned to this PE's machine; collectives to whether any machine is oversubscribed, equally on all PEs. */
static int tune_waits(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    struct machine **machines = calloc((size_t)job->n_pes, sizeof(struct machine *)), *machine;
    int rc = machines ? 0 : -ENOMEM;

    job->oversubscribed = false;
    for (int pe = 0; pe < job->n_pes && !rc; pe++) {
        struct machine **of_pe = &machines[machine_number(job, pe)];

        if (!*of_pe)
            *of_pe = calloc(1, sizeof **of_pe);
        if (*of_pe)
            machine_add(*of_pe, &peers[pe]);
        rc = *of_pe ? 0 : -ENOMEM;
    }
    machine = rc ? NULL : machines[machine_number(job, job->my_pe)];
    if (machine)
        wsh_wait_tune(job, machine->n_pes, machine->n_cores);
    for (int pe = 0; machines && pe < job->n_pes; pe++) {
        job->oversubscribed |= machines[pe] && machines[pe]->n_pes > machines[pe]->n_cores;
        free(machines[pe]);
    }
    free(machines);
    return rc;
}

/* Equally on all PEs, for collectives. */
static void note_nics(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    job->nics = wsh_peer_blob_nics(&peers[0]);
    job->by_sockets = false;
    job->stats_by_all = true;
    for (int pe = 0; pe < job->n_pes; pe++) {
        job->by_sockets |= wsh_peer_blob_by_sockets(&peers[pe]);
        job->stats_by_all &= wsh_peer_blob_stats(&peers[pe]);
        if (wsh_peer_blob_nics(&peers[pe]) < job->nics)
            job->nics = wsh_peer_blob_nics(&peers[pe]);
    }
}

int wsh_hosts_note(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    struct firsts *firsts = firsts_open(job->n_pes);

    if (!firsts)
        return -ENOMEM;
    note_hosts(job, peers);
    note_domains(job, firsts, peers);
    note_nics(job, peers);
    free(firsts);
    return tune_waits(job, peers);
}

bool wsh_hosts_are_many(const struct wsh_job *job)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        if (!job->same_host[pe])
            return true;
    return false;
}
