/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A root serves many ranks: each gets what all have published, in seconds. The ranks are threads here, which talk to
 * the root as processes would.
 */
#include "bootstrap/uid/root.h"

#include "bootstrap/blob/host_blobs.h"
#include "bootstrap/uid/join.h"
#include "test/common/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOB 1024
#define OWN 16 /* of its bytes */
#define MANY 1000
#define SECONDS 60

static struct wsh_env env = {.uid_seconds = SECONDS, .node_emulated = -1};
static struct wsh_uid uid;
static int n_ranks, n_hosts; /* emulated ones, which take turns */
static atomic_int n_right;
static atomic_size_t answer_len;

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

/* What all share, and some bytes of this rank's own. */
static void blob_make(int rank, unsigned char *blob)
{
    for (int at = 0; at < BLOB; at++)
        blob[at] = (unsigned char)(at * 37 >> 3);
    for (int own = 0; own < OWN; own++)
        blob[BLOB / OWN * own] = (unsigned char)(rank >> own % 16 * 2);
    memcpy(blob + BLOB - sizeof rank, &rank, sizeof rank);
}

static bool blob_is_right(const struct wsh_host_blobs *blobs, int rank)
{
    unsigned char wanted[BLOB];
    void *blob = NULL;
    size_t len;
    bool right = !wsh_host_blobs_find(blobs, rank, &blob, &len);

    blob_make(rank, wanted);
    right = right && len == BLOB && !memcmp(blob, wanted, BLOB);
    free(blob);
    return right;
}

/* Takes over the answer, which is smaller than a fifth of what all have published. */
static bool all_are_right(char *answer, size_t len, int n)
{
    struct wsh_host_blobs blobs;
    bool right = !wsh_host_blobs_open(&blobs, answer, len, n);

    for (int rank = 0; right && rank < n; rank++)
        right = blob_is_right(&blobs, rank);
    if (right && n >= 64 && len >= (size_t)n * BLOB / 5)
        right = false;
    atomic_store_explicit(&answer_len, len, memory_order_relaxed);
    wsh_host_blobs_close(&blobs);
    return right;
}

static bool rank_talks(int fd, int rank, const struct wsh_uid_start *start)
{
    int together = (n_ranks - rank % n_hosts + n_hosts - 1) / n_hosts;
    bool right = start->local_rank == rank / n_hosts && start->local_size == together && start->one_machine;
    unsigned char blob[BLOB];
    char *all = NULL, *none = NULL;
    struct wsh_uid_head head;

    blob_make(rank, blob);
    right = right && !talk(fd, WSH_UID_PUBLISH, 7, blob, BLOB, &all, &head) &&
            all_are_right(all, head.len, n_ranks);
    right = right && !talk(fd, WSH_UID_BARRIER, 1, NULL, 0, &none, &head);
    free(none);
    return right;
}

static void *rank_run(void *arg)
{
    int rank = (int)(intptr_t)arg;
    struct wsh_env mine = env;
    struct wsh_uid_start start;
    int fd;

    mine.node_emulated = rank % n_hosts;
    fd = wsh_uid_join(&uid, rank, n_ranks, false, &mine, &start);
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

static void serves(int n, int hosts)
{
    pthread_t *threads = calloc((size_t)n, sizeof *threads);
    pthread_attr_t attr;
    double began;
    int started = 0;

    n_ranks = n;
    n_hosts = hosts;
    atomic_store_explicit(&n_right, 0, memory_order_relaxed);
    CU_ASSERT_EQUAL_FATAL(wsh_random_fill(&uid.secret, sizeof uid.secret), 0);
    CU_ASSERT_EQUAL_FATAL(wsh_uid_root_start(&uid, &env, 0, NULL), 0);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    began = wsh_uid_now();
    while (started < n && !pthread_create(&threads[started], &attr, rank_run, (void *)(intptr_t)started))
        started++;
    CU_ASSERT_EQUAL(started, n);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    wsh_uid_root_wait(&uid, 5);
    printf("# %d ranks of %d bytes on %d hosts: %zu bytes to each, %.3f s\n", n, BLOB, hosts,
           atomic_load_explicit(&answer_len, memory_order_relaxed), wsh_uid_now() - began);
    CU_ASSERT_EQUAL(atomic_load_explicit(&n_right, memory_order_relaxed), n);
    CU_ASSERT(wsh_uid_now() - began < SECONDS);
    pthread_attr_destroy(&attr);
    free(threads);
}

/* Two ranks of a world: rank 1 comes in a thread. */
struct pair {
    int fd[2];
};

static void *rank_comes(void *arg)
{
    struct wsh_uid_start start;
    struct pair *pair = arg;

    pair->fd[1] = wsh_uid_join(&uid, 1, 2, false, &env, &start);
    return NULL;
}

static void pair_open(struct pair *pair)
{
    struct wsh_uid_start start;
    pthread_t other;

    n_ranks = 2;
    CU_ASSERT_EQUAL_FATAL(wsh_random_fill(&uid.secret, sizeof uid.secret), 0);
    CU_ASSERT_EQUAL_FATAL(wsh_uid_root_start(&uid, &env, 0, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, rank_comes, pair), 0);
    pair->fd[0] = wsh_uid_join(&uid, 0, 2, false, &env, &start);
    pthread_join(other, NULL);
    CU_ASSERT_FATAL(pair->fd[0] >= 0 && pair->fd[1] >= 0);
}

static void pair_close(const struct pair *pair)
{
    close(pair->fd[0]);
    close(pair->fd[1]);
    wsh_uid_root_wait(&uid, 5);
}

static void sends(const struct pair *pair, int rank, struct wsh_uid_head head)
{
    CU_ASSERT(!wsh_uid_send(pair->fd[rank], &head, sizeof head, wsh_uid_now() + SECONDS));
}

/* The root's next message to that rank has this type and a text with `word`. */
static void gets(const struct pair *pair, int rank, enum wsh_uid_type type, const char *word)
{
    struct wsh_uid_head head = {0};
    char text[WSH_UID_TEXT_MAX] = "";

    CU_ASSERT(!wsh_uid_receive(pair->fd[rank], &head, sizeof head, wsh_uid_now() + SECONDS));
    CU_ASSERT_FATAL(wsh_uid_head_is_valid(&head, 1) && head.type == (uint32_t)type && head.len < sizeof text);
    CU_ASSERT(!wsh_uid_receive(pair->fd[rank], text, head.len, wsh_uid_now() + SECONDS));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

/* Rank 1 publishes nothing: who waits for it learns that. */
static void says_who_is_missing(void)
{
    struct pair pair;

    pair_open(&pair);
    sends(&pair, 0, wsh_uid_head_make(WSH_UID_PUBLISH, 0, 0));
    sends(&pair, 0, wsh_uid_head_make(WSH_UID_REQUEST, 0, 0));
    gets(&pair, 0, WSH_UID_SAY, "PEs that have not come: 1");
    pair_close(&pair);
    pair_open(&pair);
    sends(&pair, 1, wsh_uid_head_make(WSH_UID_HOST, 0, 0));
    sends(&pair, 1, wsh_uid_head_make(WSH_UID_REQUEST, 0, 0));
    gets(&pair, 1, WSH_UID_SAY, "PEs that have not come: 0");
    pair_close(&pair);
}

/* Two messages of rank 0, one of rank 1, where that is not 0: both learn why the world ends. */
static void ends(struct wsh_uid_head one, struct wsh_uid_head two, struct wsh_uid_head other,
                 const char *word)
{
    struct pair pair;

    pair_open(&pair);
    sends(&pair, 0, one);
    if (two.magic)
        sends(&pair, 0, two);
    if (other.magic)
        sends(&pair, 1, other);
    gets(&pair, 1, WSH_UID_END, word);
    pair_close(&pair);
}

static void ends_what_does_not_fit(void)
{
    const struct wsh_uid_head none = {0}, publish = wsh_uid_head_make(WSH_UID_PUBLISH, 3, 0),
                              barrier = wsh_uid_head_make(WSH_UID_BARRIER, 0, 0);
    struct wsh_uid_head bad = publish;

    ends(publish, publish, none, "PE 0 has come to an exchange (3), PE 0 to an exchange (3)");
    ends(wsh_uid_head_make(WSH_UID_SAY, 0, 0), none, none, "sent what is no message");
    bad.len = WSH_UID_BODY_MAX + 100ull;
    ends(bad, none, none, "PE 0 (");
    bad.magic ^= 1;
    ends(bad, none, none, "PE 0 (");
    ends(publish, none, barrier, "; do all PEs run the same program?");
    ends(barrier, none, publish, "; do all PEs run the same program?");
    ends(wsh_uid_head_make(WSH_UID_ABORT, 42, 0), none, none, "");
}

static void few(void)
{
    serves(1, 1);
    serves(2, 2);
    serves(64, 1);
    serves(64, 5);
}

static void many(void)
{
    const char *slow = getenv("WSH_TEST_SLOW");
    int n = slow && atoi(slow) > 1 ? MANY / 10 : MANY; /* under a sanitizer */

    if (has_descriptors(n))
        serves(n, n / 8);
    else
        unit_skip("the limit of open files is too low for 1,000 ranks (ulimit -n)");
}

/* More ids than there are descriptors for, none of them used. */
static void make_ids(void *arg)
{
    const struct wsh_env env = {.uid_seconds = 0.02};
    struct wsh_uid uid;
    int *made = arg;

    for (int i = 0; i < 40; i++) {
        *made += !wsh_uid_root_start(&uid, &env, 0, NULL);
        usleep(5000);
    }
}

static void unused_ids_end(void)
{
    struct rlimit before, few;
    char text[8192];
    int made = 0, low = dup(0);

    close(low);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = (rlim_t)low + 30;
    CU_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
    unit_capture(make_ids, &made, text, sizeof text);
    setrlimit(RLIMIT_NOFILE, &before);
    CU_ASSERT_EQUAL(made, 40);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "unique ids that no PE has come to within SHMEM_BOOTSTRAP_UID_SECONDS are given up"));
}

const struct unit_test unit_tests[] = {
    {"few ranks", few},
    {"who waits learns for whom", says_who_is_missing},
    {"a message that does not fit ends the world, and all learn why", ends_what_does_not_fit},
    {"a thousand ranks", many},
    {"ids that nobody uses give way where descriptors run out", unused_ids_end},
    {NULL, NULL},
};
