/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes failures and what others tell, and asks for the lease. */
#define _GNU_SOURCE
#include "bootstrap/uid/survive/news.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define ASK_EVERY 5 /* parts of a lease */
#define FILES_MAX 1000000

struct wsh_uid_news {
    uint32_t failures;
    char *board;
    size_t board_len;

    /* The thread's. */
    double lease; /* seconds */
    double held;  /* when the question was asked whose answer came last: the lease counts from then */
    double asked; /* the last one was, and when the next one is due */
    uint32_t question;
    bool answered;

    uint32_t failed_at[]; /* [rank] */
};

int wsh_uid_news_open(struct wsh_uid_client *client, int n_pes, double lease)
{
    struct wsh_uid_news *news = calloc(1, sizeof *news + (size_t)n_pes * sizeof *news->failed_at);

    if (!news) {
        wsh_error("bootstrap: out of memory for %d PEs", n_pes);
        return -ENOMEM;
    }
    news->lease = lease;
    news->held = news->asked = wsh_uid_now();
    news->answered = true;
    client->news = news;
    return 0;
}

void wsh_uid_news_close(struct wsh_uid_client *client)
{
    if (client->news && client->news->board)
        munmap(client->news->board, client->news->board_len);
    free(client->news);
    client->news = NULL;
}

/* Release: who sees the count sees whom it counts. Partner: wsh_failures_generation. */
static void failed_note(struct wsh_uid_client *client, uint32_t rank, const char *text)
{
    struct wsh_uid_news *news = client->news;

    if (rank >= (uint32_t)client->n_pes)
        return;
    if (*text)
        wsh_warn("%s", text);
    __atomic_store_n(&news->failed_at[rank], news->failures + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&news->failures, news->failures + 1, __ATOMIC_RELEASE);
}

/* Acquire: its length too. Partner: wsh_uid_news_board. */
static char *board_of(const struct wsh_uid_news *news)
{
    return __atomic_load_n(&news->board, __ATOMIC_ACQUIRE);
}

static uint64_t *word_at(char *bytes, size_t at)
{
    return (uint64_t *)(void *)(bytes + at);
}

/* The first word is odd while the others change. Partner: the reader, in runtime/team/meeting.c. */
static void told(struct wsh_uid_news *news, const char *body, size_t len)
{
    char *board = board_of(news);
    uint64_t at, word;

    memcpy(&at, body, sizeof at);
    len -= sizeof at;
    if (!board || at > news->board_len || len > news->board_len - at || (at | len) % sizeof word)
        return;
    memcpy(&word, body + sizeof at, sizeof word);
    __atomic_store_n(word_at(board, at), word - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (size_t i = sizeof word; i < len; i += sizeof word) {
        uint64_t one;

        memcpy(&one, body + sizeof at + i, sizeof one);
        __atomic_store_n(word_at(board, at + i), one, __ATOMIC_RELAXED);
    }
    __atomic_store_n(word_at(board, at), word, __ATOMIC_RELEASE);
}

/* Release: a row that came before it is seen. Partner: the reader there. */
static void decided(struct wsh_uid_news *news, const char *body)
{
    char *board = board_of(news);
    struct wsh_uid_decide what;

    memcpy(&what, body, sizeof what);
    if (board && what.at % sizeof(uint64_t) == 0 && what.at < news->board_len)
        __atomic_store_n(word_at(board, what.at), what.after, __ATOMIC_RELEASE);
}

bool wsh_uid_news_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, const char *body)
{
    struct wsh_uid_news *news = client->news;

    if (!news)
        return false;
    switch (head->type) {
    case WSH_UID_FAILED: failed_note(client, head->arg, body); return true;
    case WSH_UID_TELL: told(news, body, head->len); return true;
    case WSH_UID_DECIDE: decided(news, body); return true;
    case WSH_UID_BEAT:
        if (head->arg == news->question) {
            news->held = news->asked;
            news->answered = true;
        }
        return true;
    default: return false;
    }
}

/*
 * What this process has sent and its kernel still holds, because nobody can be reached, would be delivered after its
 * end, into memory that others use again. So its connections are to be reset, which drops that.
 */
static void sockets_abort(void)
{
    const struct linger at_once = {1, 0};
    struct rlimit files = {.rlim_cur = 1024};

    getrlimit(RLIMIT_NOFILE, &files);
    for (int fd = 3; fd < (int)(files.rlim_cur < FILES_MAX ? files.rlim_cur : FILES_MAX); fd++)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* By then others may take this PE for failed, and use memory again that it writes: so it says one line, and ends. */
static void lease_end(struct wsh_uid_client *client)
{
    bool leaving;

    pthread_mutex_lock(&client->mutex);
    leaving = client->leaving;
    pthread_mutex_unlock(&client->mutex);
    if (leaving)
        return;
    sockets_abort();
    wsh_error(
        "PE %d has had no answer from the root of the job for %.3g s, and ends: the others go on without it "
        "(SHMEM_FAILURE_LEASE sets the time)",
        client->rank, client->news->lease);
    if (client->lost)
        client->lost(1);
}

/* Another thread may be sending: then it is asked a little later. */
static void lease_ask(struct wsh_uid_client *client)
{
    struct wsh_uid_news *news = client->news;

    if (!news->answered || pthread_mutex_trylock(&client->sending))
        return;
    news->asked = wsh_uid_now();
    news->answered = false;
    wsh_uid_send_message(client->fd, WSH_UID_BEAT, ++news->question, NULL, 0);
    pthread_mutex_unlock(&client->sending);
}

/* Before all have come through shmem_init nobody goes on without this PE. */
static bool lease_counts(struct wsh_uid_client *client)
{
    bool counts;

    pthread_mutex_lock(&client->mutex);
    counts = client->started;
    pthread_mutex_unlock(&client->mutex);
    return counts;
}

int wsh_uid_news_await(struct wsh_uid_client *client, double *deadline)
{
    struct wsh_uid_news *news = client->news;
    const double every = news->lease / ASK_EVERY;

    for (;;) {
        double now = wsh_uid_now(), next = news->asked + every;
        int rc;

        if (!lease_counts(client))
            news->held = now;
        if (now >= news->held + news->lease)
            lease_end(client);
        if (now >= next)
            lease_ask(client);
        *deadline = news->held + news->lease;
        rc = wsh_uid_await(client->fd, next > now ? next : now + every);
        if (rc != -ETIMEDOUT)
            return rc;
    }
}

const uint32_t *wsh_uid_news_failures(const struct wsh_uid_client *client)
{
    return client->news ? &client->news->failures : NULL;
}

uint32_t wsh_uid_news_failed_at(const struct wsh_uid_client *client, int pe)
{
    return client->news ? __atomic_load_n(&client->news->failed_at[pe], __ATOMIC_RELAXED) : 0;
}

void *wsh_uid_news_board(struct wsh_uid_client *client, size_t len)
{
    char *board = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (board == MAP_FAILED) {
        wsh_error("out of memory for what PEs tell each other of failures (%zu bytes)", len);
        return NULL;
    }
    client->news->board_len = len;
    __atomic_store_n(&client->news->board, board, __ATOMIC_RELEASE);
    return board;
}

/* What cannot be sent shows at the thread, whose connection has ended. */
void wsh_uid_news_tell(struct wsh_uid_client *client, size_t at, size_t len)
{
    char body[WSH_UID_TELL_MAX];
    const uint64_t where = at;

    memcpy(body, &where, sizeof where);
    memcpy(body + sizeof where, client->news->board + at, len);
    pthread_mutex_lock(&client->sending);
    wsh_uid_send_message(client->fd, WSH_UID_TELL, 0, body, sizeof where + len);
    pthread_mutex_unlock(&client->sending);
}

void wsh_uid_news_decide(struct wsh_uid_client *client, size_t at, uint64_t before, uint64_t after)
{
    const struct wsh_uid_decide what = {at, before, after};

    pthread_mutex_lock(&client->sending);
    wsh_uid_send_message(client->fd, WSH_UID_DECIDE, 0, &what, sizeof what);
    pthread_mutex_unlock(&client->sending);
}
