/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads the blob, byte by byte, and checks what comes from other processes. */
#define _GNU_SOURCE
#include "runtime/route/blob.h"

#include "base/log.h"
#include "base/process/machine.h"
#include "base/version.h"
#include "runtime/job/job.h"
#include "runtime/memory/static_data.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOB_MAGIC 0x68737770u /* "pwsh" */
#define BLOB_VERSION 5u
#define BLOB_SEGS (WSH_SEG_MORE + 1) /* the last one: what is added */
/* Of one PE; the PEs of a host that have a first one each, fewer than CPU_SETSIZE, stay below INT_MAX together. */
#define BLOB_CPUS_MAX (1u << 20)

enum { BLOB_SOCKETS = 1, BLOB_STATS = 2, BLOB_SURVIVES = 4 };

struct blob_head {
    uint32_t magic, version;
    uint32_t len;   /* of the whole blob */
    uint32_t n_tps; /* blob_tp that follow */
    uint64_t host, machine;
    uint64_t program; /* fingerprint of the executable */
    uint64_t seg_len[BLOB_SEGS];
    uint64_t device_limit; /* bytes that the device heap may grow to */
    char library[16];      /* package version */
    char gpu[16];          /* PCI address */
    uint32_t first_cpu, n_cpus;
    uint8_t loopback;
    uint8_t
        traits; /* BLOB_SOCKETS: its messages to other hosts are system calls; BLOB_STATS: SHMEM_STATS is set;
                   BLOB_SURVIVES: it goes on without PEs that fail */
    uint16_t nics;
    uint32_t added; /* segment number of the last one, or 0 */
};

/* Followed by address_len + sum(mem_len) bytes, then padding to 8. */
struct blob_tp {
    char name[16];
    uint32_t address_len;
    uint32_t mem_len[BLOB_SEGS];
};

static size_t len_padded(size_t len)
{
    return (len + 7) & ~(size_t)7;
}

/* The processors that this PE may use; all of the machine's where they are more than a cpu_set_t holds. */
static void note_cpus(struct blob_head *head)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof cpus, &cpus)) {
        head->n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
        return;
    }
    head->n_cpus = (uint32_t)CPU_COUNT(&cpus);
    while (!CPU_ISSET(head->first_cpu, &cpus))
        head->first_cpu++;
}

static uint16_t nics_of(const struct wsh_job *job)
{
    unsigned nics = 0;

    for (unsigned tp = 0; tp < job->n_tps; tp++)
        nics = job->limits[tp].nics > nics ? job->limits[tp].nics : nics;
    return nics < UINT16_MAX ? (uint16_t)nics : UINT16_MAX;
}

static bool is_by_sockets(const struct wsh_job *job)
{
    bool sockets = false;

    for (unsigned tp = 0; tp < job->n_tps; tp++)
        sockets |= job->limits[tp].by_sockets;
    return sockets;
}

static bool survives(const struct wsh_job *job)
{
    return job->env.on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE;
}

static uint8_t traits_of(const struct wsh_job *job)
{
    return (uint8_t)((is_by_sockets(job) ? BLOB_SOCKETS : 0) |
                     (job->env.stats || job->env.stats_file ? BLOB_STATS : 0) |
                     (survives(job) ? BLOB_SURVIVES : 0));
}

static size_t tp_size(const struct wsh_route_keys *keys)
{
    size_t len = sizeof(struct blob_tp) + keys->address_len;

    for (int seg = 0; seg < BLOB_SEGS; seg++)
        len += keys->mem[seg].len;
    return len_padded(len);
}

size_t wsh_peer_blob_typical(void)
{
    static const struct wsh_route_keys local = {.address_len = 64},
                                       nic = {.address_len = 224, .mem = {{.len = 16}, {.len = 16}}};

    return sizeof(struct blob_head) + tp_size(&local) + tp_size(&nic);
}

static void pack_tp(char *at, const char *name, const struct wsh_route_keys *keys)
{
    struct blob_tp head = {.address_len = (uint32_t)keys->address_len};
    char *body = at + sizeof head;

    snprintf(head.name, sizeof head.name, "%s", name);
    memcpy(body, keys->address, keys->address_len);
    body += keys->address_len;
    for (int seg = 0; seg < BLOB_SEGS; seg++) {
        head.mem_len[seg] = (uint32_t)keys->mem[seg].len;
        memcpy(body, keys->mem[seg].bytes, keys->mem[seg].len);
        body += keys->mem[seg].len;
    }
    memcpy(at, &head, sizeof head);
}

int wsh_peer_blob_pack(const struct wsh_job *job, int added, void **bytes, size_t *len)
{
    struct blob_head head = {.magic = BLOB_MAGIC,
                             .version = BLOB_VERSION,
                             .len = sizeof head,
                             .n_tps = job->n_tps,
                             .added = (uint32_t)added,
                             .library = WSH_RELEASE};
    char *blob, *at;

    for (unsigned tp = 0; tp < job->n_tps; tp++)
        head.len += (uint32_t)tp_size(&job->keys[tp]);
    for (int seg = 0; seg < WSH_SEG_MORE; seg++)
        head.seg_len[seg] = job->heap.seg[seg].len;
    if (added)
        head.seg_len[WSH_SEG_MORE] = job->heap.seg[added].len;
    head.device_limit = job->device.heap.limit;
    head.host = wsh_host_id(job->env.node_emulated);
    head.machine = wsh_machine_id();
    head.loopback = job->loopback;
    head.nics = nics_of(job);
    head.traits = traits_of(job);
    head.program = wsh_static_fingerprint();
    memcpy(head.gpu, job->device.gpu.pci, sizeof head.gpu);
    note_cpus(&head);
    blob = calloc(1, head.len);
    if (!blob)
        return -ENOMEM;
    memcpy(blob, &head, sizeof head);
    at = blob + sizeof head;
    for (unsigned tp = 0; tp < job->n_tps; tp++) {
        pack_tp(at, job->tp[tp]->ops->name, &job->keys[tp]);
        at += tp_size(&job->keys[tp]);
    }
    *bytes = blob;
    *len = head.len;
    return 0;
}

static size_t body_size(const struct blob_tp *tp)
{
    size_t len = tp->address_len;

    for (int seg = 0; seg < BLOB_SEGS; seg++)
        len += tp->mem_len[seg];
    return len;
}

/* Every part must end inside the blob, and the last at its end. */
static bool is_whole(const char *bytes, size_t len)
{
    const struct blob_head *head = (const struct blob_head *)bytes;
    size_t at = sizeof *head;

    for (uint32_t i = 0; i < head->n_tps; i++) {
        struct blob_tp tp;

        if (len - at < sizeof tp)
            return false;
        memcpy(&tp, bytes + at, sizeof tp);
        if (tp.address_len > WSH_TP_ADDRESS_MAX || memchr(tp.name, 0, sizeof tp.name) == NULL)
            return false;
        for (int seg = 0; seg < BLOB_SEGS; seg++)
            if (tp.mem_len[seg] > WSH_TP_MEM_MAX)
                return false;
        if (len - at < len_padded(sizeof tp + body_size(&tp)))
            return false;
        at += len_padded(sizeof tp + body_size(&tp));
    }
    return at == len;
}

/* One program has its variables at the same offsets everywhere, or in no segment at all. */
static int check_program(const struct wsh_job *job, int pe, const struct blob_head *head)
{
    size_t mine = job->heap.seg[WSH_SEG_STATIC].len, its = head->seg_len[WSH_SEG_STATIC];

    if (mine && head->program != wsh_static_fingerprint())
        wsh_info(WSH_SUB_MEM, "PE %d runs another program: its static data cannot be addressed", pe);
    else if (mine && its && its != mine) {
        wsh_error(
            "PE %d has %zu bytes of static data in pages of its host, this PE %zu; run the job on hosts "
            "with pages of one size (getconf PAGESIZE), or set SHMEM_STATIC=off",
            pe, its, mine);
        return -EINVAL;
    }
    return 0;
}

/* PEs that go on wait otherwise, and in more steps: the others would never come there. */
static int check_mode(const struct wsh_job *job, int pe, const struct blob_head *head)
{
    const bool mine = survives(job), its = head->traits & BLOB_SURVIVES;

    if (mine == its)
        return 0;
    wsh_error("SHMEM_ON_PE_FAILURE is abort at PE %d and continue at PE %d; set it alike on all PEs",
              mine ? pe : job->my_pe, mine ? job->my_pe : pe);
    return -EINVAL;
}

static int blob_check(const struct wsh_job *job, int pe, const char *bytes, size_t len)
{
    const struct blob_head *head = (const struct blob_head *)bytes;

    if (len < sizeof *head || head->magic != BLOB_MAGIC || head->version != BLOB_VERSION ||
        head->len != len || !memchr(head->library, 0, sizeof head->library) ||
        !memchr(head->gpu, 0, sizeof head->gpu) || head->first_cpu >= CPU_SETSIZE ||
        head->n_cpus > BLOB_CPUS_MAX || !is_whole(bytes, len)) {
        wsh_error(
            "PE %d published %zu bytes that are no start-up data of this library; run one warpshmem (%s) on "
            "all PEs",
            pe, len, WSH_RELEASE);
        return -EPROTO;
    }
    if (strcmp(head->library, WSH_RELEASE)) {
        wsh_error("PE %d runs warpshmem %s, this PE %s; run one version on all PEs", pe, head->library,
                  WSH_RELEASE);
        return -EPROTO;
    }
    if (head->seg_len[WSH_SEG_HEAP] != job->heap.seg[WSH_SEG_HEAP].len) {
        wsh_error(
            "PE %d has a symmetric heap of %zu bytes, this PE of %zu; set SHMEM_SYMMETRIC_SIZE alike on all "
            "PEs (oshrun -x SHMEM_SYMMETRIC_SIZE)",
            pe, (size_t)head->seg_len[WSH_SEG_HEAP], job->heap.seg[WSH_SEG_HEAP].len);
        return -EINVAL;
    }
    return check_mode(job, pe, head) ?: check_program(job, pe, head);
}

int wsh_peer_blob_open(struct wsh_peer_blob *blob, const struct wsh_job *job, int pe, void *bytes, size_t len)
{
    *blob = (struct wsh_peer_blob){bytes, len};
    return blob_check(job, pe, bytes, len);
}

void wsh_peer_blob_close(struct wsh_peer_blob *blob)
{
    free(blob->bytes);
    *blob = (struct wsh_peer_blob){0};
}

static const struct blob_head *head_of(const struct wsh_peer_blob *blob)
{
    return blob->bytes;
}

int wsh_peer_blob_exchange(struct wsh_job *job, int added, struct wsh_peer_blob *peers)
{
    int round = job->rounds++;
    void *bytes = NULL;
    size_t len;
    int rc = wsh_peer_blob_pack(job, added, &bytes, &len);

    if (!rc)
        rc = job->boot.ops->publish(&job->boot, round, bytes, len);
    free(bytes);
    for (int pe = 0; pe < job->n_pes && !rc; pe++) {
        rc = job->boot.ops->lookup(&job->boot, round, pe, &bytes, &len);
        if (!rc)
            rc = wsh_peer_blob_open(&peers[pe], job, pe, bytes, len);
    }
    return rc;
}

uint64_t wsh_peer_blob_machine(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->machine;
}

bool wsh_peer_blob_loopback(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->loopback;
}

bool wsh_peer_blob_by_sockets(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->traits & BLOB_SOCKETS;
}

bool wsh_peer_blob_stats(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->traits & BLOB_STATS;
}

int wsh_peer_blob_nics(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->nics;
}

uint64_t wsh_peer_blob_host(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->host;
}

/* The place of `seg` in the blob, or -1. */
static int index_of(const struct wsh_peer_blob *blob, int seg)
{
    if (seg < WSH_SEG_MORE)
        return seg;
    return head_of(blob)->added == (uint32_t)seg ? WSH_SEG_MORE : -1;
}

bool wsh_peer_blob_has(const struct wsh_peer_blob *blob, int seg)
{
    return wsh_peer_blob_len(blob, seg) > 0 &&
           (seg != WSH_SEG_STATIC || head_of(blob)->program == wsh_static_fingerprint());
}

size_t wsh_peer_blob_len(const struct wsh_peer_blob *blob, int seg)
{
    int index = blob->bytes ? index_of(blob, seg) : -1;

    return index < 0 ? 0 : head_of(blob)->seg_len[index];
}

size_t wsh_peer_blob_device_limit(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->device_limit;
}

const char *wsh_peer_blob_gpu(const struct wsh_peer_blob *blob)
{
    return head_of(blob)->gpu;
}

int wsh_peer_blob_cpus(const struct wsh_peer_blob *blob, int *first)
{
    *first = (int)head_of(blob)->first_cpu;
    return (int)head_of(blob)->n_cpus;
}

static const char *find_tp(const struct wsh_peer_blob *blob, const char *name, struct blob_tp *tp)
{
    const char *at = (const char *)blob->bytes + sizeof(struct blob_head);

    for (uint32_t i = 0; i < head_of(blob)->n_tps; i++) {
        memcpy(tp, at, sizeof *tp);
        if (!strcmp(tp->name, name))
            return at + sizeof *tp;
        at += len_padded(sizeof *tp + body_size(tp));
    }
    return NULL;
}

const void *wsh_peer_blob_address(const struct wsh_peer_blob *blob, const char *name, size_t *len)
{
    struct blob_tp tp;
    const char *body = find_tp(blob, name, &tp);

    *len = body ? tp.address_len : 0;
    return body;
}

const void *wsh_peer_blob_mem(const struct wsh_peer_blob *blob, const char *name, int seg, size_t *len)
{
    struct blob_tp tp;
    const char *body = find_tp(blob, name, &tp);
    int index = index_of(blob, seg);

    *len = 0;
    if (!body || index < 0)
        return NULL;
    body += tp.address_len;
    for (int before = 0; before < index; before++)
        body += tp.mem_len[before];
    *len = tp.mem_len[index];
    return body;
}
