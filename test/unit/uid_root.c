/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A root serves many ranks: each gets what all have published, in seconds. The ranks are threads here, which talk to
 * the root as processes would.
 */
#include "bootstrap/uid_root.h"

#include "bootstrap/uid_join.h"
#include "test/common/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOB 1024
#define MANY 1000
#define SECONDS 60

static struct wsh_env env = {.uid_seconds = SECONDS, .node_emulated = -1};
static struct wsh_uid uid;
static int n_ranks;
static atomic_int n_right;

static int talk(int fd, enum wsh_uid_type type, uint32_t arg, const void *body, size_t len, char **answer,
                struct wsh_uid_head *head)
{
    struct wsh_uid_head mine = wsh_uid_head_make(type, arg, len);
    double deadline = wsh_uid_now() + SECONDS;
    int rc = wsh_uid_send(fd, &mine, sizeof mine, deadline);

    rc = rc ? rc : wsh_uid_send(fd, body, len, deadline);
    rc = rc ? rc : wsh_uid_receive(fd, head, sizeof *head, deadline);
    if (rc || !wsh_uid_head_is_valid(head, n_ranks) || head->type != (uint32_t)type || head->arg != arg)
        return -1;
    *answer = malloc(head->len + 1);
    return *answer ? wsh_uid_receive(fd, *answer, head->len, deadline) : -1;
}

static bool all_are_right(const char *answer, size_t answer_len, int n)
{
    size_t len;

    for (int pe = 0; pe < n; pe++) {
        const char *part = wsh_uid_part(answer, answer_len, n, pe, &len);
        int found;

        if (!part || len != BLOB)
            return false;
        memcpy(&found, part + BLOB - sizeof found, sizeof found);
        if (found != pe)
            return false;
    }
    return true;
}

static bool rank_talks(int fd, int rank, const struct wsh_uid_start *start)
{
    struct wsh_uid_head head;
    char blob[BLOB] = "", *all = NULL, *none = NULL;
    bool right = start->local_rank == rank && start->local_size == n_ranks && start->one_machine;

    memcpy(blob + BLOB - sizeof rank, &rank, sizeof rank);
    right = right && !talk(fd, WSH_UID_PUBLISH, 7, blob, BLOB, &all, &head) &&
            all_are_right(all, head.len, n_ranks);
    right = right && !talk(fd, WSH_UID_BARRIER, 1, NULL, 0, &none, &head);
    free(all);
    free(none);
    return right;
}

static void *rank_run(void *arg)
{
    int rank = (int)(intptr_t)arg;
    struct wsh_uid_start start;
    int fd = wsh_uid_join(&uid, rank, n_ranks, &env, &start);

    if (fd < 0)
        return NULL;
    atomic_fetch_add_explicit(&n_right, rank_talks(fd, rank, &start), memory_order_relaxed);
    close(fd);
    return NULL;
}

/* Twice as many descriptors as ranks: both ends are here. */
static bool has_descriptors(int n)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur >= (rlim_t)(2 * n + 100);
}

static void serves(int n)
{
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    pthread_attr_t attr;
    double began;
    int started = 0;

    n_ranks = n;
    atomic_store_explicit(&n_right, 0, memory_order_relaxed);
    CU_ASSERT_EQUAL_FATAL(wsh_uid_root_start(&uid, &env), 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    began = wsh_uid_now();
    while (started < n && !pthread_create(&threads[started], &attr, rank_run, (void *)(intptr_t)started))
        started++;
    CU_ASSERT_EQUAL(started, n);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    wsh_uid_root_wait(&uid, 5);
    printf("# %d ranks of %d bytes: %.3f s\n", n, BLOB, wsh_uid_now() - began);
    CU_ASSERT_EQUAL(atomic_load_explicit(&n_right, memory_order_relaxed), n);
    CU_ASSERT(wsh_uid_now() - began < SECONDS);
    pthread_attr_destroy(&attr);
    free(threads);
}

/* Rank 1 has come and publishes nothing: who waits for it learns that. */
static void *rank_stays(void *arg)
{
    struct wsh_uid_start start;
    int *fd = arg;

    *fd = wsh_uid_join(&uid, 1, 2, &env, &start);
    return NULL;
}

static void says_who_is_missing(void)
{
    struct wsh_uid_head mine = wsh_uid_head_make(WSH_UID_PUBLISH, 0, 0), head;
    struct wsh_uid_start start;
    char *text = NULL;
    pthread_t other;
    int fd, others = -1;

    n_ranks = 2;
    CU_ASSERT_EQUAL_FATAL(wsh_uid_root_start(&uid, &env), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, rank_stays, &others), 0);
    fd = wsh_uid_join(&uid, 0, 2, &env, &start);
    pthread_join(other, NULL);
    CU_ASSERT_FATAL(fd >= 0 && others >= 0);
    CU_ASSERT(!wsh_uid_send(fd, &mine, sizeof mine, wsh_uid_now() + SECONDS));
    CU_ASSERT_EQUAL(talk(fd, WSH_UID_ASK, 0, NULL, 0, &text, &head), -1); /* the answer is of another type */
    CU_ASSERT_EQUAL_FATAL(head.type, WSH_UID_SAY);
    text = calloc(1, head.len + 1);
    CU_ASSERT(!wsh_uid_receive(fd, text, head.len, wsh_uid_now() + SECONDS));
    CU_ASSERT_STRING_EQUAL(text, "PEs that have not come: 1");
    free(text);
    close(fd);
    close(others);
    wsh_uid_root_wait(&uid, 5);
}

static void few(void)
{
    serves(1);
    serves(2);
    serves(64);
}

static void many(void)
{
    const char *slow = getenv("WSH_TEST_SLOW");
    int n = slow && atoi(slow) > 1 ? MANY / 10 : MANY; /* under a sanitizer */

    if (has_descriptors(n))
        serves(n);
    else
        unit_skip("the limit of open files is too low for 1,000 ranks (ulimit -n)");
}

const struct unit_test unit_tests[] = {
    {"few ranks", few},
    {"who waits learns for whom", says_who_is_missing},
    {"a thousand ranks", many},
    {NULL, NULL},
};
