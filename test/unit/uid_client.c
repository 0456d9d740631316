/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's side of its connection to the root: answers, who is waited for, and each end of the job. */
#include "bootstrap/uid/client.h"
#include "bootstrap/uid/move.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum act { ANSWERS, LATE, ENDS, CLOSES, GARBAGE, ABORTS, EXAGGERATES, STARVES };

#define N_PES 2
#define LEASE 0.2

/* The root's side, a thread. `started`: the PE has come through shmem_init. */
struct talk {
    enum act act;
    bool started;
    int fd[2];
    pthread_t root;
    int rc;
    size_t len;
};

static int lost_status; /* -1: not lost. Written by a thread that is joined before it is read */

static void lost(int status)
{
    lost_status = status;
}

static void reply(int fd, enum wsh_uid_type type, uint32_t arg, const char *body)
{
    struct wsh_uid_head head = wsh_uid_head_make(type, arg, strlen(body));

    CU_ASSERT(!wsh_uid_send(fd, &head, sizeof head, wsh_uid_now() + 5));
    CU_ASSERT(!wsh_uid_send(fd, body, head.len, wsh_uid_now() + 5));
}

/* The next message is of this type; its body is "blob". */
static void expect(int fd, enum wsh_uid_type type)
{
    struct wsh_uid_head head = {0};
    char body[8] = "";

    CU_ASSERT(!wsh_uid_receive(fd, &head, sizeof head, wsh_uid_now() + 5));
    CU_ASSERT(wsh_uid_head_is_valid(&head, 1) && head.type == (uint32_t)type && head.len < sizeof body);
    CU_ASSERT(!wsh_uid_receive(fd, body, head.len < sizeof body ? head.len : 0, wsh_uid_now() + 5));
    CU_ASSERT_STRING_EQUAL(body, type == WSH_UID_PUBLISH ? "blob" : "");
}

/* What asks for the lease may come first. */
static void skip_to(int fd, enum wsh_uid_type type)
{
    struct wsh_uid_head head = {0};
    char body[8];

    while (head.type != (uint32_t)type) {
        CU_ASSERT_FATAL(!wsh_uid_receive(fd, &head, sizeof head, wsh_uid_now() + 5));
        CU_ASSERT_FATAL(head.len < sizeof body);
        CU_ASSERT(!wsh_uid_receive(fd, body, head.len, wsh_uid_now() + 5));
    }
}

static void *root_run(void *arg)
{
    struct talk *talk = arg;
    int fd = talk->fd[1];

    if (talk->act == STARVES) { /* it gets no processor for some leases */
        skip_to(fd, WSH_UID_PUBLISH);
        usleep((useconds_t)(4e6 * LEASE));
        reply(fd, WSH_UID_PUBLISH, 7, "answer");
        return NULL;
    }
    expect(fd, WSH_UID_PUBLISH);
    if (talk->act == LATE) {
        expect(fd, WSH_UID_REQUEST);
        reply(fd, WSH_UID_SAY, 0, "PEs that have not come: 3");
    }
    if (talk->act == ANSWERS || talk->act == LATE)
        reply(fd, WSH_UID_PUBLISH, 7, "answer");
    else if (talk->act == ENDS)
        reply(fd, WSH_UID_END, 1, "so it ends");
    else if (talk->act == ABORTS)
        reply(fd, WSH_UID_END, 42, "");
    else if (talk->act == GARBAGE)
        CU_ASSERT(!wsh_uid_send(fd, "what no root says, and long enough", 34, wsh_uid_now() + 5));
    if (talk->act == EXAGGERATES) { /* an answer that only three PEs could have given */
        struct wsh_uid_head head = wsh_uid_head_make(WSH_UID_PUBLISH, 7, (N_PES + 1ul) * WSH_UID_BODY_MAX);

        CU_ASSERT(!wsh_uid_send(fd, &head, sizeof head, wsh_uid_now() + 5));
    }
    if (talk->act == CLOSES)
        shutdown(fd, SHUT_RDWR);
    return NULL;
}

/* A real PE does not come back from lost(); here it does, and the routine that waits returns. */
static void *ask(void *arg)
{
    struct talk *talk = arg;
    struct wsh_uid_client *client =
        wsh_uid_client_open(talk->fd[0], N_PES, talk->act == LATE ? 0.2 : 5, lost, 0,
                            talk->act == STARVES ? LEASE : 0, wsh_uid_move_take);
    char *answer = NULL;

    if (talk->started)
        wsh_uid_client_started(client);
    talk->rc = wsh_uid_client_request(client, WSH_UID_PUBLISH, 7, "blob", 4, "exchange of addresses", &answer,
                                      &talk->len);
    if (!talk->rc)
        CU_ASSERT_STRING_EQUAL(answer, "answer");
    free(answer);
    wsh_uid_client_close(client);
    return NULL;
}

static void talk_run(void *arg)
{
    struct talk *talk = arg;
    pthread_t asker;

    lost_status = -1;
    CU_ASSERT_FATAL(!socketpair(AF_UNIX, SOCK_STREAM, 0, talk->fd));
    CU_ASSERT_FATAL(!pthread_create(&talk->root, NULL, root_run, talk));
    CU_ASSERT_FATAL(!pthread_create(&asker, NULL, ask, talk));
    pthread_join(talk->root, NULL);
    pthread_join(asker, NULL);
    close(talk->fd[1]);
}

/* One line with `word`, or none where it is NULL. */
static void says(struct talk *talk, const char *word)
{
    char text[2048];

    unit_capture(talk_run, talk, text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), word ? 1 : 0);
    if (word)
        CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

static void takes_answers(void)
{
    struct talk talk = {.act = ANSWERS}, late = {.act = LATE};

    says(&talk, NULL);
    CU_ASSERT(talk.rc == 0 && talk.len == 6 && lost_status == -1);
    says(&late, "exchange of addresses: waiting for other PEs since 0 s; PEs that have not come: 3 "
                "(SHMEM_HANG_SECONDS");
    CU_ASSERT(late.rc == 0 && lost_status == -1);
}

static void returns_errors_while_it_starts(void)
{
    struct talk ends = {.act = ENDS}, closes = {.act = CLOSES}, garbage = {.act = GARBAGE},
                exaggerates = {.act = EXAGGERATES};

    says(&ends, "so it ends");
    CU_ASSERT(ends.rc == -ECONNABORTED && lost_status == -1);
    says(&closes, "lost the connection to the process that made the unique id (closed)");
    CU_ASSERT(closes.rc == -ECONNABORTED && lost_status == -1);
    says(&garbage, "lost the connection to the process that made the unique id (Protocol error)");
    CU_ASSERT(garbage.rc == -ECONNABORTED && lost_status == -1);
    says(&exaggerates, "lost the connection to the process that made the unique id (Protocol error)");
    CU_ASSERT(exaggerates.rc == -ECONNABORTED && lost_status == -1);
}

static void has_no_lease_while_it_starts(void)
{
    struct talk starves = {.act = STARVES};

    says(&starves, NULL);
    CU_ASSERT(starves.rc == 0 && lost_status == -1);
}

static void ends_the_process_afterwards(void)
{
    struct talk ends = {.act = ENDS, .started = true}, closes = {.act = CLOSES, .started = true};

    says(&ends, "so it ends");
    CU_ASSERT_EQUAL(lost_status, 1);
    CU_ASSERT_EQUAL(ends.rc, -ECONNABORTED);
    says(&closes, "lost the connection to the process that made the unique id (closed)");
    CU_ASSERT_EQUAL(lost_status, 1);
    CU_ASSERT_EQUAL(closes.rc, -ECONNABORTED);
}

static void ends_with_the_status_of_an_abort(void)
{
    struct talk early = {.act = ABORTS}, later = {.act = ABORTS, .started = true};

    says(&early, NULL);
    CU_ASSERT_EQUAL(lost_status, 42);
    says(&later, NULL);
    CU_ASSERT_EQUAL(lost_status, 42);
}

const struct unit_test unit_tests[] = {
    {"answers are taken, and who is late is named", takes_answers},
    {"while the job starts its end is an error, in one line", returns_errors_while_it_starts},
    {"while the job starts a root may be late, whatever the lease", has_no_lease_while_it_starts},
    {"afterwards it ends the process", ends_the_process_afterwards},
    {"with the status of an abort, without a line", ends_with_the_status_of_an_abort},
    {NULL, NULL},
};
