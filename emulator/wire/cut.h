/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts an operation into segments, each with a due time of its own. Everything here is called with one lock held, by
 * wire.c.
 *
 * Random numbers come from many sequences, one for all operations of the same length, kind and target: what another
 * thread, or the provider on its own account, posts in between changes none of theirs.
 */
#ifndef EMU_CUT_H
#define EMU_CUT_H

#include "emulator/wire/heap.h"

void emu_cut_init(void);
/* `now` as emu_wire_now gives it. In replay mode each sequence counts its segments from there, one a microsecond. */
void emu_cut(struct emu_op *op, uint64_t now, struct emu_heap *heap);
/* Replay mode: the sequences count from the start again. */
void emu_cut_restart(void);
/* Should this doorbell be refused, as the fault script says? */
bool emu_cut_refuses(const struct emu_qp *qp, uint64_t now);

#endif
