/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors are taken from the PEs of the job alone: what others send is closed, counted, and said once. */
#define _GNU_SOURCE
#include "transports/fds.h"

#include "test/common/unit.h"
#include "transports/fds_packet.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SENT_MAX 40

static struct wsh_fds pes[2];
static struct wsh_fds_address addresses[2];
static const void *blobs[2] = {&addresses[0], &addresses[1]};
static const size_t lens[2] = {sizeof addresses[0], sizeof addresses[1]};
static const bool same_host[2] = {true, true};
static const struct wsh_tp_peers peers = {2, blobs, lens, same_host};
static int taken;

static int count_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static int take(void *arg, int pe, const struct wsh_fds_gift *gift)
{
    const struct wsh_fds *taker = arg;

    taken++;
    CU_ASSERT(pe == 1 - taker->my_pe);
    CU_ASSERT(taker->my_pe == 0 ? gift->n == 0 : gift->n == 1 && gift->len[0] == 4096);
    return 0;
}

static void open_pair(void)
{
    taken = 0;
    for (int pe = 0; pe < 2; pe++) {
        size_t len;

        CU_ASSERT(!wsh_fds_open(&pes[pe], "local", pe, 2));
        CU_ASSERT(!wsh_fds_address(&pes[pe], &addresses[pe], &len) && len == sizeof addresses[pe]);
    }
}

/* A datagram of `size` bytes with so many descriptors to PE 1; false where the queue is full. */
static bool send_foreign(int sock, size_t size, int n)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char bytes[512] = "", control[CMSG_SPACE(SENT_MAX * sizeof(int))] = "";
    struct iovec iov = {bytes, size};
    struct msghdr msg = {.msg_name = &name, .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
    int fds[SENT_MAX];

    memcpy(name.sun_path, addresses[1].name, addresses[1].name_len);
    msg.msg_namelen = (socklen_t)(sizeof name.sun_family + addresses[1].name_len);
    msg.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
    *CMSG_FIRSTHDR(&msg) = (struct cmsghdr){CMSG_LEN((size_t)n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    for (int i = 0; i < n; i++)
        fds[i] = sock;
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, (size_t)n * sizeof(int));
    return sendmsg(sock, &msg, MSG_DONTWAIT) >= 0;
}

/* PE 1 finds so many datagrams of each kind before PE 0's. */
static void exchange(void *arg)
{
    struct wsh_fds_gift gift = {.n = 1, .seg = {0}, .len = {4096}, .fd = {memfd_create("unit", 0)}};
    struct wsh_fds_gift none = {0};
    int sock = socket(AF_UNIX, SOCK_DGRAM, 0), rc = -EAGAIN;
    const int counts[] = {1, 11, 12, SENT_MAX};

    (void)arg;
    for (int i = 0; i < 400 && (rc == -EAGAIN || pes[0].sock >= 0); i++) {
        for (int k = 0; k < 4 && i < 300; k++)
            send_foreign(sock, i % 2 ? 8 : 240, counts[k]);
        if (rc == -EAGAIN)
            rc = wsh_fds_exchange(&pes[1], &peers, &none, take, &pes[1]);
        if (i > 100 && pes[0].sock >= 0)
            wsh_fds_exchange(&pes[0], &peers, &gift, take, &pes[0]);
    }
    CU_ASSERT_EQUAL(rc, 0);
    close(sock);
    close(gift.fd[0]);
}

static void others_are_turned_away(void)
{
    int before = count_open();
    char text[4096];

    open_pair();
    unit_capture(exchange, NULL, text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT(strstr(text, "not from a PE of this job") != NULL);
    CU_ASSERT(pes[1].foreign >= 100);
    CU_ASSERT_EQUAL(taken, 2);
    for (int pe = 0; pe < 2; pe++)
        wsh_fds_close(&pes[pe]);
    CU_ASSERT_EQUAL(count_open(), before);
}

/* Both PEs in turn, until one of them has an error or both are done. */
static int exchange_rc;

static void exchange_both(void *arg)
{
    struct wsh_fds_gift gift = {.n = 1, .seg = {0}, .len = {4096}, .fd = {memfd_create("unit", 0)}};
    struct wsh_fds_gift none = {0};
    int rc[2] = {-EAGAIN, -EAGAIN};

    (void)arg;
    for (int i = 0; i < 100; i++)
        for (int pe = 0; pe < 2; pe++)
            if (rc[pe] == -EAGAIN)
                rc[pe] = wsh_fds_exchange(&pes[pe], &peers, pe ? &none : &gift, take, &pes[pe]);
    exchange_rc = rc[0] && rc[0] != -EAGAIN ? rc[0] : rc[1];
    close(gift.fd[0]);
}

static void close_pair(void)
{
    for (int pe = 0; pe < 2; pe++)
        wsh_fds_close(&pes[pe]);
}

static void exchange_zero(void *arg)
{
    struct wsh_fds_gift gift = {.n = 1, .seg = {0}, .len = {4096}, .fd = {memfd_create("unit", 0)}};

    (void)arg;
    for (int i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(wsh_fds_exchange(&pes[0], &peers, &gift, take, &pes[0]), -EAGAIN);
    close(gift.fd[0]);
}

/* What the kernel says of the user is not what the PE says itself, as from another user namespace. */
static void other_users_end_it(void)
{
    char text[4096];

    open_pair();
    addresses[0].uid++;
    unit_capture(exchange_both, NULL, text, sizeof text);
    CU_ASSERT_EQUAL(exchange_rc, -EPERM);
    CU_ASSERT(strstr(text, "cannot give memory to PE 0") && strstr(text, "SHMEM_TRANSPORTS=efa"));
    close_pair();
}

/* Where the soft limit leaves fewer than the exchange needs it is raised, and is afterwards what it was. */
static void soft_limit_is_raised(void)
{
    struct rlimit before, few, after;
    char text[4096];
    int low;

    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    open_pair();
    low = dup(0);
    close(low);
    few.rlim_cur = (rlim_t)low + 4; /* for unit_capture and the memory */
    CU_ASSERT(!setrlimit(RLIMIT_NOFILE, &few));
    unit_capture(exchange_both, NULL, text, sizeof text);
    getrlimit(RLIMIT_NOFILE, &after);
    setrlimit(RLIMIT_NOFILE, &before);
    CU_ASSERT_EQUAL(after.rlim_cur, few.rlim_cur);
    CU_ASSERT_EQUAL(exchange_rc, 0);
    CU_ASSERT_EQUAL(taken, 2);
    close_pair();
}

/* The PE whose name it was has died: who has the name now gets a socket, and no memory whatever it sends into that. */
static void taken_name_gets_no_memory(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct wsh_fds_packet got;
    int thief = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct stat what = {0};
    char text[4096];

    open_pair();
    close(pes[1].sock);
    pes[1].sock = -1;
    memcpy(name.sun_path, addresses[1].name, addresses[1].name_len);
    CU_ASSERT(
        !bind(thief, (struct sockaddr *)&name, (socklen_t)(sizeof name.sun_family + addresses[1].name_len)));
    unit_capture(exchange_zero, NULL, text, sizeof text);
    CU_ASSERT(wsh_fds_packet_take(thief, &got) && got.n == 1);
    CU_ASSERT(!fstat(got.fd[0], &what) && S_ISSOCK(what.st_mode));
    wsh_fds_packet_drop(&got);
    CU_ASSERT(!wsh_fds_packet_take(thief, &got));
    close(thief);
    close_pair();
}

const struct unit_test unit_tests[] = {
    {"descriptors of others, however many, are closed, and said once", others_are_turned_away},
    {"a PE of another user than it says ends the exchange with a line", other_users_end_it},
    {"where descriptors are lacking the soft limit is raised for a while", soft_limit_is_raised},
    {"who takes over the name of a PE gets no memory", taken_name_gets_no_memory},
    {NULL, NULL},
};
