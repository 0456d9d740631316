/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the fake provider, for its own two files. */
#ifndef WSH_TEST_FUZZ_FAKE_OBJECTS_H
#define WSH_TEST_FUZZ_FAKE_OBJECTS_H

#include "test/fuzz/common/fake_fabric.h"
#include "test/provider/provider.h"

enum { FAKE_ENTRIES = 512, FAKE_IMMEDIATES = 64, FAKE_ADDRESSES = 64 };

/* What came of one request; err: it failed. */
struct fake_entry {
    struct fi_cq_data_entry data;
    int err;
};

struct fake_receive {
    void *buf;
    size_t len;
    void *context;
};

struct fake_nic {
    unsigned posted, n_receives, n_entries;
    struct fake_receive receive[FAKE_RECEIVES];
    struct fake_entry entry[FAKE_ENTRIES];
    int event_err, event_provider_err;
};

struct fake_fabric {
    struct fake_provider provider;
    unsigned addresses; /* entered */
    char address[FAKE_ADDRESSES][FAKE_NAME];
    uint64_t clock_ns;
    int refusal;
    unsigned refusals;
    unsigned n_requests;
    struct fake_request request[FAKE_NICS * FAKE_QUEUE];
    struct fake_nic nic[FAKE_NICS];
};

extern struct fake_fabric fake;

/* `kept`: bytes that must stay as they are until the request ends. */
struct fake_posted {
    enum fake_kind kind;
    unsigned nic;
    const void *buf;
    size_t len, kept;
    fi_addr_t to;
    void *context;
    uint64_t imm;
};

int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                 const struct fi_info *hints, struct fi_info **list);
ssize_t fake_post(const struct fake_posted *posted);
ssize_t fake_receive(unsigned nic, void *buf, size_t len, void *context);
ssize_t fake_cq_read(struct fid_cq *cq, void *buf, size_t count);
ssize_t fake_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags);
ssize_t fake_eq_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags);
ssize_t fake_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags);

#endif
