/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the claims of the contract suite in a few PEs over one transport. */
#define _GNU_SOURCE
#include "test/contract/group.h"

#include "test/contract/group_gpu.h"
#include "test/contract/group_shared.h"

#include "base/err.h"
#include "base/log.h"
#include "test/common/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct wsh_tp_ops fake_ops; /* filled before the PEs start */

static const struct wsh_tp_ops *find_ops(void)
{
    if (group_path.ops)
        return &fake_ops;
    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops; ops++)
        if (!strcmp((*ops)->name, group_path.transport))
            return *ops;
    return NULL;
}

int group_open(struct group_pe *pe)
{
    struct wsh_tp_params params = {.my_pe = pe->me, .n_pes = pe->n, .env = &pe->env, .threads = true};
    int rc;

    if (group_path.gpu)
        params.gpu = group_gpu_open(pe->me);
    pe->ops = find_ops();
    if (!pe->ops)
        return -ENOENT;
    rc = pe->ops->open(&params, &pe->tp, &pe->limits);
    if (rc)
        pe->tp = NULL;
    else
        pe->tp->ops = pe->ops;
    return rc;
}

static int publish(struct group_pe *pe)
{
    struct blob *address = &pe->group->address[pe->me];
    const struct wsh_mem mems[] = {
        {WSH_SEG_STATIC, WSH_MEM_HOST, pe->data[pe->me], GROUP_DATA, pe->group->data_fd[pe->me]},
        {WSH_SEG_HEAP, WSH_MEM_HOST, pe->heap[pe->me], GROUP_HEAP, pe->group->heap_fd[pe->me]},
    };
    struct blob *device = &pe->group->mem[pe->me][WSH_SEG_DEVICE];
    int rc;

    address->len = sizeof address->bytes;
    rc = pe->ops->address(pe->tp, address->bytes, &address->len);
    if (!rc && group_path.gpu)
        return group_gpu_register(pe, pe->group->heap_fd[pe->me], device->bytes, &device->len);
    for (size_t i = 0; i < 2 && !rc; i++) {
        struct blob *mem = &pe->group->mem[pe->me][mems[i].seg];

        mem->len = WSH_TP_MEM_MAX;
        rc = pe->ops->mem_register(pe->tp, &mems[i], &pe->lmem[mems[i].seg], mem->bytes, &mem->len);
    }
    return rc;
}

static int attach(struct group_pe *pe)
{
    int rc = 0;

    if (group_path.gpu)
        return group_gpu_attach(pe);
    for (int other = 0; other < pe->n && !rc; other++)
        for (int seg = 0; seg < WSH_SEGS && !rc; seg++) {
            const struct blob *mem = &pe->group->mem[other][seg];

            if (mem->len && !(pe->absent & 1u << other))
                rc = pe->ops->mem_attach(pe->tp, other, (enum wsh_seg)seg, mem->bytes, mem->len,
                                         &pe->rmem[other][seg]);
        }
    return rc;
}

int group_connect(struct group_pe *pe)
{
    const void *address[GROUP_MAX];
    size_t len[GROUP_MAX];
    bool same_host[GROUP_MAX];
    struct wsh_tp_peers peers = {pe->n, address, len, same_host};
    double start = group_now();
    int rc = publish(pe);

    group_barrier_still(pe);
    for (int other = 0; other < pe->n; other++) {
        address[other] = pe->group->address[other].bytes;
        len[other] = pe->absent & 1u << other ? 0 : pe->group->address[other].len;
        same_host[other] = true;
    }
    while (!rc && (rc = pe->ops->connect(pe->tp, &peers)) == -EAGAIN && group_spin(pe, start))
        rc = 0;
    while (!rc && (rc = pe->ops->mem_connect(pe->tp, WSH_SEG_DEVICE, &peers)) == -EAGAIN &&
           group_spin(pe, start))
        rc = 0;
    if (!rc)
        rc = attach(pe);
    if (!rc)
        rc = pe->ops->ctx_open(pe->tp, &pe->ctx);
    group_barrier(pe);
    return rc;
}

int group_open_and_connect(struct group_pe *pe)
{
    int rc = group_open(pe);

    if (rc == -ENODEV)
        return rc;
    group_check(pe, !rc, "open gave %d (%s)", rc, wsh_strerror(rc));
    if (!rc) {
        rc = group_connect(pe);
        group_check(pe, !rc, "connecting gave %d (%s)", rc, wsh_strerror(rc));
    }
    return rc;
}

void *group_address(struct group_pe *pe, int of, size_t *len)
{
    *len = pe->group->address[of].len;
    return pe->group->address[of].bytes;
}

void *group_mem(struct group_pe *pe, int of, enum wsh_seg seg, size_t *len)
{
    *len = pe->group->mem[of][seg].len;
    return pe->group->mem[of][seg].bytes;
}

void group_close(struct group_pe *pe)
{
    if (!pe->tp)
        return;
    if (pe->ctx)
        pe->ops->ctx_close(pe->ctx);
    if (group_path.gpu)
        group_gpu_release(pe);
    for (int other = 0; other < pe->n; other++)
        for (int seg = 0; seg < WSH_SEGS; seg++)
            if (pe->rmem[other][seg].tp)
                pe->ops->mem_detach(pe->tp, &pe->rmem[other][seg]);
    while (pe->ops->stop(pe->tp, false) == -EAGAIN)
        (void)pe->ops->progress(pe->tp);
    for (int seg = 0; seg < WSH_SEGS; seg++)
        if (pe->lmem[seg])
            pe->ops->mem_release(pe->tp, pe->lmem[seg]);
    pe->ops->close(pe->tp);
    memset(pe->rmem, 0, sizeof pe->rmem);
    memset(pe->lmem, 0, sizeof pe->lmem);
    pe->tp = NULL;
    pe->ctx = NULL;
}

void group_hush(struct group_pe *pe)
{
    fflush(stderr);
    dup2(pe->group->hushed[pe->me], STDERR_FILENO);
}

const char *group_heard(struct group_pe *pe)
{
    static _Thread_local char text[4096];
    ssize_t len = pread(pe->group->hushed[pe->me], text, sizeof text - 1, 0);

    text[len > 0 ? len : 0] = '\0';
    return text;
}

static void run_met(struct group_pe *pe)
{
    int rc = group_open(pe);

    if (rc == -ENODEV) {
        pe->group->missing = true;
        return;
    }
    if (!group_check(pe, !rc, "open gave %d (%s)", rc, wsh_strerror(rc)))
        return;
    rc = group_connect(pe);
    if (group_check(pe, !rc, "address, register, connect, attach or ctx_open gave %d (%s)", rc,
                    wsh_strerror(rc)))
        pe->group->body(pe);
    if (!group_failed(pe)) {
        group_quiet(pe);
        group_barrier(pe);
    }
    group_close(pe);
}

static void *run_pe(void *arg)
{
    struct group_pe *pe = arg;

    wsh_env_load(&pe->env);
    if (group_path.provider)
        pe->env.provider = group_path.provider;
    if (pe->group->raw)
        pe->group->body(pe);
    else
        run_met(pe);
    return NULL;
}

static void *shared(size_t len, int *fd)
{
    void *map;

    *fd = memfd_create("contract", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)len))
        return NULL;
    map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

static struct group *group_new(int n, void (*body)(struct group_pe *pe), bool raw)
{
    struct group *group =
        mmap(NULL, sizeof *group, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (group == MAP_FAILED)
        return NULL;
    group->n = n;
    group->raw = raw;
    group->body = body;
    for (int pe = 0; pe < n; pe++) {
        group->heap[pe] = shared(GROUP_HEAP, &group->heap_fd[pe]);
        group->data[pe] = shared(GROUP_DATA, &group->data_fd[pe]);
        group->hushed[pe] = memfd_create("stderr", MFD_CLOEXEC);
        if (!group->heap[pe] || !group->data[pe])
            return NULL;
    }
    return group;
}

static void group_free(struct group *group)
{
    for (int pe = 0; pe < group->n; pe++) {
        munmap(group->heap[pe], GROUP_HEAP);
        munmap(group->data[pe], GROUP_DATA);
        close(group->heap_fd[pe]);
        close(group->data_fd[pe]);
        close(group->hushed[pe]);
    }
    munmap(group, sizeof *group);
}

static void pe_init(struct group_pe *pe, struct group *group, int me)
{
    *pe = (struct group_pe){.group = group, .me = me, .n = group->n};
    memcpy(pe->heap, group->heap, sizeof pe->heap);
    memcpy(pe->data, group->data, sizeof pe->data);
}

static void run_threads(struct group *group)
{
    static struct group_pe pes[GROUP_MAX];
    pthread_t threads[GROUP_MAX];

    for (int me = 0; me < group->n; me++) {
        pe_init(&pes[me], group, me);
        pthread_create(&threads[me], NULL, run_pe, &pes[me]);
    }
    for (int me = 0; me < group->n; me++)
        pthread_join(threads[me], NULL);
}

static void note_end(struct group *group, int me, int status)
{
    if (status && !*group->fault[me])
        snprintf(group->fault[me], sizeof group->fault[me], "PE %d ended with %s %d", me,
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void run_processes(struct group *group)
{
    pid_t pids[GROUP_MAX];

    fflush(NULL);
    for (int me = 0; me < group->n; me++) {
        pids[me] = fork();
        if (pids[me] == 0) {
            struct group_pe pe;

            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pe_init(&pe, group, me);
            run_pe(&pe);
            exit(0);
        }
    }
    for (int left = group->n; left; left--) {
        int status;
        pid_t pid = wait(&status);

        for (int me = 0; me < group->n; me++)
            if (pids[me] == pid && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
                note_end(group, me, status);
    }
}

static void run(int n, void (*body)(struct group_pe *pe), bool raw)
{
    struct group *group = group_new(n, body, raw);

    CU_ASSERT_FATAL(group != NULL);
    if (group_path.ops)
        wsh_tp_fill(&fake_ops, group_path.ops);
    if (group_path.before)
        group_path.before(n);
    if (group_path.in_process)
        run_threads(group);
    else
        run_processes(group);
    for (int pe = 0; pe < n; pe++)
        if (*group->fault[pe])
            fprintf(stderr, "  %s: %s\n", group_path.name, group->fault[pe]);
    for (int pe = 0; pe < n; pe++)
        CU_ASSERT(!*group->fault[pe]);
    if (group->missing)
        unit_skip("the transport is not on this machine");
    group_free(group);
}

void group_run(int n, void (*body)(struct group_pe *pe))
{
    run(n, body, false);
}

void group_run_raw(int n, void (*body)(struct group_pe *pe))
{
    run(n, body, true);
}
