/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of the fake provider's objects. */
#include "test/fuzz/common/fake_objects.h"

#include "test/fuzz/common/fuzz.h"

#include <stdio.h>
#include <string.h>

static int name_get(fid_t fid, void *addr, size_t *len)
{
    char name[FAKE_NAME] = "";

    snprintf(name, sizeof name, "fake nic %u", provider_nic(fid));
    memcpy(addr, name, *len < sizeof name ? *len : sizeof name);
    *len = sizeof name;
    return 0;
}

static ssize_t message_receive(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                               void *context)
{
    (void)desc, (void)from;
    return fake_receive(provider_nic(ep), buf, len, context);
}

static ssize_t message_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                            void *context)
{
    (void)desc;
    return fake_post(
        &(struct fake_posted){FAKE_SEND, provider_nic(ep), buf, len, len, to, context, UINT64_MAX});
}

static ssize_t message_send_with(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
    (void)flags;
    return message_send(ep, msg->msg_iov->iov_base, msg->msg_iov->iov_len, NULL, msg->addr, msg->context);
}

static ssize_t rma_post(enum fake_kind kind, struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    size_t len = msg->msg_iov->iov_len;

    /* What is injected may be used again at once, so that it must not be read later. */
    return fake_post(&(struct fake_posted){kind, provider_nic(ep), msg->msg_iov->iov_base, len,
                                           flags & FI_INJECT ? 0 : len, msg->addr, msg->context,
                                           flags & FI_REMOTE_CQ_DATA ? msg->data : UINT64_MAX});
}

static ssize_t rma_read(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma_post(FAKE_READ, ep, msg, flags);
}

static ssize_t rma_write(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    return rma_post(FAKE_WRITE, ep, msg, flags);
}

static int address_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *entry, uint64_t flags,
                          void *context)
{
    (void)av, (void)flags, (void)context;
    FUZZ_CHECK(fake.addresses < FAKE_ADDRESSES);
    memcpy(fake.address[fake.addresses], addr, FAKE_NAME);
    *entry = fake.addresses++;
    return (int)count;
}

static const char *error_text(struct fid_cq *cq, int err, const void *data, char *buf, size_t len)
{
    (void)cq, (void)err, (void)data, (void)buf, (void)len;
    return "of the fake device";
}

static int region_register(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                           uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct provider_object *object = provider_object_new(sizeof *object, FI_CLASS_MR, provider_nic(fid));

    (void)access, (void)offset, (void)flags, (void)context;
    fuzz_read(buf, len < 8 ? len : 8);
    object->as.mr.key = fake.provider.alone ? provider_objects : key;
    *mr = &object->as.mr;
    return 0;
}

static unsigned nics(void)
{
    return fake.provider.nics;
}

static const char *error_name(int err)
{
    return err < 0 ? "a negative error" : strerror(err % 4096);
}

const struct provider provider = {
    .message = {sizeof provider.message, .recv = message_receive, .send = message_send,
                .sendmsg = message_send_with},
    .rma = {sizeof provider.rma, .readmsg = rma_read, .writemsg = rma_write},
    .queue = {sizeof provider.queue, .read = fake_cq_read, .readerr = fake_cq_readerr,
              .strerror = error_text},
    .events = {sizeof provider.events, .read = fake_eq_read, .readerr = fake_eq_readerr},
    .name = {sizeof provider.name, .getname = name_get},
    .address = {sizeof provider.address, .insert = address_insert},
    .region = {sizeof provider.region, .reg = region_register},
    .queue_size = sizeof(struct provider_object),
    .nics = nics,
    .getinfo = fake_getinfo,
    .error = error_name,
};
