/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects to the root of a unique id. Any program may listen at its address meanwhile, so a peer that cannot show that
 * it knows the secret is none, and the next address is tried.
 */
#define _GNU_SOURCE
#include "bootstrap/uid/join.h"

#include "bootstrap/uid/addr.h"
#include "bootstrap/uid/client.h"
#include "base/err.h"
#include "base/log.h"
#include "base/process/machine.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_SECONDS 3. /* for one connection to one address */
#define ANSWER_SECONDS 20. /* for the root's answer, on a busy machine */
#define PAUSE_MS_MAX 500
#define LATE_SECONDS 10.   /* beyond what the root waits for the others */
#define REJOIN_SECONDS 20. /* to connect to a new root, which listens already */

struct attempt {
    const struct wsh_uid *uid;
    struct wsh_uid_hello hello;
    double deadline;
    double began, every, next_report; /* seconds between reports, SHMEM_HANG_SECONDS */
    int rc;                           /* why the last one failed */
    bool listens;                     /* the root listens already, if it is alive */
    bool refused;                     /* all its addresses have refused the last try */
    unsigned version;                 /* of a root that has another */
    struct wsh_uid_address address;
};

static double earlier(double a, double b)
{
    return a < b ? a : b;
}

/* Is it time to say what this PE waits for? */
static bool report_is_due(struct attempt *attempt)
{
    bool due = wsh_uid_now() >= attempt->next_report;

    if (due)
        attempt->next_report = wsh_uid_now() + attempt->every;
    return due;
}

static int finish_connect(int fd, double deadline)
{
    struct pollfd poller = {fd, POLLOUT, 0};
    int err = 0, left = (int)(1e3 * (deadline - wsh_uid_now())) + 1;
    socklen_t len = sizeof err;

    if (left <= 0 || poll(&poller, 1, left) <= 0)
        return -ETIMEDOUT;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
    return -err;
}

static int connect_to(const struct wsh_uid_address *address, double deadline)
{
    struct sockaddr_storage to;
    socklen_t len = wsh_uid_address_to_socket(address, &to);
    int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc = 0;

    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&to, len))
        rc = errno == EINPROGRESS ? finish_connect(fd, deadline) : -errno;
    wsh_uid_socket_tune(fd);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* Both sides show that they know the secret. */
static int greet(int fd, struct attempt *attempt, double deadline)
{
    const struct wsh_secret *secret = &attempt->uid->secret;
    struct wsh_uid_challenge challenge;
    struct wsh_uid_proof proof;
    int rc = wsh_uid_receive(fd, &challenge, sizeof challenge, deadline);

    if (!rc)
        rc = wsh_uid_challenge_check(&challenge);
    if (rc == -EPROTONOSUPPORT)
        attempt->version = challenge.version;
    if (rc)
        return rc;
    attempt->hello.tag = wsh_uid_hello_tag(secret, &challenge, &attempt->hello);
    rc = wsh_uid_send(fd, &attempt->hello, sizeof attempt->hello, deadline);
    if (!rc)
        rc = wsh_uid_receive(fd, &proof, sizeof proof, deadline);
    if (!rc && proof.tag != wsh_uid_proof_tag(secret, &challenge, &attempt->hello))
        rc = -EPROTO;
    return rc;
}

static int try_address(struct attempt *attempt, const struct wsh_uid_address *address)
{
    double now = wsh_uid_now();
    int fd = connect_to(address, earlier(now + CONNECT_SECONDS, attempt->deadline)), rc;

    if (fd < 0)
        return fd;
    rc = greet(fd, attempt, earlier(now + ANSWER_SECONDS, attempt->deadline));
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

/* Loopback is this machine's own. Where no other address answers, why it does not counts more than that. */
static int try_all(struct attempt *attempt)
{
    const struct wsh_uid *uid = attempt->uid;
    bool same = uid->machine && uid->machine == attempt->hello.machine;
    bool tried = false;

    attempt->refused = true;
    for (int i = 0; i < uid->n_addresses; i++) {
        const struct wsh_uid_address *address = &uid->address[i];
        int rc;

        if (wsh_uid_address_is_loopback(address) && !same)
            continue;
        rc = try_address(attempt, address);
        if (rc >= 0 || rc == -EPROTONOSUPPORT)
            return rc;
        attempt->refused &= rc == -ECONNREFUSED;
        if (!tried && (rc != -ETIMEDOUT || !attempt->rc)) { /* the last try may have been short */
            attempt->rc = rc;
            attempt->address = *address;
        }
        tried = true;
    }
    return tried ? -EAGAIN : -ENETUNREACH;
}

static const char *why_not(int rc)
{
    return rc == -EPIPE    ? "it closed the connection"
           : rc == -EPROTO ? "another program listens there"
                           : wsh_strerror(rc);
}

/* It is tried again. */
static void say_unreachable(const struct attempt *attempt)
{
    char address[WSH_UID_ADDRESS_TEXT];

    wsh_uid_address_print(&attempt->address, address);
    wsh_warn(
        "start by a unique id: waiting for its root at %s since %.0f s: %s (SHMEM_HANG_SECONDS sets when "
        "this is said)",
        address, wsh_uid_now() - attempt->began, why_not(attempt->rc));
}

static int log_unreachable(const struct attempt *attempt, double seconds)
{
    char address[WSH_UID_ADDRESS_TEXT], route[64];

    wsh_uid_address_print(&attempt->address, address);
    wsh_uid_addr_route(&attempt->address, route, sizeof route);
    wsh_error("the root of the unique id at %s (by %s) does not answer within %.3g s: %s; does the process "
              "that made "
              "the id still run, has its world not ended, and do firewalls allow it? "
              "SHMEM_BOOTSTRAP_UID_IFNAME there chooses another interface",
              address, route, seconds, why_not(attempt->rc));
    return attempt->rc;
}

static int log_ended(const struct attempt *attempt)
{
    char address[WSH_UID_ADDRESS_TEXT];

    wsh_uid_address_print(&attempt->address, address);
    wsh_error("the PE by which the others reach each other, at %s, has ended; see its message", address);
    return attempt->rc;
}

static int log_other(const struct attempt *attempt, int rc)
{
    if (rc == -EPROTONOSUPPORT)
        wsh_error("the root of the unique id runs another version of warpshmem (bootstrap %u, ours %d); "
                  "install one version on all hosts",
                  attempt->version, WSH_UID_WIRE_VERSION);
    else
        wsh_error(
            "the root of the unique id listens on loopback only and is on another machine; make the id where "
            "an interface that others reach is up, and see SHMEM_BOOTSTRAP_UID_IFNAME there");
    return rc;
}

static int join_connect(struct attempt *attempt, double seconds)
{
    int pause_ms = 10, rc;

    while ((rc = try_all(attempt)) == -EAGAIN && wsh_uid_now() < attempt->deadline) {
        if (attempt->listens && attempt->refused)
            return log_ended(attempt);
        if (report_is_due(attempt))
            say_unreachable(attempt);
        poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MS_MAX ? pause_ms * 2 : PAUSE_MS_MAX;
    }
    if (rc >= 0)
        return rc;
    return rc == -EAGAIN ? log_unreachable(attempt, seconds) : log_other(attempt, rc);
}

/* Until the root says something. Whenever a report is due it is asked who is missing. */
static int root_await(int fd, struct attempt *attempt)
{
    struct wsh_uid_head request = wsh_uid_head_make(WSH_UID_REQUEST, WSH_UID_REQUESTS_START, 0);
    int rc;

    while ((rc = wsh_uid_await(fd, earlier(attempt->next_report, attempt->deadline))) == -ETIMEDOUT &&
           wsh_uid_now() < attempt->deadline)
        if (report_is_due(attempt) && (rc = wsh_uid_send(fd, &request, sizeof request, attempt->deadline)))
            return rc;
    return rc;
}

/* One message of the root: `type` and its body, a text or *start. */
static int message_receive(int fd, struct attempt *attempt, uint32_t *type, char text[WSH_UID_TEXT_MAX],
                           struct wsh_uid_start *start)
{
    struct wsh_uid_head head;
    int rc = root_await(fd, attempt);

    if (!rc)
        rc = wsh_uid_receive(fd, &head, sizeof head, attempt->deadline);
    if (rc)
        return rc;
    *type = head.type;
    if (!wsh_uid_head_is_valid(&head, 1) ||
        (head.type != WSH_UID_START && head.type != WSH_UID_END && head.type != WSH_UID_SAY))
        return -EPROTO;
    memset(text, 0, WSH_UID_TEXT_MAX);
    return wsh_uid_receive(fd, head.type == WSH_UID_START ? (void *)start : text, head.len,
                           attempt->deadline);
}

/* The root says that all are there, or why they will not be. */
static int start_receive(int fd, struct attempt *attempt, struct wsh_uid_start *start)
{
    char text[WSH_UID_TEXT_MAX];
    uint32_t type = 0;
    int rc;

    while (!(rc = message_receive(fd, attempt, &type, text, start)) && type == WSH_UID_SAY)
        wsh_uid_say_late(attempt->listens ? "shmem_init" : "start by a unique id",
                         wsh_uid_now() - attempt->began, text);
    if (!rc && type == WSH_UID_START)
        return 0;
    if (!rc)
        wsh_error("%s", text);
    else
        wsh_error(
            "the process that made the unique id has ended before all ranks had come (%s); see its message",
            rc == -EPIPE ? "it closed the connection" : wsh_strerror(rc));
    return rc ? rc : -ECONNABORTED;
}

int wsh_uid_join(const struct wsh_uid *uid, int rank, int n_ranks, bool listens, const struct wsh_env *env,
                 struct wsh_uid_start *start)
{
    double seconds = env->uid_seconds > 0 ? env->uid_seconds : WSH_UID_FOR_EVER;
    double every = env->hang_seconds > 0 ? env->hang_seconds : WSH_UID_FOR_EVER, now = wsh_uid_now();
    struct attempt attempt = {.uid = uid,
                              .deadline = now + seconds,
                              .began = now,
                              .every = every,
                              .next_report = now + every,
                              .listens = listens};
    int fd, rc = wsh_uid_hello_make(&attempt.hello, rank, n_ranks, wsh_machine_id(),
                                    wsh_host_id(env->node_emulated));

    if (rc) {
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
        return rc;
    }
    fd = join_connect(&attempt, seconds);
    if (fd < 0)
        return fd;
    attempt.deadline = wsh_uid_now() + seconds + LATE_SECONDS;
    rc = start_receive(fd, &attempt, start);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}

int wsh_uid_rejoin(const struct wsh_uid *uid, int rank, int n_ranks, const struct wsh_env *env)
{
    double now = wsh_uid_now();
    struct attempt attempt = {.uid = uid,
                              .deadline = now + REJOIN_SECONDS,
                              .began = now,
                              .listens = true,
                              .every = WSH_UID_FOR_EVER,
                              .next_report = now + WSH_UID_FOR_EVER};
    int rc =
        wsh_uid_hello_make(&attempt.hello, rank, n_ranks, wsh_machine_id(), wsh_host_id(env->node_emulated));

    return rc ? rc : join_connect(&attempt, REJOIN_SECONDS);
}
