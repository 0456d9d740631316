/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and checks messages between the root of a unique id and its PEs. */
#define _GNU_SOURCE
#include "bootstrap/uid/wire.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SEND_SECONDS 60.       /* the other end reads all the time */
#define WIRE_MAGIC 0x57485357u /* "WSHW" */

uint64_t wsh_uid_hello_tag(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                           const struct wsh_uid_hello *hello)
{
    struct {
        char label[8];
        struct wsh_uid_challenge challenge;
        struct wsh_uid_hello hello;
    } all;

    memset(&all, 0, sizeof all);
    memcpy(all.label, "hello", 5);
    all.challenge = *challenge;
    all.hello = *hello;
    all.hello.tag = 0;
    return wsh_siphash(secret->key, &all, sizeof all);
}

uint64_t wsh_uid_proof_tag(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                           const struct wsh_uid_hello *hello)
{
    struct {
        char label[8];
        unsigned char nonce[2][WSH_UID_NONCE];
    } all;

    memset(&all, 0, sizeof all);
    memcpy(all.label, "proof", 5);
    memcpy(all.nonce[0], challenge->nonce, WSH_UID_NONCE);
    memcpy(all.nonce[1], hello->nonce, WSH_UID_NONCE);
    return wsh_siphash(secret->key, &all, sizeof all);
}

int wsh_uid_challenge_make(struct wsh_uid_challenge *challenge)
{
    *challenge = (struct wsh_uid_challenge){.magic = WIRE_MAGIC, .version = WSH_UID_WIRE_VERSION};
    return wsh_random_fill(challenge->nonce, sizeof challenge->nonce);
}

int wsh_uid_challenge_check(const struct wsh_uid_challenge *challenge)
{
    if (challenge->magic != WIRE_MAGIC)
        return -EPROTO;
    return challenge->version == WSH_UID_WIRE_VERSION ? 0 : -EPROTONOSUPPORT;
}

int wsh_uid_hello_make(struct wsh_uid_hello *hello, int rank, int n_ranks, uint64_t machine, uint64_t host)
{
    char name[HOST_NAME_MAX + 1] = "host";

    gethostname(name, sizeof name - 1);
    memset(hello, 0, sizeof *hello);
    hello->magic = WIRE_MAGIC;
    hello->version = WSH_UID_WIRE_VERSION;
    hello->rank = rank;
    hello->n_ranks = n_ranks;
    hello->machine = machine;
    hello->host = host;
    hello->pid = (uint32_t)getpid();
    memcpy(hello->name, name, strnlen(name, sizeof hello->name - 1));
    return wsh_random_fill(hello->nonce, sizeof hello->nonce);
}

bool wsh_uid_hello_is_valid(const struct wsh_secret *secret, const struct wsh_uid_challenge *challenge,
                            const struct wsh_uid_hello *hello)
{
    if (hello->magic != WIRE_MAGIC || hello->version != WSH_UID_WIRE_VERSION ||
        hello->tag != wsh_uid_hello_tag(secret, challenge, hello))
        return false;
    return hello->n_ranks > 0 && hello->n_ranks <= WSH_UID_PES_MAX && hello->rank >= 0 &&
           hello->rank < hello->n_ranks && memchr(hello->name, '\0', sizeof hello->name);
}

struct wsh_uid_head wsh_uid_head_make(enum wsh_uid_type type, uint32_t arg, uint64_t len)
{
    return (struct wsh_uid_head){WIRE_MAGIC, type, arg, 0, len};
}

bool wsh_uid_head_is_valid(const struct wsh_uid_head *head, int n_pes)
{
    if (head->magic != WIRE_MAGIC)
        return false;
    switch (head->type) {
    case WSH_UID_START: return head->len == sizeof(struct wsh_uid_start);
    case WSH_UID_PUBLISH:
    case WSH_UID_HOST: return head->len <= (uint64_t)n_pes * (WSH_UID_BODY_MAX + sizeof(uint64_t));
    case WSH_UID_BARRIER:
    case WSH_UID_ABORT:
    case WSH_UID_REQUEST:
    case WSH_UID_LEAVE:
    case WSH_UID_LEFT:
    case WSH_UID_BEAT:
    case WSH_UID_SUCCEED: return head->len == 0;
    case WSH_UID_DECIDE: return head->len == sizeof(struct wsh_uid_decide);
    case WSH_UID_TELL: return head->len > sizeof(uint64_t) && head->len <= WSH_UID_TELL_MAX;
    case WSH_UID_MOVE: return head->len == sizeof(struct wsh_uid);
    case WSH_UID_FAILED:
    case WSH_UID_SAY:
    case WSH_UID_END: return head->len < WSH_UID_TEXT_MAX;
    default: return false;
    }
}

const char *wsh_uid_part(const char *body, size_t len, int n, int i, size_t *part_len)
{
    size_t at = (size_t)n * sizeof(uint64_t), left = len - at;
    uint64_t one = 0;

    if (len < at)
        return NULL;
    for (int part = 0; part <= i; part++) {
        at += one;
        left -= one;
        memcpy(&one, body + (size_t)part * sizeof one, sizeof one);
        if (one > left)
            return NULL;
    }
    *part_len = one;
    return body + at;
}

void wsh_uid_socket_tune(int fd)
{
    int on = 1, idle = 20, every = 10, times = 3;
    unsigned limit_ms = 60000;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
}

double wsh_uid_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int wait_for(int fd, short events, double deadline)
{
    struct pollfd poller = {fd, events, 0};
    double left = deadline - wsh_uid_now();

    if (left <= 0)
        return -ETIMEDOUT;
    if (poll(&poller, 1, left > 1e6 ? 1000000000 : (int)(1e3 * left) + 1) < 0 && errno != EINTR)
        return -errno;
    return 0;
}

int wsh_uid_await(int fd, double deadline)
{
    char byte;
    int rc = 0;

    while (!rc && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
        rc = errno == EAGAIN ? wait_for(fd, POLLIN, deadline) : errno == EINTR ? 0 : -errno;
    return rc;
}

int wsh_uid_send(int fd, const void *bytes, size_t len, double deadline)
{
    int rc = 0;

    while (len && !rc) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0) {
            bytes = (const char *)bytes + n;
            len -= (size_t)n;
        } else if (errno == EAGAIN)
            rc = wait_for(fd, POLLOUT, deadline);
        else if (errno != EINTR)
            rc = -errno;
    }
    return rc;
}

int wsh_uid_send_message(int fd, enum wsh_uid_type type, uint32_t arg, const void *body, size_t len)
{
    struct wsh_uid_head head = wsh_uid_head_make(type, arg, len);
    double deadline = wsh_uid_now() + SEND_SECONDS;
    int rc = wsh_uid_send(fd, &head, sizeof head, deadline);

    return rc ? rc : wsh_uid_send(fd, body, len, deadline);
}

int wsh_uid_receive(int fd, void *bytes, size_t len, double deadline)
{
    int rc = 0;

    while (len && !rc) {
        ssize_t n = recv(fd, bytes, len, MSG_DONTWAIT);

        if (n > 0) {
            bytes = (char *)bytes + n;
            len -= (size_t)n;
        } else if (!n)
            rc = -EPIPE;
        else if (errno == EAGAIN)
            rc = wait_for(fd, POLLIN, deadline);
        else if (errno != EINTR)
            rc = -errno;
    }
    return rc;
}
