/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how the PEs of a job come to share an emulated EFA device (--emulate-efa). */
#ifndef WSH_OSHRUN_EMULATE_H
#define WSH_OSHRUN_EMULATE_H

#include <stdbool.h>

#define WSH_EMULATE_DEFAULT "p5"
#define WSH_EMULATE_PROFILES "p4d, p5, p5en, p6 or minimal"

/* All NULL = no device. */
struct wsh_emulate {
    const char *profile;
    char *library; /* preloaded under libfabric's efa provider */
    char *folder;  /* mode 0700, inside the job's temporary folder: what the device's processes share */
};

bool wsh_emulate_knows(const char *profile);

/* Finds the library and makes the folder below `tmpdir`. 0, or OSHRUN_FAILED after one line. */
int wsh_emulate_open(struct wsh_emulate *emulate, const char *profile, const char *tmpdir);
void wsh_emulate_close(struct wsh_emulate *emulate);

/*
 * Sets in *env what leads a PE to the device; transports and provider only where the user chose none. With
 * `within_hosts`, the PEs of one emulated host keep their shared memory. 0 or -ENOMEM.
 */
int wsh_emulate_environ(const struct wsh_emulate *emulate, bool within_hosts, char ***env);

#endif
