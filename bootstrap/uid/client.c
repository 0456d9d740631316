/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for answers of the root of a unique id, and for the end of the job, which may come at any time: so a thread
 * reads, and whoever waits for an answer gets it from there.
 */
#define _GNU_SOURCE
#include "bootstrap/uid/client.h"

#include "bootstrap/uid/survive/news.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ABORT_MS 2000
#define TAKE_SECONDS 3. /* for the routine that waits within shmem_init; else the process ends */

/* Of this process; a forked child closes its copy, so that the root notices when the process itself ends. */
static struct wsh_uid_client *current;
static bool forked;

static void close_in_child(void)
{
    if (!current)
        return;
    close(current->fd);
    current = NULL;
    forked = true;
}

bool wsh_uid_client_is_forked(void)
{
    return forked;
}

__attribute__((constructor)) static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, close_in_child);
}

static struct timespec after(double seconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    seconds += 1e-9 * (double)t.tv_nsec;
    t.tv_sec += (time_t)seconds;
    t.tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds));
    return t;
}

/* Gives the routine that waits within shmem_init time to return an error. True: nothing else is to be done. */
static bool failure_is_taken(struct wsh_uid_client *client, const char *text)
{
    struct timespec until = after(TAKE_SECONDS);
    bool taken;

    pthread_mutex_lock(&client->mutex);
    taken = client->leaving;
    if (!taken && *text && (!client->started || !client->lost)) {
        client->failed = true;
        memcpy(client->text, text, strlen(text) + 1);
        pthread_cond_broadcast(&client->changed);
        while (!client->taken && !client->leaving)
            if (pthread_cond_timedwait(&client->changed, &client->mutex, &until))
                break;
        taken = client->taken || client->leaving || !client->lost;
    }
    pthread_mutex_unlock(&client->mutex);
    return taken;
}

void wsh_uid_client_end(struct wsh_uid_client *client, int status, const char *text)
{
    if (*text)
        poll(NULL, 0, (int)(1e3 * client->launcher_seconds));
    if (failure_is_taken(client, text))
        return;
    if (*text)
        wsh_error("%s", text);
    if (client->lost)
        client->lost(status);
    pthread_mutex_lock(&client->mutex); /* nobody waits for ever where that has come back */
    client->failed = true;
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->mutex);
}

void wsh_uid_say_late(const char *what, double waited, const char *text)
{
    wsh_warn("%s: waiting for other PEs since %.0f s; %s (SHMEM_HANG_SECONDS sets when this is said)", what,
             waited, text);
}

static void say(struct wsh_uid_client *client, const char *text)
{
    pthread_mutex_lock(&client->mutex);
    if (client->awaited)
        wsh_uid_say_late(client->what, client->waited, text);
    pthread_mutex_unlock(&client->mutex);
}

/* False: there will be no more messages that matter. */
static bool answer_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, char *body)
{
    bool more = true;

    pthread_mutex_lock(&client->mutex);
    if (head->type == client->awaited && head->arg == client->arg && !client->answered) {
        client->body = body;
        client->len = head->len;
        client->answered = true;
        more = !(head->type == WSH_UID_BARRIER && head->arg);
        client->leaving |= !more;
        body = NULL;
        pthread_cond_broadcast(&client->changed);
    }
    pthread_mutex_unlock(&client->mutex);
    free(body);
    return more;
}

/* One message. *body is malloc'd and ends with a null byte that does not count. */
static int message_receive(struct wsh_uid_client *client, struct wsh_uid_head *head, char **body)
{
    double deadline = wsh_uid_now() + WSH_UID_FOR_EVER;
    int rc = client->news ? wsh_uid_news_await(client, &deadline) : 0;

    *body = NULL;
    if (!rc)
        rc = wsh_uid_receive(client->fd, head, sizeof *head, deadline);
    if (!rc && !wsh_uid_head_is_valid(head, client->n_pes))
        rc = -EPROTO;
    if (!rc && !(*body = calloc(1, head->len + 1)))
        rc = -ENOMEM;
    if (!rc)
        rc = wsh_uid_receive(client->fd, *body, head->len, deadline);
    return rc;
}

/* True: it was no answer. */
static bool message_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, const char *body)
{
    if (head->type == WSH_UID_SAY)
        say(client, body);
    if (head->type == WSH_UID_SAY || client->take(client, head, body))
        return true;
    if (!wsh_uid_news_take(client, head, body))
        return false;
    if (head->type == WSH_UID_FAILED) {
        pthread_mutex_lock(&client->mutex);
        wsh_uid_client_lacks(client);
        pthread_mutex_unlock(&client->mutex);
    }
    return true;
}

static void *watcher_run(void *arg)
{
    struct wsh_uid_client *client = arg;
    char text[WSH_UID_TEXT_MAX], *body;
    struct wsh_uid_head head;
    bool more = true;
    int rc = 0;

    while (more && !(rc = message_receive(client, &head, &body)) && head.type != WSH_UID_END) {
        if (message_take(client, &head, body))
            free(body);
        else
            more = answer_take(client, &head, body);
    }
    if (rc) {
        snprintf(text, sizeof text,
                 "lost the connection to the process that made the unique id (%s): it has ended, and so does "
                 "this PE",
                 rc == -EPIPE ? "closed" : wsh_strerror(rc));
        free(body);
        wsh_uid_client_end(client, 1, text);
    } else if (more) {
        snprintf(text, sizeof text, "%s", body);
        free(body);
        wsh_uid_client_end(client, (int)head.arg, text);
    }
    return NULL;
}

/* The program's handlers run in its own threads. */
static int start_watcher(struct wsh_uid_client *client)
{
    sigset_t before;
    int err;

    wsh_signals_block(&before);
    err = pthread_create(&client->watcher, NULL, watcher_run, client);
    wsh_signals_restore(&before);
    if (err)
        wsh_error("no thread for the bootstrap: %s; raise the limit of processes (ulimit -u)",
                  wsh_strerror(err));
    else
        pthread_setname_np(client->watcher, "shmem-uid");
    return -err;
}

static void client_free(struct wsh_uid_client *client)
{
    current = NULL;
    close(client->fd);
    wsh_uid_news_close(client);
    free(client->body);
    free(client->left);
    pthread_mutex_destroy(&client->sending);
    pthread_mutex_destroy(&client->mutex);
    pthread_cond_destroy(&client->changed);
    free(client);
}

struct wsh_uid_client *wsh_uid_client_open(int fd, int n_pes, double hang_seconds, void (*lost)(int status),
                                           double launcher_seconds, double lease, wsh_uid_take_fn *take)
{
    struct wsh_uid_client *client = calloc(1, sizeof *client);
    pthread_condattr_t attr;

    if (!client) {
        wsh_error("bootstrap: out of memory (%zu bytes)", sizeof *client);
        close(fd);
        return NULL;
    }
    client->fd = fd;
    client->n_pes = n_pes;
    client->hang_seconds = hang_seconds;
    client->launcher_seconds = launcher_seconds;
    client->lost = lost;
    client->take = take;
    pthread_mutex_init(&client->sending, NULL);
    pthread_mutex_init(&client->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&client->changed, &attr);
    pthread_condattr_destroy(&attr);
    current = client;
    if ((lease <= 0 || !wsh_uid_news_open(client, n_pes, lease)) && !start_watcher(client))
        return client;
    client_free(client);
    return NULL;
}

void wsh_uid_client_close(struct wsh_uid_client *client)
{
    pthread_mutex_lock(&client->mutex);
    client->leaving = true;
    pthread_cond_broadcast(&client->changed);
    pthread_mutex_unlock(&client->mutex);
    shutdown(client->fd, SHUT_RDWR);
    pthread_join(client->watcher, NULL);
    client_free(client);
}

int wsh_uid_client_describe(struct wsh_uid_client *client, const struct wsh_uid *uid, int rank, int n_ranks,
                            const struct wsh_env *env)
{
    client->uid = *uid;
    client->rank = rank;
    client->n_ranks = n_ranks;
    client->env = env;
    client->left = calloc((size_t)n_ranks, sizeof *client->left);
    if (client->left)
        return 0;
    wsh_error("bootstrap: out of memory (%d bytes)", n_ranks);
    return -ENOMEM;
}

int wsh_uid_client_send(struct wsh_uid_client *client, enum wsh_uid_type type, uint32_t arg, const void *body,
                        size_t len)
{
    return wsh_uid_send_message(client->fd, type, arg, body, len);
}

/* Asks whom this PE waits for; the thread prints the answer. */
static void wait_late(struct wsh_uid_client *client)
{
    client->waited += client->hang_seconds;
    pthread_mutex_unlock(&client->mutex);
    pthread_mutex_lock(&client->sending);
    wsh_uid_client_send(client, WSH_UID_REQUEST, 0, NULL, 0);
    pthread_mutex_unlock(&client->sending);
    pthread_mutex_lock(&client->mutex);
}

void wsh_uid_client_lacks(struct wsh_uid_client *client)
{
    bool goes_on = client->awaited == WSH_UID_BARRIER && client->arg; /* shmem_finalize */

    bool some = __atomic_load_n(&client->some_left, __ATOMIC_RELAXED) ||
                (client->news && __atomic_load_n(wsh_uid_news_failures(client), __ATOMIC_RELAXED));

    if (client->awaited && !goes_on && some) {
        client->lacking = true;
        pthread_cond_broadcast(&client->changed);
    }
}

static void wait_answer(struct wsh_uid_client *client)
{
    wsh_uid_client_lacks(client);
    while (!client->answered && !client->failed && !client->lacking) {
        struct timespec until = after(client->hang_seconds);

        if (client->hang_seconds <= 0)
            pthread_cond_wait(&client->changed, &client->mutex);
        else if (pthread_cond_timedwait(&client->changed, &client->mutex, &until) == ETIMEDOUT)
            wait_late(client);
    }
}

/* Under the mutex. */
static int answer_give(struct wsh_uid_client *client, char **answer, size_t *answer_len)
{
    client->awaited = 0;
    if (!client->answered && client->lacking) {
        client->lacking = false;
        return -EOWNERDEAD;
    }
    if (!client->answered) {
        if (*client->text)
            wsh_error("%s", client->text);
        client->taken = true;
        pthread_cond_broadcast(&client->changed);
        return -ECONNABORTED;
    }
    *answer = client->body;
    *answer_len = client->len;
    client->body = NULL;
    return 0;
}

int wsh_uid_client_request(struct wsh_uid_client *client, enum wsh_uid_type type, uint32_t arg,
                           const void *body, size_t len, const char *what, char **answer, size_t *answer_len)
{
    int rc;

    if (len > WSH_UID_BODY_MAX) {
        wsh_error("%s: %zu bytes are too many for the bootstrap by unique id (%u); use fewer NICs a PE", what,
                  len, WSH_UID_BODY_MAX);
        return -EMSGSIZE;
    }
    pthread_mutex_lock(&client->sending);
    pthread_mutex_lock(&client->mutex);
    client->awaited = type;
    client->arg = arg;
    client->what = what;
    client->waited = 0;
    client->answered = false;
    pthread_mutex_unlock(&client->mutex);
    if (wsh_uid_client_send(client, type, arg, body, len)) /* the thread notices */
        shutdown(client->fd, SHUT_RDWR);
    pthread_mutex_unlock(&client->sending);
    pthread_mutex_lock(&client->mutex);
    wait_answer(client);
    rc = answer_give(client, answer, answer_len);
    pthread_mutex_unlock(&client->mutex);
    return rc;
}

void wsh_uid_client_started(struct wsh_uid_client *client)
{
    pthread_mutex_lock(&client->mutex);
    client->started = true;
    pthread_mutex_unlock(&client->mutex);
}

void wsh_uid_client_abort(struct wsh_uid_client *client, int status)
{
    int rc;

    pthread_mutex_lock(&client->sending);
    client->abort_status = status + 1;
    rc = wsh_uid_client_send(client, WSH_UID_ABORT, (uint32_t)status, NULL, 0);
    pthread_mutex_unlock(&client->sending);
    if (!rc)
        poll(NULL, 0, ABORT_MS);
}
