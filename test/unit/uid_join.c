/* SPDX-License-Identifier: BSD-3-Clause */
/* Who connects by a unique id believes only a root that knows its secret, and says in one line why there is none. */
#include "bootstrap/uid/join.h"

#include "base/process/machine.h"

#include "test/common/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum act { SILENT, CLOSES, GARBAGE, OTHER_VERSION, NO_SECRET, STARTS, ENDS, STOPS };

/* A root that does one thing with whoever connects. */
struct root {
    enum act act;
    struct wsh_uid uid;
    int listener;
    pthread_t thread;
    int rc;
    struct wsh_uid_start start;
};

static void root_open(struct root *root, enum act act)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof in;

    *root = (struct root){.act = act, .listener = socket(AF_INET, SOCK_STREAM, 0)};
    CU_ASSERT_FATAL(!bind(root->listener, (struct sockaddr *)&in, len) && !listen(root->listener, 8) &&
                    !getsockname(root->listener, (struct sockaddr *)&in, &len));
    wsh_uid_address_from_socket(&root->uid.address[0], (struct sockaddr *)&in);
    root->uid.n_addresses = 1;
    root->uid.machine = wsh_machine_id();
    wsh_uid_seal(&root->uid);
}

/* The rest of the talk with one that has greeted. */
static void root_answer(const struct root *root, int fd, const struct wsh_uid_challenge *challenge,
                        double deadline)
{
    static const struct wsh_secret other = {{1}};
    struct wsh_uid_start start = {3, 7, 1, 0};
    struct wsh_uid_head head =
        wsh_uid_head_make(root->act == ENDS ? WSH_UID_END : WSH_UID_START, 1, sizeof start);
    struct wsh_uid_proof proof = {0};
    struct wsh_uid_hello hello;

    if (wsh_uid_receive(fd, &hello, sizeof hello, deadline))
        return;
    CU_ASSERT(wsh_uid_hello_is_valid(&root->uid.secret, challenge, &hello) && hello.rank == 2 &&
              hello.n_ranks == 9);
    proof.tag = wsh_uid_proof_tag(root->act == NO_SECRET ? &other : &root->uid.secret, challenge, &hello);
    wsh_uid_send(fd, &proof, sizeof proof, deadline);
    if (root->act == STOPS)
        return;
    if (root->act == ENDS)
        head.len = strlen("so it ends");
    wsh_uid_send(fd, &head, sizeof head, deadline);
    wsh_uid_send(fd, root->act == ENDS ? (const void *)"so it ends" : &start, head.len, deadline);
}

static void root_talk(const struct root *root, int fd)
{
    double deadline = wsh_uid_now() + 5;
    struct wsh_uid_challenge challenge;
    char byte;

    CU_ASSERT_EQUAL_FATAL(wsh_uid_challenge_make(&challenge), 0);
    if (root->act == CLOSES)
        return;
    if (root->act == GARBAGE)
        memset(&challenge, 'x', sizeof challenge);
    if (root->act == OTHER_VERSION)
        challenge.version++;
    if (root->act == SILENT || wsh_uid_send(fd, &challenge, sizeof challenge, deadline))
        wsh_uid_receive(fd, &byte, 1, deadline);
    else if (root->act >= NO_SECRET)
        root_answer(root, fd, &challenge, deadline);
}

static void *root_run(void *arg)
{
    struct root *root = arg;

    for (int fd; (fd = accept(root->listener, NULL, NULL)) >= 0; close(fd))
        root_talk(root, fd);
    return NULL;
}

static double hang_seconds;

static void join(void *arg)
{
    struct root *root = arg;
    struct wsh_env env = {.uid_seconds = 0.5, .hang_seconds = hang_seconds, .node_emulated = -1};

    root->rc = wsh_uid_join(&root->uid, 2, 9, false, &env, &root->start);
}

/* `word`: of the one line; NULL: it joins. */
static void joins(enum act act, int wanted, const char *word)
{
    struct root root;
    char text[1024];

    root_open(&root, act);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&root.thread, NULL, root_run, &root), 0);
    unit_capture(join, &root, text, sizeof text);
    shutdown(root.listener, SHUT_RDWR);
    pthread_join(root.thread, NULL);
    close(root.listener);
    if (word) {
        CU_ASSERT_EQUAL(root.rc, wanted);
        CU_ASSERT_EQUAL(unit_lines(text), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
        return;
    }
    CU_ASSERT(root.rc >= 0 && root.start.local_rank == 3 && root.start.local_size == 7);
    CU_ASSERT_EQUAL(unit_lines(text), 0);
    close(root.rc);
}

static void a_root(void)
{
    joins(STARTS, 0, NULL);
    joins(ENDS, -ECONNABORTED, "so it ends");
    joins(STOPS, -EPIPE, "has ended before all ranks had come (it closed the connection)");
}

static void no_root(void)
{
    joins(SILENT, -ETIMEDOUT, "does not answer within 0.5 s");
    joins(CLOSES, -EPIPE, "it closed the connection");
    joins(GARBAGE, -EPROTO, "another program listens there");
    joins(NO_SECRET, -EPROTO, "another program listens there");
    joins(OTHER_VERSION, -EPROTONOSUPPORT, "another version of warpshmem (bootstrap 5, ours 4)");
}

static void nobody_listens(void)
{
    struct root root;
    char text[1024];

    root_open(&root, SILENT);
    close(root.listener);
    unit_capture(join, &root, text, sizeof text);
    CU_ASSERT_EQUAL(root.rc, -ECONNREFUSED);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "(by interface lo) does not answer within 0.5 s: Connection refused"));
    hang_seconds = 0.1;
    unit_capture(join, &root, text, sizeof text);
    hang_seconds = 0;
    CU_ASSERT(unit_lines(text) > 1 &&
              strstr(text, "start by a unique id: waiting for its root at 127.0.0.1:"));
    root.uid.machine = 0; /* loopback is the other machine's own */
    unit_capture(join, &root, text, sizeof text);
    CU_ASSERT_EQUAL(root.rc, -ENETUNREACH);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "listens on loopback only"));
}

const struct unit_test unit_tests[] = {
    {"who knows the secret is believed: it starts, ends or stops", a_root},
    {"who does not is no root: one line says what it is", no_root},
    {"nobody listens", nobody_listens},
    {NULL, NULL},
};
