/* SPDX-License-Identifier: BSD-3-Clause */
/* transports/efa/srd: what the context's thread does without the lock goes together with progress in another thread. */
#include "test/common/unit.h"
#include "transports/efa/srd/flow.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 20000, OPS = 64 };

struct put {
    struct wsh_srd_op op;
    bool busy; /* stored with release by progress, partner: the acquire in put_find */
    bool given;
};

static struct wsh_srd_names named[8];
static struct wsh_srd_link link;
static struct wsh_srd_ctx ctx;
static struct wsh_srd_flow flow;
static struct put pool[OPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t fast_given; /* fast pool to complete; release when added, acquire when taken */
static bool stop;
static uint32_t fast_total, slow_total, overtaken;

/* Under the lock: what is of an earlier epoch must be complete. */
static int io_write(void *arg, struct wsh_srd_op *op)
{
    (void)arg;
    for (int i = 0; i < OPS; i++) {
        if (pool[i].given && pool[i].op.epoch < op->epoch)
            overtaken++;
    }
    ((struct put *)op)->given = true;
    return 0;
}

static const struct wsh_srd_io io = {io_write, io_write, NULL, NULL};

static void complete_some(void)
{
    uint32_t fast = __atomic_exchange_n(&fast_given, 0, __ATOMIC_ACQUIRE);

    wsh_srd_put_ended(&ctx, &flow, fast);
    for (int i = 0; i < OPS; i++) {
        if (!pool[i].given)
            continue;
        pool[i].given = false;
        wsh_srd_op_ended(&ctx, &flow, &pool[i].op);
        __atomic_store_n(&pool[i].busy, false, __ATOMIC_RELEASE);
    }
    if (wsh_srd_pump(&flow, &io))
        overtaken++;
}

static void *progress(void *arg)
{
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        complete_some();
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    return arg;
}

static struct put *put_find(void)
{
    for (int i = 0;; i = (i + 1) % OPS) {
        if (!__atomic_load_n(&pool[i].busy, __ATOMIC_ACQUIRE))
            return &pool[i];
        if (i == OPS - 1)
            sched_yield();
    }
}

static void put(void)
{
    struct put *slow;

    if (wsh_srd_put_fast(&ctx, &flow)) {
        __atomic_fetch_add(&fast_given, 1, __ATOMIC_RELEASE);
        fast_total++;
        return;
    }
    slow = put_find();
    slow->op = (struct wsh_srd_op){.kind = WSH_SRD_PUT, .segments = 1, .keep = true};
    __atomic_store_n(&slow->busy, true, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    overtaken += wsh_srd_submit(&ctx, &flow, &slow->op, &io) != 0;
    pthread_mutex_unlock(&lock);
    slow_total++;
}

static void two_threads(void)
{
    pthread_t thread;

    wsh_srd_flow_init(&flow, &link, 8, 4, false, named);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, progress, NULL), 0);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        if (i % 64 == 63)
            wsh_srd_fence(&ctx);
        put();
        if (i % 1000 == 0) {
            while (wsh_srd_flow_pending(&flow))
                sched_yield();
        }
    }
    while (wsh_srd_flow_pending(&flow) || wsh_srd_ctx_pending(&ctx))
        sched_yield();
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(overtaken, 0);
    CU_ASSERT_EQUAL(fast_total + slow_total, ROUNDS);
    CU_ASSERT(fast_total > 0 && slow_total > 0);
}

const struct unit_test unit_tests[] = {
    {"pool, fences and quiet in one thread, completions and deferred pool in another", two_threads},
    {NULL, NULL},
};
