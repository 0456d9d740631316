/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines that can be emulated: their NICs, what these can do, and how fast they are. */
#ifndef EMU_PROFILE_H
#define EMU_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EMU_NICS_MAX 32

enum emu_machine { EMU_P4D, EMU_P5, EMU_P5EN, EMU_P6, EMU_MINIMAL };

/* What a device can do; the values are those of efadv_query_device. */
enum {
    EMU_CAP_READ = 1 << 0,
    EMU_CAP_RNR_RETRY = 1 << 1,
    EMU_CAP_SGID = 1 << 2,
    EMU_CAP_WRITE = 1 << 3,
    EMU_CAP_UNSOLICITED = 1 << 4,
    EMU_CAP_CQ_MEMORY = 1 << 5, /* of the caller's, and all that has queues in memory: rings, wide requests */
    EMU_CAP_COUNTERS = 1 << 6,
};

struct emu_profile {
    const char *name;
    enum emu_machine machine;
    uint32_t part_id;    /* PCI device number, such as 0xefa0 */
    uint32_t caps;       /* EMU_CAP_* */
    unsigned gbps;       /* rate of one NIC, Gb/s */
    uint32_t reorder_us; /* default window of due times */
    uint32_t latency_us; /* least time from post to landing */
};

/* A PCI address; domain and function are 0. */
struct emu_nic {
    uint8_t bus, device;
    char name[16];
};

/* NULL if there is no such profile. */
const struct emu_profile *emu_profile_find(const char *name);
/* "p4d, p5, …" for messages. */
const char *emu_profile_names(void);
/* Fills nics[EMU_NICS_MAX]; returns how many. */
unsigned emu_profile_nics(const struct emu_profile *profile, struct emu_nic *nics);
/* 0000:bus:device.0 */
void emu_nic_address(const struct emu_nic *nic, char *text, size_t size);
/*
 * A list of names or indices, separated by commas, as a bit mask over `nics`; NULL or empty means all. Returns 0,
 * or -EINVAL with the word that matches nothing in `bad`.
 */
int emu_nic_select(const char *list, const struct emu_nic *nics, unsigned n, uint32_t *mask, char *bad,
                   size_t size);

#endif
