/* SPDX-License-Identifier: BSD-3-Clause */
/* The proxy without a network. */
#include "test/device/null_proxy.h"

#include "runtime/gpu/proxy/ring.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { FLYING_MAX = 512, POLLS_MAX = 5 };

/* An operation under way. */
struct flying {
    struct wsh_done *done;
    struct wsh_ring_request request;
    unsigned polls; /* until it is complete */
    bool read;      /* its source may be written again */
};

/* A consumer and its thread. */
struct null_thread {
    struct null_proxy *proxy;
    struct wsh_consumer *consumer;
    struct wsh_ring *rings;
    unsigned n_rings;
    pthread_t id;
    unsigned n_flying, seed;
    struct flying flying[FLYING_MAX];
    uint64_t fences, wrong;
};

struct null_proxy {
    struct wsh_ring *rings;
    unsigned n_threads;
    int slow, blocked;
    bool stop;
    struct null_thread thread[WSH_CONSUMERS_MAX];
    uint64_t completed[NULL_PROXY_WRITERS], started[NULL_PROXY_WRITERS];
    uint64_t word[NULL_PROXY_WORDS];
};

static bool bytes_are_right(const struct wsh_ring_request *request)
{
    const unsigned char *payload = request->payload;

    for (size_t i = 0; i < request->len; i++)
        if (payload[i] != null_proxy_byte(request->sym, i))
            return false;
    return true;
}

static unsigned writer_of(const struct wsh_ring_request *request)
{
    return (unsigned)(request->sym >> 32) % NULL_PROXY_WRITERS;
}

/* A zero-copy put: what a signal brings is made from sym, as the bytes are; only a nonblocking one has no `done`. */
static bool zero_copy_is_right(const struct wsh_ring_request *request, const struct wsh_done *done)
{
    bool signal = request->kind == WSH_RING_SIGNAL_ZERO_COPY;

    return request->answer == (done != NULL) &&
           (!signal ||
            (request->value == ~request->sym && request->second == (request->sym & WSH_RING_ADDRESS)));
}

/* Puts of one writer must come in its order, since they are in one ring. */
static void check_put(struct null_thread *thread, const struct wsh_ring_request *request)
{
    uint64_t number = request->sym & 0xffffffffu;

    if (++thread->proxy->started[writer_of(request)] != number || !bytes_are_right(request))
        thread->wrong++;
    if (request->kind == WSH_RING_IPUT && request->value != null_proxy_stride(request->sym))
        thread->wrong++;
}

static bool is_strided(const struct wsh_ring_request *request)
{
    return request->kind == WSH_RING_IPUT || request->kind == WSH_RING_IGET;
}

static struct flying *fly(struct null_thread *thread, const struct wsh_ring_request *request,
                          struct wsh_done *done)
{
    struct flying *flying = &thread->flying[thread->n_flying++];

    *flying = (struct flying){done, *request, (unsigned)rand_r(&thread->seed) % POLLS_MAX};
    if (done)
        __atomic_fetch_add(&done->left, 1, __ATOMIC_RELAXED);
    return flying;
}

/* There is room for the first elements alone: they are under way while the others are asked for again. */
static int start_half(struct null_thread *thread, const struct wsh_ring_request *request,
                      struct wsh_done *done)
{
    struct flying *flying = fly(thread, request, done);

    flying->request.kind = WSH_RING_PAD;
    flying->request.answer = false;
    *request->taken = (request->len >> request->op) / 2;
    return -EAGAIN;
}

/* Of one in elements: the others are those that were left. */
static void check_rest(struct null_thread *thread, const struct wsh_ring_request *request)
{
    size_t n = request->len >> request->op;

    if (*request->taken != n / 2)
        thread->wrong++;
    *request->taken = n;
}

static bool is_zero_copy(const struct wsh_ring_request *request)
{
    return request->kind == WSH_RING_PUT_ZERO_COPY || request->kind == WSH_RING_SIGNAL_ZERO_COPY;
}

static bool is_put(const struct wsh_ring_request *request)
{
    return request->kind == WSH_RING_PUT || request->kind == WSH_RING_SIGNAL ||
           request->kind == WSH_RING_IPUT || is_zero_copy(request);
}

static int start(void *arg, const struct wsh_ring_request *request, struct wsh_done *done)
{
    struct null_thread *thread = arg;
    struct null_proxy *proxy = thread->proxy;
    struct flying *flying;
    int blocked = __atomic_load_n(&proxy->blocked, __ATOMIC_RELAXED);

    if (thread->n_flying == FLYING_MAX || rand_r(&thread->seed) % 50 == 0 ||
        (is_put(request) && (int)writer_of(request) == blocked))
        return -EAGAIN;
    if (is_strided(request) && !*request->taken && request->len >> request->op > 1)
        return start_half(thread, request, done);
    if (is_strided(request))
        check_rest(thread, request);
    if (is_put(request))
        check_put(thread, request);
    if (is_zero_copy(request) && !zero_copy_is_right(request, done))
        thread->wrong++;
    flying = fly(thread, request, done);
    if (is_put(request) && (int)writer_of(request) == proxy->slow)
        flying->polls = NULL_PROXY_SLOW;
    return 0;
}

static uint64_t apply(struct null_proxy *proxy, const struct wsh_ring_request *request)
{
    uint64_t *word = &proxy->word[request->sym % NULL_PROXY_WORDS];

    if (request->kind == WSH_RING_PUT_WORD)
        __atomic_store_n(word, request->value, __ATOMIC_RELEASE);
    return request->kind == WSH_RING_AMO
               ? wsh_amo_apply64(word, request->op, request->value, request->compare)
               : 0;
}

/* The source of a zero-copy put must hold its bytes until now; whoever waits for it alone need not wait longer. */
static void read_source(struct null_thread *thread, struct flying *flying)
{
    const struct wsh_ring_request *request = &flying->request;

    if (flying->read)
        return;
    if (is_zero_copy(request) && !bytes_are_right(request))
        thread->wrong++;
    flying->read = true;
}

static bool is_get(const struct wsh_ring_request *request)
{
    return request->kind == WSH_RING_GET || request->kind == WSH_RING_GET_WORD ||
           request->kind == WSH_RING_IGET;
}

static void land(struct null_thread *thread, struct flying *flying)
{
    struct null_proxy *proxy = thread->proxy;
    const struct wsh_ring_request *request = &flying->request;
    uint64_t old = apply(proxy, request);

    read_source(thread, flying);
    if (is_get(request))
        for (size_t i = 0; i < request->len; i++)
            ((unsigned char *)request->payload)[i] = null_proxy_byte(request->sym, i);
    else if (request->answer && !is_zero_copy(request))
        memcpy(request->payload, &old, sizeof old);
    else if (request->kind != WSH_RING_AMO && request->kind != WSH_RING_PUT_WORD &&
             request->kind != WSH_RING_PAD)
        __atomic_fetch_add(&proxy->completed[writer_of(request)], 1, __ATOMIC_RELEASE);
    if (flying->done)
        __atomic_fetch_sub(&flying->done->left, 1, __ATOMIC_RELEASE);
}

/* Sources are read half way. */
static size_t pending(void *arg, bool sources, bool awaited)
{
    (void)awaited;
    struct null_thread *thread = arg;
    size_t unread = 0;

    for (unsigned i = 0; i < thread->n_flying;) {
        struct flying *flying = &thread->flying[i];

        if (flying->polls) {
            if (--flying->polls <= POLLS_MAX / 2)
                read_source(thread, flying);
            unread += !flying->read || is_get(&flying->request);
            i++;
            continue;
        }
        land(thread, flying);
        *flying = thread->flying[--thread->n_flying];
    }
    return sources ? unread : thread->n_flying;
}

static int fence(void *arg)
{
    ((struct null_thread *)arg)->fences++;
    return 0;
}

static const struct wsh_consumer_ops ops = {start, fence, pending};

static void *serve(void *arg)
{
    struct null_thread *thread = arg;

    while (!__atomic_load_n(&thread->proxy->stop, __ATOMIC_ACQUIRE) || thread->n_flying ||
           !wsh_rings_are_idle(thread->rings, thread->n_rings)) {
        pending(thread, false, true);
        if (wsh_consumer_step(thread->consumer) < 0) {
            thread->wrong++;
            break;
        }
        sched_yield();
    }
    return NULL;
}

static int start_thread(struct null_proxy *proxy, unsigned n_rings)
{
    struct null_thread *thread = &proxy->thread[proxy->n_threads];

    thread->proxy = proxy;
    thread->seed = 1 + proxy->n_threads;
    thread->n_rings = n_rings;
    thread->rings = proxy->rings + proxy->n_threads++ * n_rings;
    thread->consumer = wsh_consumer_open(thread->rings, n_rings, &ops, thread);
    return thread->consumer ? pthread_create(&thread->id, NULL, serve, thread) : -1;
}

struct null_proxy *null_proxy_open(unsigned n_rings, unsigned n_consumers, int slow)
{
    struct null_proxy *proxy = calloc(1, sizeof *proxy);

    proxy->slow = slow;
    proxy->blocked = -1;
    proxy->rings = aligned_alloc(128, n_rings * sizeof *proxy->rings);
    memset(proxy->rings, 0, n_rings * sizeof *proxy->rings);
    while (proxy->n_threads < n_consumers)
        if (start_thread(proxy, n_rings / n_consumers))
            return NULL;
    return proxy;
}

void null_proxy_block(struct null_proxy *proxy, int writer)
{
    __atomic_store_n(&proxy->blocked, writer, __ATOMIC_RELAXED);
}

uint64_t null_proxy_close(struct null_proxy *proxy)
{
    uint64_t wrong = 0;

    __atomic_store_n(&proxy->stop, true, __ATOMIC_RELEASE); /* partner: serve */
    for (unsigned i = 0; i < proxy->n_threads; i++) {
        pthread_join(proxy->thread[i].id, NULL);
        wrong += proxy->thread[i].wrong;
        wsh_consumer_close(proxy->thread[i].consumer);
    }
    free(proxy->rings);
    free(proxy);
    return wrong;
}

struct wsh_ring *null_proxy_rings(struct null_proxy *proxy)
{
    return proxy->rings;
}

uint64_t null_proxy_completed(struct null_proxy *proxy, unsigned writer)
{
    return __atomic_load_n(&proxy->completed[writer], __ATOMIC_ACQUIRE);
}

uint64_t null_proxy_word(struct null_proxy *proxy, unsigned i)
{
    return __atomic_load_n(&proxy->word[i], __ATOMIC_ACQUIRE);
}
