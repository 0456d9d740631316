/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects to the root of a unique id. Any program may listen at its address meanwhile, so a peer that cannot show that
 * it knows the secret is none, and the next address is tried.
 */
#define _GNU_SOURCE
#include "bootstrap/uid_join.h"

#include "bootstrap/uid_addr.h"
#include "base/err.h"
#include "base/log.h"
#include "base/machine.h"

#include <poll.h>
#include <unistd.h>

#define CONNECT_SECONDS 3. /* for one try of one address … */
#define ANSWER_SECONDS 20. /* … and for its answer, on a busy machine */
#define PAUSE_MS_MAX 500
#define LATE_SECONDS 10. /* beyond what the root waits for the others */

struct attempt {
    const struct wsh_uid *uid;
    struct wsh_uid_hello hello;
    double deadline;
    int rc; /* why the last one failed */
    struct wsh_uid_address address;
};

static double earlier(double a, double b)
{
    return a < b ? a : b;
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

    for (int i = 0; i < uid->n_addresses; i++) {
        const struct wsh_uid_address *address = &uid->address[i];
        int rc;

        if (wsh_uid_address_is_loopback(address) && !same)
            continue;
        rc = try_address(attempt, address);
        if (rc >= 0 || rc == -EPROTONOSUPPORT)
            return rc;
        if (!tried && (rc != -ETIMEDOUT || !attempt->rc)) { /* the last try may have been short */
            attempt->rc = rc;
            attempt->address = *address;
        }
        tried = true;
    }
    return tried ? -EAGAIN : -ENETUNREACH;
}

static int log_unreachable(const struct attempt *attempt, double seconds)
{
    char address[WSH_UID_ADDRESS_TEXT], route[64];
    int rc = attempt->rc;

    wsh_uid_address_print(&attempt->address, address);
    wsh_uid_addr_route(&attempt->address, route, sizeof route);
    wsh_error("the root of the unique id at %s (by %s) does not answer within %.3g s: %s; does the process "
              "that made "
              "the id still run, has its world not ended, and do firewalls allow it? "
              "SHMEM_BOOTSTRAP_UID_IFNAME there chooses another interface",
              address, route, seconds,
              rc == -EPIPE    ? "it closed the connection"
              : rc == -EPROTO ? "another program listens there"
                              : wsh_strerror(rc));
    return rc;
}

static int log_other(int rc)
{
    if (rc == -EPROTONOSUPPORT)
        wsh_error(
            "the root of the unique id runs another version of warpshmem; install one version on all hosts");
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
        poll(NULL, 0, pause_ms);
        pause_ms = pause_ms * 2 < PAUSE_MS_MAX ? pause_ms * 2 : PAUSE_MS_MAX;
    }
    if (rc >= 0)
        return rc;
    return rc == -EAGAIN ? log_unreachable(attempt, seconds) : log_other(rc);
}

/* The root says that all are there, or why they will not be. */
static int start_receive(int fd, double deadline, struct wsh_uid_start *start)
{
    char text[WSH_UID_TEXT_MAX] = "";
    struct wsh_uid_head head;
    int rc = wsh_uid_receive(fd, &head, sizeof head, deadline);

    if (!rc && (!wsh_uid_head_is_valid(&head, 1) || (head.type != WSH_UID_START && head.type != WSH_UID_END)))
        rc = -EPROTO;
    if (!rc)
        rc = wsh_uid_receive(fd, head.type == WSH_UID_START ? (void *)start : text, head.len, deadline);
    if (!rc && head.type == WSH_UID_START)
        return 0;
    if (!rc)
        wsh_error("%s", text);
    else
        wsh_error(
            "the process that made the unique id has ended before all ranks had come (%s); see its message",
            rc == -EPIPE ? "it closed the connection" : wsh_strerror(rc));
    return rc ? rc : -ECONNABORTED;
}

int wsh_uid_join(const struct wsh_uid *uid, int rank, int n_ranks, const struct wsh_env *env,
                 struct wsh_uid_start *start)
{
    double seconds = env->uid_seconds > 0 ? env->uid_seconds : WSH_UID_FOR_EVER;
    struct attempt attempt = {.uid = uid, .deadline = wsh_uid_now() + seconds};
    int fd, rc = wsh_uid_hello_make(&attempt.hello, rank, n_ranks, wsh_machine_id(),
                                    wsh_host_id(env->node_emulated));

    if (rc) {
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
        return rc;
    }
    fd = join_connect(&attempt, seconds);
    if (fd < 0)
        return fd;
    rc = start_receive(fd, wsh_uid_now() + seconds + LATE_SECONDS, start);
    if (!rc)
        return fd;
    close(fd);
    return rc;
}
