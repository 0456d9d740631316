/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the nvlink transport: the GPUs of this host's PEs as this PE reaches them. */
#ifndef WSH_NVLINK_H
#define WSH_NVLINK_H

#include "base/cuda/mem.h"
#include "transports/fds.h"

#include <pthread.h>

struct nvlink_ctx;
struct nvlink_words;
struct nvlink_given;
struct nvlink_opened;

struct nvlink_peer {
    bool here;                  /* on this host, with this transport */
    int slot;                   /* among the PEs of this host, or -1: on another one */
    int failed;                 /* error of mapping its memory, logged */
    struct nvlink_given *given; /* its memory that came as descriptors, until it is attached */
};

struct nvlink {
    struct wsh_tp tp;
    int my_pe, n_pes;
    const struct wsh_gpu *gpu;
    struct wsh_fds fds;
    struct wsh_mem adding;          /* the memory that was registered last */
    struct wsh_gpu_export exported; /* its descriptors, where they are not the heap's own */
    struct nvlink_peer *peers;      /* [n_pes] */
    struct nvlink_opened *opened;   /* allocations of peers, by IPC key */
    int priority;                   /* of our streams: the highest */

    wsh_cu_module module; /* the kernel that performs atomics; NULL: none can be had */
    wsh_cu_function agent;

    pthread_mutex_t lock; /* of the lists */
    struct nvlink_ctx *ctxs;
    struct nvlink_words
        *spare; /* of contexts that have ended: giving pinned memory back waits for running kernels */
};

/*
 * given.c: memory by descriptors. export: makes those of `mem`; *off: where it begins in the first. attach: rmem->len
 * bytes from `off` on of what its PE has given, which rmem->priv then keeps; -EPROTO (unlogged): it has not. forget:
 * what was not attached.
 */
int nvlink_connect(struct wsh_tp *tp, const struct wsh_tp_peers *peers);
int nvlink_mem_connect(struct wsh_tp *tp, enum wsh_seg seg, const struct wsh_tp_peers *peers);
int nvlink_export(struct nvlink *nv, const struct wsh_mem *mem, uint64_t *off);
int nvlink_given_attach(struct nvlink *nv, uint64_t off, struct wsh_rmem *rmem);
void nvlink_given_close(struct nvlink *nv, struct nvlink_given *given);
void nvlink_forget_given(struct nvlink *nv);
int nvlink_map_fail(const struct nvlink *nv, int pe, int status);

/* mem.c: the memory of this PE and of its peers. */
int nvlink_mem_register(struct wsh_tp *tp, const struct wsh_mem *mem, struct wsh_lmem **lmem, void *blob,
                        size_t *blob_len);
void nvlink_mem_release(struct wsh_tp *tp, struct wsh_lmem *lmem);
int nvlink_mem_attach(struct wsh_tp *tp, int pe, enum wsh_seg seg, const void *blob, size_t blob_len,
                      struct wsh_rmem *rmem);
int nvlink_mem_adopt(struct wsh_tp *tp, int pe, enum wsh_seg seg, char *map, size_t len,
                     struct wsh_rmem *rmem);
void nvlink_mem_detach(struct wsh_tp *tp, struct wsh_rmem *rmem);

/* op.c: the hot path; see struct wsh_tp_ops. */
int nvlink_put(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src, size_t len,
               struct wsh_done *done);
int nvlink_get(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, void *dst, size_t len,
               struct wsh_done *done);
int nvlink_amo(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const struct wsh_amo *amo,
               void *result, struct wsh_done *done);
int nvlink_put_signal(struct wsh_tctx *tctx, const struct wsh_rmem *rmem, size_t off, const void *src,
                      size_t len, const struct wsh_sig *sig, struct wsh_done *done);

#endif
