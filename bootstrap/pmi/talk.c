/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends questions to a PMI server, waits for the answers, and notices when it is gone. */
#define _GNU_SOURCE
#include "bootstrap/pmi/talk.h"

#include "base/err.h"
#include "base/log.h"
#include "base/process/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * A launcher that ends a job because of another PE kills this one too, at about the time at which its socket
 * closes. Its report would be hidden by one line of each PE, so a PE says that the launcher is gone only if it
 * lives on so long.
 */
#define GONE_MS 1000
#define LEAVE_MS 5000

/* By whichever thread notices; the other one waits for the line and adds none. */
static void gone_report(struct wsh_pmi_talk *talk)
{
    pthread_mutex_lock(&talk->losing);
    if (!talk->gone) {
        talk->gone = true;
        wsh_error("lost the connection to the launcher (pmi): it has ended, and so does this PE");
        if (talk->lost)
            talk->lost(1);
    }
    pthread_mutex_unlock(&talk->losing);
}

static int server_gone(struct wsh_pmi_talk *talk)
{
    poll(NULL, 0, GONE_MS);
    gone_report(talk);
    return -EIO;
}

int wsh_pmi_talk_open(struct wsh_pmi_talk *talk, int fd)
{
    int type;
    socklen_t len = sizeof type;

    talk->fd = fd;
    talk->have = 0;
    talk->gone = false;
    pthread_mutex_init(&talk->losing, NULL);
    if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM) {
        fcntl(fd, F_SETFD, FD_CLOEXEC); /* a program that this PE starts is not this PE */
        return 0;
    }
    wsh_error("PMI_FD=%d is not the launcher's socket; if a script starts the program, it must leave its "
              "descriptors "
              "open, and a program that a PE starts cannot be a PE itself (SHMEM_BOOTSTRAP=single)",
              fd);
    return -EBADF;
}

static int bytes_send(struct wsh_pmi_talk *talk, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = send(talk->fd, bytes, len, MSG_NOSIGNAL);
        struct pollfd room = {.fd = talk->fd, .events = POLLOUT};

        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&room, 1, GONE_MS);
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

static void late_print(const struct wsh_pmi_talk *talk, enum wsh_pmi_op op, double waited)
{
    if (op == WSH_PMI_FENCE)
        wsh_warn("%s: waiting for other PEs since %.0f s; those that do not say this are missing "
                 "(SHMEM_HANG_SECONDS sets when this is said)",
                 talk->what, waited);
    else
        wsh_warn("PMI: waiting for the launcher's answer to '%s' since %.0f s (SHMEM_HANG_SECONDS sets when "
                 "this is "
                 "said)",
                 wsh_pmi_command(&talk->session, op), waited);
}

/* Waits for more bytes. limit_ms < 0: as long as it takes, with a line now and then. 0, -EIO (end) or -ETIMEDOUT. */
static int bytes_await(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, int limit_ms)
{
    double hang = talk->hang_seconds > 1e6 ? 1e6 : talk->hang_seconds, waited = 0;
    struct pollfd more = {.fd = talk->fd, .events = POLLIN};

    for (;;) {
        ssize_t n = recv(talk->fd, talk->in + talk->have, sizeof talk->in - talk->have, MSG_DONTWAIT);
        int rc;

        if (n > 0) {
            talk->have += (size_t)n;
            return 0;
        }
        if (!n || (errno != EAGAIN && errno != EINTR))
            return -EIO;
        rc = poll(&more, 1, limit_ms >= 0 ? limit_ms : hang > 0 ? (int)(hang * 1e3) : -1);
        if (!rc && limit_ms >= 0)
            return -ETIMEDOUT;
        if (!rc)
            late_print(talk, op, waited += hang);
    }
}

/* Moves the first message out of what came. Returns its length, or a negative errno. */
static long message_await(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, int limit_ms, char *message)
{
    long len;

    while (!(len = wsh_pmi_frame(&talk->session, op, talk->in, talk->have))) {
        int rc = bytes_await(talk, op, limit_ms);

        if (rc)
            return rc;
    }
    if (len < 0)
        return len;
    memcpy(message, talk->in, (size_t)len);
    talk->have -= (size_t)len;
    memmove(talk->in, talk->in + len, talk->have);
    return len;
}

/* The beginning of what a server sent, fit for a line. */
static const char *shown(const char *bytes, long len, char *text, size_t size)
{
    size_t n = len < 0 ? 0 : (size_t)len < size - 1 ? (size_t)len : size - 1;

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '.');
    text[n] = '\0';
    return text;
}

static const char *reason(int rc)
{
    switch (rc) {
    case -EMSGSIZE: return "longer than the protocol allows";
    case -EREMOTEIO: return "a refusal";
    case -ERANGE: return "not what PMI_RANK and PMI_SIZE say, or a limit out of range";
    default: return "not an answer to it";
    }
}

static int answer_refuse(const struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *bytes, long len,
                         int rc)
{
    char text[81];

    wsh_error("PMI-%d: the launcher's answer to '%s' is %s: '%s'; start with oshrun, srun or mpiexec.hydra",
              talk->session.version, wsh_pmi_command(&talk->session, op), reason(rc),
              shown(bytes, len, text, sizeof text));
    return rc;
}

/* As wsh_pmi_talk_request; a refusal is said only if it is not `optional`. */
static int question_put(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *key, const char *value,
                        bool optional, struct wsh_pmi_answer *answer)
{
    struct wsh_pmi_message message;
    int rc = wsh_pmi_request(&talk->session, op, key, value, &message);
    long len;

    if (rc) {
        wsh_error(
            "PMI-%d: '%s' cannot be asked for (key %s): %s; set SHMEM_BOOTSTRAP=pmix or use another launcher",
            talk->session.version, wsh_pmi_command(&talk->session, op), key ? key : "none", wsh_strerror(rc));
        return rc;
    }
    if (bytes_send(talk, message.text, message.len))
        return server_gone(talk);
    len = message_await(talk, op, -1, message.text);
    if (len == -EIO)
        return server_gone(talk);
    if (len < 0)
        return answer_refuse(talk, op, talk->in, (long)talk->have, (int)len);
    rc = wsh_pmi_read(&talk->session, op, message.text, (size_t)len, answer);
    if (!rc || rc == -EAGAIN || (optional && rc == -EREMOTEIO))
        return rc;
    return answer_refuse(talk, op, message.text, len, rc);
}

int wsh_pmi_talk_request(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *key, const char *value,
                         struct wsh_pmi_answer *answer)
{
    return question_put(talk, op, key, value, false, answer);
}

int wsh_pmi_talk_try(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *key,
                     struct wsh_pmi_answer *answer)
{
    return question_put(talk, op, key, NULL, true, answer);
}

void wsh_pmi_talk_say(struct wsh_pmi_talk *talk, enum wsh_pmi_op op, const char *value)
{
    struct wsh_pmi_message message;

    if (!wsh_pmi_request(&talk->session, op, NULL, value, &message))
        bytes_send(talk, message.text, message.len);
}

void wsh_pmi_talk_close(struct wsh_pmi_talk *talk)
{
    char message[WSH_PMI_MESSAGE];

    /*
     * A server that finds the socket closed before it has read this, or while it answers, would take it for a
     * failure.
     */
    if (!talk->gone) {
        wsh_pmi_talk_say(talk, WSH_PMI_FINALIZE, NULL);
        message_await(talk, WSH_PMI_FINALIZE, LEAVE_MS, message);
    }
    close(talk->fd);
    talk->fd = -1;
}

/* Only for the end of the socket: what can be read is for the thread that asked. */
static void *watch(void *arg)
{
    struct wsh_pmi_talk *talk = arg;
    struct pollfd fds[2] = {{.fd = talk->stop, .events = POLLIN}, {.fd = talk->fd, .events = POLLRDHUP}};

    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        continue;
    if (!fds[0].revents && !poll(fds, 1, GONE_MS))
        gone_report(talk);
    return NULL;
}

int wsh_pmi_talk_watch(struct wsh_pmi_talk *talk)
{
    sigset_t before;
    int rc;

    talk->stop = eventfd(0, EFD_CLOEXEC);
    if (talk->stop < 0) {
        rc = -errno;
    } else {
        wsh_signals_block(&before); /* signals are for the program's threads */
        rc = -pthread_create(&talk->watcher, NULL, watch, talk);
        wsh_signals_restore(&before);
        if (rc)
            close(talk->stop);
    }
    if (rc)
        wsh_error("PMI: no thread that watches the launcher: %s; see ulimit -u and ulimit -n",
                  wsh_strerror(rc));
    return rc;
}

void wsh_pmi_talk_unwatch(struct wsh_pmi_talk *talk)
{
    uint64_t one = 1;

    if (write(talk->stop, &one, sizeof one) == sizeof one)
        pthread_join(talk->watcher, NULL);
    close(talk->stop);
}
