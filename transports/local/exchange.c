/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges memory descriptors with the PEs of this host and maps their memory. */
#define _GNU_SOURCE
#include "transports/local/local.h"

#include "base/log.h"

#include <sys/mman.h>
#include <sys/stat.h>

/* A core dump would hold all of it, and put memory behind what nobody has touched. */
static int map_seg(struct local_peer *peer, uint32_t seg, uint64_t len, int fd, bool dumped)
{
    struct stat st;
    char *map;

    if (seg >= (uint32_t)WSH_SEGS_HOST || peer->seg[seg].map || fstat(fd, &st) || (uint64_t)st.st_size < len)
        return -EPROTO;
    map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    madvise(map, len, MADV_HUGEPAGE);
    if (!dumped)
        madvise(map, len, MADV_DONTDUMP);
    peer->seg[seg].map = map;
    peer->seg[seg].len = len;
    return 0;
}

static int gift_take(void *arg, int pe, const struct wsh_fds_gift *gift)
{
    struct local *local = arg;
    struct local_peer *peer = &local->peers[pe];
    int rc = 0;

    for (uint32_t i = 0; i < gift->n && !rc; i++)
        rc = map_seg(peer, gift->seg[i], gift->len[i], gift->fd[i], local->dumped);
    if (rc)
        wsh_error("cannot map the memory of PE %d: %s; lower SHMEM_SYMMETRIC_SIZE or raise the limit of "
                  "address space (ulimit -v)",
                  pe, wsh_strerror(rc));
    peer->received = true;
    return rc;
}

int local_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers)
{
    struct local *local = (struct local *)tp;
    struct wsh_fds_gift mine = {0};
    int rc;

    for (int seg = 0; seg < WSH_SEGS_HOST; seg++) {
        if (local->mine[seg].fd < 0)
            continue;
        mine.seg[mine.n] = (uint32_t)seg;
        mine.len[mine.n] = local->mine[seg].len;
        mine.fd[mine.n++] = local->mine[seg].fd;
    }
    rc = wsh_fds_exchange(&local->fds, peers, &mine, gift_take, local);
    if (!rc)
        wsh_fds_end(&local->fds);
    return rc;
}
