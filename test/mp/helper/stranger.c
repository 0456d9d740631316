/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What somebody may try who reaches the port of a PE and knows the layout of its messages and memory, but not the
 * secret of the job. For strangers.sh.
 *   stranger PROVIDER ADDRESS PORT writes|messages|flood N     by libfabric
 *   stranger - ADDRESS PORT raw N                              N connections of TCP, with random bytes or silent
 *   stranger list FOLDER PID                                   endpoints of a process on the emulated EFA device
 *   stranger version                                           that of libfabric
 * Prints what became of it.
 */
#include "test/mp/helper/stranger.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 65536, HEAP = 1 << 20, TOO_LONG = 9000 };

static char buffer[BYTES];

static uint64_t any(void)
{
    uint64_t word = 0;

    if (getrandom(&word, sizeof word, 0) != sizeof word)
        abort();
    return word;
}

/*
 * Keys as they once were (1 + segment), keys of other sizes, and any. The emulated EFA device counts its keys from 1,
 * which says nothing of real ones: small numbers are not guessed there.
 */
static uint64_t guess_key(const struct stranger *from, long i)
{
    if (!strcmp(from->provider, "efa"))
        return (any() & 0xffffffff) | 0x10000;
    switch (i % 4) {
    case 0: return 1 + (uint64_t)i / 4 % 16;
    case 1: return any() & 0xffffffff;
    case 2: return any() & 0xff;
    default: return any();
    }
}

static void try_writes(struct stranger *from, long n)
{
    static const char *const names[] = {"writes", "empty writes", "counted writes", "empty counted writes",
                                        "reads"};
    long done[5] = {0}, failed[5] = {0}, lost = 0;

    for (long i = 0; i < n; i++) {
        struct stranger_op op = {.key = guess_key(from, i), .addr = any() % HEAP & ~7ull};
        int kind = (int)(i % 5), rc;

        op.len = kind == 1 || kind == 3 ? 0 : 8;
        op.counted = kind == 2 || kind == 3;
        op.read = kind == 4;
        op.imm = (uint32_t)(i % 2) << 18 | (uint32_t)(any() % 4) << 8 | (uint32_t)(any() & 0xff);
        rc = stranger_rma(from, buffer, &op);
        done[kind] += rc == 0;
        failed[kind] += rc < 0;
        lost += rc > 0;
    }
    for (int kind = 0; kind < 5; kind++)
        printf("%s: %ld completed, %ld refused\n", names[kind], done[kind], failed[kind]);
    printf("without an answer: %ld\n", lost);
}

/* A message of every type that looks right but for its tag, some with random bytes instead, some too long. */
static size_t forge(long i)
{
    union wsh_efa_msg *msg = (union wsh_efa_msg *)buffer;
    enum wsh_efa_wire type = (enum wsh_efa_wire)(1 + i % WSH_EFA_WIRE_ACK);
    size_t len = type == WSH_EFA_WIRE_HELLO || type == WSH_EFA_WIRE_ACK ? sizeof msg->head : sizeof *msg;

    if (i % 10 == 9) {
        if (getrandom(buffer, 256, 0) != 256)
            abort();
        return (size_t)(any() % 256);
    }
    memset(buffer, 0, sizeof *msg);
    wsh_efa_wire_head(&msg->head, type, len, (int)(any() % 3), (uint32_t)(any() % 2));
    msg->head.tag = i % 3 ? any() : 0;
    msg->head.stamp.seq = (uint16_t)(any() % 8);
    if (len > sizeof msg->head)
        msg->put.data = (struct wsh_efa_target){.off = any() % HEAP & ~7ull, .seg = (uint8_t)(any() % 2)};
    if (type == WSH_EFA_WIRE_AMO || type == WSH_EFA_WIRE_FETCH)
        msg->amo.word.width = 8;
    if (i % 50 == 17)
        len = TOO_LONG + 1 + (size_t)(any() % (BYTES - TOO_LONG - 1));
    return len;
}

static void try_messages(struct stranger *from, long n, bool flood)
{
    long sent = 0, failed = 0;

    for (long i = 0; i < n; i++) {
        size_t len = flood ? 64 : forge(i);
        int rc = flood ? stranger_flood(from, buffer, len) : stranger_send(from, buffer, len);

        sent += rc == 0;
        failed += rc != 0;
        if (len > TOO_LONG) /* some providers take nothing more over the connection that brought it */
            stranger_open_again(from);
    }
    if (flood)
        failed += stranger_drain(from);
    printf("messages: %ld sent, %ld failed\n", sent, failed);
}

static int connect_raw(const char *address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval second = {1, 0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, address, &to.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    if (!connect(fd, (struct sockaddr *)&to, sizeof to))
        return fd;
    close(fd);
    return -1;
}

/* Half of them say nothing; half of the others are closed at once. */
static void try_raw(const char *address, int port, long n)
{
    long made = 0;

    for (long i = 0; i < n; i++) {
        int fd = connect_raw(address, port);

        made += fd >= 0;
        if (fd < 0 || i % 2)
            continue;
        if (getrandom(buffer, 256, 0) != 256 || send(fd, buffer, 256, MSG_NOSIGNAL) < 0)
            perror("stranger: send");
        if (i % 4 == 0)
            close(fd);
    }
    printf("connections: %ld of %ld made\n", made, n);
    fflush(stdout);
    sleep(2);
}

int main(int argc, char **argv)
{
    struct stranger from = {0};
    long n = argc == 6 ? atol(argv[5]) : 0;

    if (argc == 4 && !strcmp(argv[1], "list"))
        return stranger_list(argv[2], atoi(argv[3]));
    if (argc == 2 && !strcmp(argv[1], "version"))
        return printf("%u.%u\n", FI_MAJOR(fi_version()), FI_MINOR(fi_version())) < 0;
    if (n < 1) {
        fprintf(stderr, "stranger: see the head of stranger.c\n");
        return 2;
    }
    if (!strcmp(argv[4], "raw")) {
        try_raw(argv[2], atoi(argv[3]), n);
        return 0;
    }
    from.provider = argv[1], from.address = argv[2], from.port = argv[3];
    if (stranger_open(&from))
        return 77;
    if (!strcmp(argv[4], "writes"))
        try_writes(&from, n);
    else
        try_messages(&from, n, !strcmp(argv[4], "flood"));
    stranger_close(&from);
    return 0;
}
