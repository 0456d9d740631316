/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulator's settings, read once from the environment. */
#ifndef EMU_SETTINGS_H
#define EMU_SETTINGS_H

#include "emulator/wire/faults.h"
#include "emulator/wire/profile.h"

#define EMU_SQ_DEPTH 4096
#define EMU_COUNTER_START 0x7fffffc0u /* 64 before the end of a counter */
#define EMU_DIR_MAX 120               /* paths below it must fit in struct ibv_device */

enum emu_copy_mode { EMU_COPY_AUTO, EMU_COPY_DIRECT, EMU_COPY_HELPER };

struct emu_settings {
    char dir[EMU_DIR_MAX];
    const struct emu_profile *profile;
    struct emu_nic nic[EMU_NICS_MAX];
    unsigned nnics;
    uint32_t visible; /* bit mask over nic */
    bool seeded, quiet, replay, count;
    bool null; /* requests of queues in memory are checked, and over */
    uint64_t counter_start;
    uint64_t seed;
    uint32_t sq_depth; /* requests that a send queue takes */
    uint32_t handles;  /* address handles of a process with a NIC */
    double time_scale; /* 0: no time model */
    uint64_t reorder_ns;
    int rank; /* -1: not known */
    enum emu_copy_mode copy;
    struct emu_faults faults;
};

/*
 * Returns 0; -ENOTDIR where EFA_EMULATOR_DIR is missing or unusable, -EINVAL for any other bad value: both have
 * been reported, in one line.
 */
int emu_settings_read(struct emu_settings *settings);

#endif
