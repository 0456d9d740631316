/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of payload between the memories of two processes. */
#ifndef EMU_COPY_H
#define EMU_COPY_H

#include "emulator/wire/wire.h"

/*
 * Bytes offset … offset + len - 1 of the operation's local buffers, to `raddr` of the peer (or, for a read, from
 * there). `gpu`: which one holds
 * raddr, from 1, or 0. len <= EMU_PACKET_BYTES; the peer's region is locked. Returns 0, -ESRCH
 * if the peer is dead, -EFAULT if some of the memory is not there.
 */
int emu_copy(const struct emu_op *op, uint32_t offset, uint32_t len, struct emu_peer *peer, uint64_t raddr,
             uint32_t gpu);

/* A part of an operation's payload into `data`. Returns 0 or -EFAULT. */
int emu_copy_gather(const struct emu_op *op, uint32_t offset, uint32_t len, void *data);

/* Between `data` and this process's own memory at `addr`. Returns 0 or -EFAULT. */
int emu_copy_local(uint64_t addr, void *data, uint32_t len, uint32_t gpu, bool into_memory);

#endif
