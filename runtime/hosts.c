/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds from the peers' blobs which PEs share a host, memory and cores. */
#define _GNU_SOURCE
#include "runtime/hosts.h"

#include "runtime/job.h"
#include "runtime/route.h"
#include "runtime/route_blob.h"
#include "runtime/wait.h"

#include <sched.h>

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

static int first_on_host(const struct wsh_peer_blob *peers, int pe)
{
    int first = 0;

    while (wsh_peer_blob_host(&peers[first]) != wsh_peer_blob_host(&peers[pe]))
        first++;
    return first;
}

/*
 * Which PEs share memory, with the same result on all PEs: the blobs are the same everywhere, and so must the settings
 * be.
 */
static void note_domains(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    bool shares = wsh_route_shares_memory(job);

    job->n_domains = 0;
    for (int pe = 0; pe < job->n_pes; pe++) {
        job->host[pe] = first_on_host(peers, pe);
        job->domain[pe] = shares ? job->host[pe] : pe;
        job->n_domains += job->domain[pe] == pe;
    }
}

struct machine {
    int n_pes, n_cores;
};

/*
 * The PEs on the machine of PE `one`, and the cores that they may use together: a core set that several PEs share
 * counts once, so PEs bound to different cores are not short of them. Emulated hosts are one machine.
 */
static struct machine machine_of(const struct wsh_job *job, const struct wsh_peer_blob *peers, int one)
{
    struct machine machine = {0, 0};
    cpu_set_t seen;
    int first;

    CPU_ZERO(&seen);
    for (int pe = 0; pe < job->n_pes; pe++) {
        int cpus = wsh_peer_blob_cpus(&peers[pe], &first);

        if (wsh_peer_blob_host(&peers[pe]) != wsh_peer_blob_host(&peers[one]) && job->env.node_emulated < 0)
            continue;
        machine.n_pes++;
        machine.n_cores += CPU_ISSET(first, &seen) ? 0 : cpus;
        CPU_SET(first, &seen);
    }
    return machine;
}

/* Waits are tuned to this PE's machine; collectives to whether any machine is oversubscribed, equally on all PEs. */
static void tune_waits(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    struct machine machine = {0, 0};

    job->oversubscribed = false;
    for (int pe = 0; pe < job->n_pes; pe++) {
        if (first_on_host(peers, pe) != pe)
            continue;
        machine = machine_of(job, peers, pe);
        job->oversubscribed |= machine.n_pes > machine.n_cores;
    }
    machine = machine_of(job, peers, job->my_pe);
    wsh_wait_tune(job, machine.n_pes, machine.n_cores);
}

void wsh_hosts_note(struct wsh_job *job, const struct wsh_peer_blob *peers)
{
    note_hosts(job, peers);
    note_domains(job, peers);
    tune_waits(job, peers);
}

bool wsh_hosts_are_many(const struct wsh_job *job)
{
    for (int pe = 0; pe < job->n_pes; pe++)
        if (!job->same_host[pe])
            return true;
    return false;
}
