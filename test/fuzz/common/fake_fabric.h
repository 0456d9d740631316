/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libfabric provider that the fuzz target plays: what the transport posts waits here until the target completes it,
 * and what arrives is what the target says. The clock (--wrap=clock_gettime) moves only when
 * it is told.
 */
#ifndef WSH_TEST_FUZZ_FAKE_FABRIC_H
#define WSH_TEST_FUZZ_FAKE_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_NICS = 2, FAKE_QUEUE = 32, FAKE_RECEIVES = 128, FAKE_NAME = 16 };

struct fake_provider {
    const char *name;
    unsigned nics;     /* 1 or FAKE_NICS */
    bool ordered;      /* keeps the order of writes, and of messages behind writes */
    bool alone;        /* its device moves data alone; writes bring immediate data; memory is pinned */
    bool imm_receives; /* which takes a receive */
    bool local;        /* local memory must be registered */
    size_t inject;
    size_t key_size; /* bytes of a memory key; 0 = 8 */
};

enum fake_kind { FAKE_SEND, FAKE_WRITE, FAKE_READ };

/* Something posted that has not ended. */
struct fake_request {
    enum fake_kind kind;
    unsigned nic;
    void *buf; /* of the transport: a read is to fill it */
    size_t len;
    fi_addr_t to;
    void *context;
};

/* Nothing is open, nothing under way, the clock at its start. */
void fake_fabric_reset(const struct fake_provider *provider);
/* Objects that are open. */
unsigned fake_fabric_objects(void);

unsigned fake_request_count(void);
const struct fake_request *fake_request_get(unsigned i);
/* Ends request `i`: err 0 or an errno of libfabric. */
void fake_request_end(unsigned i, int err);

/* Receives posted at a NIC. Something arrives there: false if it finds no receive. An error of a receive. */
unsigned fake_receives(unsigned nic);
bool fake_message(unsigned nic, const void *bytes, size_t len);
bool fake_immediate(unsigned nic, uint32_t imm);
bool fake_receive_fail(unsigned nic, int err);
/* An error of nothing that was posted, in the event queue. */
void fake_event(unsigned nic, int err, int provider_err);

/* The next `n` posts find `rc`. */
void fake_refuse(int rc, unsigned n);
void fake_clock_move(uint64_t ns);

/* Called with what is posted, as it leaves; `pe`: the last byte of the name of its address; imm: UINT64_MAX, none. */
extern void (*fake_on_post)(enum fake_kind kind, int pe, const void *bytes, size_t len, uint64_t imm);

#endif
