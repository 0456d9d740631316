/* SPDX-License-Identifier: BSD-3-Clause */
/* Claims about opening, connecting, threads, sleeping and death. */
#include "test/contract/group.h"
#include "test/contract/suite.h"

#include "base/err.h"
#include "test/common/unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void claim_registry_covered(void)
{
    static const char *const covered[] = {"local", "nvlink", "efa"};

    for (const struct wsh_tp_ops *const *ops = wsh_tp_registry(); *ops; ops++) {
        bool found = false;

        for (size_t i = 0; i < sizeof covered / sizeof covered[0]; i++)
            found |= !strcmp((*ops)->name, covered[i]);
        CU_ASSERT(found);
    }
}

static void open_again(struct group_pe *pe)
{
    for (uint64_t i = 1; i <= 3 && !group_failed(pe); i++) {
        if (group_open_and_connect(pe))
            return;
        group_put_done(pe, (pe->me + 1) % pe->n, 64, &i, 8);
        group_amo(pe, (pe->me + 1) % pe->n, 72, WSH_AMO_ADD, 8, 1);
        group_quiet(pe);
        group_barrier(pe);
        group_check(pe, group_load(pe->heap[pe->me] + 64) == i && group_load(pe->heap[pe->me] + 72) == i,
                    "time %d", (int)i);
        group_barrier(pe);
        group_close(pe);
        group_barrier_still(pe);
    }
}

void claim_open_again(void)
{
    group_run_raw(2, open_again);
}

enum { STOP_LEN = 20000 };

/* Where there is room; some go in packets that the provider keeps. */
static void start_puts(struct group_pe *pe)
{
    const struct wsh_rmem *rmem = &pe->rmem[1 - pe->me][WSH_SEG_HEAP];
    int rc = 0;

    for (size_t i = 1; i < 300 && (!rc || rc == -EAGAIN); i++) {
        rc = pe->ops->put(pe->ctx, rmem, 1 << 20, pe->heap[pe->me] + (8 << 20) + i * 64,
                          i % 3 ? 64 * i : STOP_LEN, NULL);
        if (rc == -EAGAIN)
            rc = pe->ops->progress(pe->tp) < 0 ? -EIO : 0;
    }
    group_check(pe, !rc || rc == -EAGAIN, "put gave %d (%s)", rc, wsh_strerror(rc));
}

static void stop_in_progress(struct group_pe *pe)
{
    const char *rounds = getenv("WSH_TEST_ROUNDS");

    for (int round = 0; round < (rounds ? atoi(rounds) : 6) && !group_failed(pe); round++) {
        if (group_open_and_connect(pe))
            return;
        start_puts(pe);
        group_barrier_still(pe);
        pe->ctx = NULL; /* goes with the transport */
        if (round % 2)
            group_check(pe, !pe->ops->stop(pe->tp, true), "stop at once");
        group_close(pe);
        group_barrier_still(pe);
    }
}

void claim_stop_in_progress(void)
{
    if (group_path.provider && !group_path.gpu)
        group_run_raw(2, stop_in_progress);
}

/* PE 2 of 3 takes no part. */
static void absent_peer(struct group_pe *pe)
{
    enum wsh_mem_kind kind = group_path.gpu ? WSH_MEM_DEVICE : WSH_MEM_HOST;
    uint64_t value = 4;

    pe->absent = 1u << 2;
    if (pe->me == 2) {
        group_barrier_still(pe);
        group_barrier_still(pe);
        group_await_still(pe, 0, 2);
        return;
    }
    if (group_open_and_connect(pe))
        return;
    group_check(pe, !pe->ops->reach(pe->tp, 2, kind), "PE 2 is reached");
    group_check(pe, (pe->ops->reach(pe->tp, 1 - pe->me, kind) & WSH_REACH_ALL) == WSH_REACH_ALL,
                "its peer is not reached");
    group_put_done(pe, 1 - pe->me, 64, &value, 8);
    group_quiet(pe);
    group_check(pe, group_load(pe->heap[1 - pe->me] + 64) == 4, "put");
    group_set_slot(pe, 1 + pe->me, 1);
    group_await(pe, 2 - pe->me, 1);
    group_set_slot(pe, 0, 2);
    group_close(pe);
}

void claim_absent_peer(void)
{
    group_run_raw(3, absent_peer);
}

static void bad_memory(struct group_pe *pe)
{
    struct wsh_rmem rmem = {0};
    size_t len;
    enum wsh_seg seg = group_path.gpu ? WSH_SEG_DEVICE : WSH_SEG_HEAP;
    char *blob = group_mem(pe, 1 - pe->me, seg, &len), copy[WSH_TP_MEM_MAX];
    const char *heard;

    if (!len)
        return;
    group_hush(pe);
    memcpy(copy, blob, len);
    group_check(pe, pe->ops->mem_attach(pe->tp, 1 - pe->me, seg, copy, len - 1, &rmem) < 0, "too short");
    group_check(pe, pe->ops->mem_attach(pe->tp, 1 - pe->me, seg, copy, 0, &rmem) < 0, "empty");
    copy[0] ^= 0x40;
    group_check(pe, pe->ops->mem_attach(pe->tp, 1 - pe->me, seg, copy, len, &rmem) < 0, "other version");
    heard = group_heard(pe);
    group_check(pe, unit_lines(heard) == 3, "not a line each: %s", heard);
    group_barrier(pe);
}

void claim_bad_memory_blob(void)
{
    if (!group_path.in_process)
        group_run(2, bad_memory);
}

/* Each PE's own table of addresses is broken in another way; none may connect, and each says why in a line. */
static void bad_address(struct group_pe *pe)
{
    size_t len;
    char *blob, copy[WSH_TP_ADDRESS_MAX] = "";
    const void *address[GROUP_MAX] = {copy, copy, copy};
    size_t lens[GROUP_MAX] = {0};
    const bool same_host[GROUP_MAX] = {true, true, true};
    struct wsh_tp_peers peers = {pe->n, address, lens, same_host};
    int rc = group_open(pe), other = (pe->me + 1) % pe->n;
    double start = group_now();

    if (rc)
        return;
    blob = group_address(pe, pe->me, &len);
    len = WSH_TP_ADDRESS_MAX;
    group_check(pe, !pe->ops->address(pe->tp, blob, &len), "address");
    memcpy(copy, blob, len);
    lens[other] = pe->me == 0 ? len - 1 : pe->me == 1 ? len : 1;
    if (pe->me == 1)
        copy[0] ^= 0x40;
    group_hush(pe);
    while ((rc = pe->ops->connect(pe->tp, &peers)) == -EAGAIN && group_spin(pe, start))
        ;
    group_check(pe, rc < 0 && rc != -EAGAIN, "connect took a broken address: %d", rc);
    group_check(pe, unit_lines(group_heard(pe)) == 1, "not one line: %s", group_heard(pe));
    group_close(pe);
}

void claim_bad_address(void)
{
    if (!group_path.in_process)
        group_run_raw(3, bad_address);
}

/* In 8 random bytes neither a small number nor one twice is to be expected, also where memory is registered again. */
static void keys(struct group_pe *pe)
{
    const uint64_t *key;
    int n;

    if (group_open_and_connect(pe))
        return;
    n = group_path.keys(&key);
    group_check(pe, n > 3, "memory was registered with %d keys", n);
    for (int i = 0; i < n; i++) {
        group_check(pe, key[i] > UINT32_MAX, "key %d is %llu", i, (unsigned long long)key[i]);
        for (int k = 0; k < i; k++)
            group_check(pe, key[i] != key[k], "keys %d and %d are one", k, i);
    }
    group_close(pe);
}

void claim_keys(void)
{
    if (group_path.keys)
        group_run_raw(2, keys);
}

struct server {
    struct group_pe *pe;
    bool stop;
};

static void *serve(void *arg)
{
    struct server *server = arg;

    while (!__atomic_load_n(&server->stop, __ATOMIC_ACQUIRE)) /* partner: the store in stop_server */
        if (server->pe->ops->progress(server->pe->tp) == 0)
            usleep(50);
    return NULL;
}

static void stop_server(struct server *server, pthread_t thread)
{
    __atomic_store_n(&server->stop, true, __ATOMIC_RELEASE); /* partner: the load in serve */
    pthread_join(thread, NULL);
}

static void by_other_thread(struct group_pe *pe)
{
    struct server server = {pe, false};
    pthread_t thread;
    uint64_t value = 6;

    if (pe->me == 1) {
        pthread_create(&thread, NULL, serve, &server);
        group_await_still(pe, 0, 1);
        stop_server(&server, thread);
    } else {
        group_put_done(pe, 1, 64, &value, 8);
        group_amo(pe, 1, 72, WSH_AMO_ADD, 8, 5);
        group_put_signal(pe, 1, 80, &value, 8, 88, WSH_AMO_SET, 7);
        group_quiet(pe);
        group_check(pe, group_fetch(pe, 1, 72, WSH_AMO_FETCH, 8, 0, 0) == 5, "fetch");
        group_get_done(pe, 1, 88, &value, 8);
        group_check(pe, value == 7, "get");
        group_set_slot(pe, 0, 1);
    }
    group_barrier(pe);
}

void claim_progress_by_other_thread(void)
{
    group_run(2, by_other_thread);
}

struct worker {
    struct group_pe pe; /* a copy with a context of its own */
    int number;
};

enum { WORKERS = 3, WORK = 600 };

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct group_pe *pe = &worker->pe;
    size_t base = 4096 + (size_t)(pe->me * WORKERS + worker->number) * 4096;
    uint64_t back = 0;

    for (uint64_t i = 1; i <= WORK && !group_failed(pe); i++) {
        group_put_done(pe, 1 - pe->me, base, &i, 8);
        group_amo(pe, 1 - pe->me, 64, WSH_AMO_ADD, 8, 1);
        group_fence(pe);
        group_get_done(pe, 1 - pe->me, base, &back, 8);
        group_check(pe, back == i, "thread %d read %d after writing %d", worker->number, (int)back, (int)i);
        if (i % 50 == 0)
            group_quiet(pe);
    }
    group_quiet(pe);
    return NULL;
}

static void threads(struct group_pe *pe)
{
    struct worker workers[WORKERS];
    struct server server = {pe, false};
    pthread_t thread[WORKERS], server_thread;

    pthread_create(&server_thread, NULL, serve, &server);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){*pe, i};
        group_check(pe, !pe->ops->ctx_open(pe->tp, &workers[i].pe.ctx), "context %d", i);
        pthread_create(&thread[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(thread[i], NULL);
        pe->ops->ctx_close(workers[i].pe.ctx);
    }
    group_barrier_still(pe);
    stop_server(&server, server_thread);
    group_check(pe, group_load(pe->heap[pe->me] + 64) == WORKERS * WORK, "atomics of all threads");
    group_barrier(pe);
}

void claim_threads(void)
{
    group_run(2, threads);
}

static void sleep_until(struct group_pe *pe, const char *word, uint64_t value)
{
    double start = group_now();
    int woken = 0, slept = 0;

    while (group_load(word) != value && group_now() - start < 20) {
        int fd = pe->ops->wait_fd(pe->tp);

        if (fd == -ENOTSUP)
            usleep(1000);
        if (fd >= 0) {
            struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

            slept++;
            woken += poll(&poll_fd, 1, 5000) > 0;
        }
        group_check(pe, pe->ops->progress(pe->tp) >= 0, "progress");
    }
    group_check(pe, group_load(word) == value && group_now() - start < 4,
                "slept %.1f s, %d times, woken %d times", group_now() - start, slept, woken);
}

static void wait_fd(struct group_pe *pe)
{
    uint64_t value = 1;

    for (int round = 0; round < 5 && !group_failed(pe); round++, value++) {
        if (pe->me == 1)
            sleep_until(pe, pe->heap[1] + 64, value);
        else {
            usleep(100000);
            if (round % 2)
                group_put_signal(pe, 1, 128, &value, 8, 64, WSH_AMO_SET, value);
            else
                group_put_done(pe, 1, 64, &value, 8);
            group_quiet(pe);
        }
        group_barrier(pe);
    }
}

void claim_wait_fd(void)
{
    group_run(2, wait_fd);
}
