/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake provider's queues: requests, receives, completions, events, and the clock. */
#define _GNU_SOURCE
#include "test/fuzz/common/fake_objects.h"

#include "test/fuzz/common/fuzz.h"

#include <string.h>
#include <time.h>

struct fake_fabric fake;
void (*fake_on_post)(enum fake_kind kind, int pe, const void *bytes, size_t len, uint64_t imm);

unsigned fake_fabric_objects(void)
{
    return provider_objects;
}

void fake_clock_move(uint64_t ns)
{
    fake.clock_ns += ns;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    (void)clock;
    ts->tv_sec = (time_t)(fake.clock_ns / 1000000000);
    ts->tv_nsec = (long)(fake.clock_ns % 1000000000);
    return 0;
}

void fake_refuse(int rc, unsigned n)
{
    fake.refusal = rc;
    fake.refusals = n;
}

/* Every request ends once, so a queue as long as all that can be posted is never full. */
static struct fake_entry *entry_add(unsigned nic)
{
    struct fake_nic *at = &fake.nic[nic];

    FUZZ_CHECK(at->n_entries < FAKE_ENTRIES);
    at->entry[at->n_entries] = (struct fake_entry){.err = 0};
    return &at->entry[at->n_entries++];
}

ssize_t fake_post(const struct fake_posted *posted)
{
    struct fake_nic *at = &fake.nic[posted->nic];

    if (fake.refusals) {
        fake.refusals--;
        return fake.refusal;
    }
    if (at->posted == FAKE_QUEUE)
        return -FI_EAGAIN;
    at->posted++;
    FUZZ_CHECK(posted->to < fake.addresses);
    fake.request[fake.n_requests++] = (struct fake_request){
        posted->kind, posted->nic, (void *)(uintptr_t)posted->buf, posted->kept, posted->to, posted->context};
    if (posted->kind != FAKE_READ)
        fuzz_read(posted->buf, posted->len);
    if (fake_on_post)
        fake_on_post(posted->kind, fake.address[posted->to][FAKE_NAME - 1], posted->buf, posted->len,
                     posted->imm);
    return 0;
}

unsigned fake_request_count(void)
{
    return fake.n_requests;
}

const struct fake_request *fake_request_get(unsigned i)
{
    return &fake.request[i];
}

/* A source must be as it was until now; a read brings bytes. */
void fake_request_end(unsigned i, int err)
{
    struct fake_request request = fake.request[i];
    struct fake_entry *entry = entry_add(request.nic);

    if (request.kind != FAKE_READ)
        fuzz_read(request.buf, request.len);
    else if (!err)
        memset(request.buf, 0x5a, request.len);
    *entry = (struct fake_entry){.data = {.op_context = request.context}, .err = err};
    fake.nic[request.nic].posted--;
    fake.request[i] = fake.request[--fake.n_requests];
}

ssize_t fake_receive(unsigned nic, void *buf, size_t len, void *context)
{
    struct fake_nic *at = &fake.nic[nic];

    if (fake.refusals) {
        fake.refusals--;
        return fake.refusal;
    }
    FUZZ_CHECK(at->n_receives < FAKE_RECEIVES);
    at->receive[at->n_receives++] = (struct fake_receive){buf, len, context};
    return 0;
}

unsigned fake_receives(unsigned nic)
{
    return fake.nic[nic].n_receives;
}

static struct fake_receive receive_take(unsigned nic)
{
    struct fake_nic *at = &fake.nic[nic];
    struct fake_receive first = at->receive[0];

    memmove(at->receive, at->receive + 1, --at->n_receives * sizeof at->receive[0]);
    return first;
}

bool fake_message(unsigned nic, const void *bytes, size_t len)
{
    struct fake_receive receive;
    struct fake_entry *entry;

    if (!fake_receives(nic))
        return false;
    receive = receive_take(nic);
    entry = entry_add(nic);
    memcpy(receive.buf, bytes, len < receive.len ? len : receive.len);
    *entry =
        (struct fake_entry){.data = {.op_context = receive.context, .flags = FI_RECV | FI_MSG, .len = len},
                            .err = len > receive.len ? FI_ETRUNC : 0};
    return true;
}

bool fake_immediate(unsigned nic, uint32_t imm)
{
    struct fake_receive receive = {0};

    if (fake.nic[nic].n_entries > FAKE_IMMEDIATES)
        return false;
    if (fake.provider.imm_receives) {
        if (!fake_receives(nic))
            return false;
        receive = receive_take(nic);
    }
    *entry_add(nic) = (struct fake_entry){.data = {.op_context = receive.context,
                                                   .flags = FI_REMOTE_WRITE | FI_RMA | FI_REMOTE_CQ_DATA,
                                                   .data = imm}};
    return true;
}

bool fake_receive_fail(unsigned nic, int err)
{
    struct fake_receive receive;

    if (!fake_receives(nic))
        return false;
    receive = receive_take(nic);
    *entry_add(nic) = (struct fake_entry){.data = {.op_context = receive.context}, .err = err};
    return true;
}

void fake_event(unsigned nic, int err, int provider_err)
{
    fake.nic[nic].event_err = err;
    fake.nic[nic].event_provider_err = provider_err;
}

static void entries_drop(struct fake_nic *at, unsigned n)
{
    at->n_entries -= n;
    memmove(at->entry, at->entry + n, at->n_entries * sizeof at->entry[0]);
}

ssize_t fake_cq_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct fake_nic *at = &fake.nic[provider_nic(cq)];
    unsigned n = 0;

    while (n < at->n_entries && n < count && !at->entry[n].err) {
        ((struct fi_cq_data_entry *)buf)[n] = at->entry[n].data;
        n++;
    }
    if (!n)
        return at->n_entries && count ? -FI_EAVAIL : -FI_EAGAIN;
    entries_drop(at, n);
    return n;
}

ssize_t fake_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
    struct fake_nic *at = &fake.nic[provider_nic(cq)];

    (void)flags;
    if (!at->n_entries || !at->entry[0].err)
        return -FI_EAGAIN;
    *buf = (struct fi_cq_err_entry){.op_context = at->entry[0].data.op_context, .err = at->entry[0].err};
    entries_drop(at, 1);
    return 1;
}

ssize_t fake_eq_read(struct fid_eq *eq, uint32_t *event, void *buf, size_t len, uint64_t flags)
{
    (void)event, (void)buf, (void)len, (void)flags;
    return fake.nic[provider_nic(eq)].event_err ? -FI_EAVAIL : -FI_EAGAIN;
}

ssize_t fake_eq_readerr(struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags)
{
    struct fake_nic *at = &fake.nic[provider_nic(eq)];

    (void)flags;
    *buf = (struct fi_eq_err_entry){.err = at->event_err, .prov_errno = at->event_provider_err};
    at->event_err = 0;
    return sizeof *buf;
}
