/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the messages of peers before anything in them is used. Pure. */
#include "transports/efa/wire/wire.h"

#include "base/atomic.h"
#include "transports/transport.h"

void wsh_efa_wire_head(struct wsh_efa_head *head, enum wsh_efa_wire type, size_t len, int src, uint32_t ctx)
{
    *head = (struct wsh_efa_head){.version = WSH_EFA_WIRE_VERSION,
                                  .type = (uint8_t)type,
                                  .len = (uint16_t)len,
                                  .src = (uint32_t)src,
                                  .ctx = (uint16_t)ctx};
}

static const char *check_amo(const struct wsh_efa_target *word)
{
    if (word->op >= WSH_AMO_OPS)
        return "unknown atomic operation";
    if (word->width != 4 && word->width != 8)
        return "atomic on neither 4 nor 8 bytes";
    if (word->off % word->width)
        return "atomic on a misaligned address";
    return NULL;
}

static const char *check_strided(const struct wsh_efa_strided_msg *msg, size_t len)
{
    if (len <= sizeof *msg)
        return "wrong length";
    if (!msg->block || (len - sizeof *msg) % msg->block)
        return "part of a block";
    if (msg->stride > WSH_EFA_STRIDE_MAX)
        return "stride out of range";
    return msg->signal.width ? check_amo(&msg->signal) : NULL;
}

static const char *check_count(const struct wsh_efa_count_msg *msg, size_t len)
{
    if (len != sizeof *msg)
        return "wrong length";
    return msg->ctx < WSH_EFA_CONTEXTS ? NULL : "about a context out of range";
}

static const char *check_body(const union wsh_efa_msg *msg, size_t len)
{
    switch (msg->head.type) {
    case WSH_EFA_WIRE_HELLO:
    case WSH_EFA_WIRE_ACK: return len == sizeof msg->head ? NULL : "wrong length";
    case WSH_EFA_WIRE_PUT: return len >= sizeof msg->put ? NULL : "wrong length";
    case WSH_EFA_WIRE_STRIDED: return check_strided(&msg->strided, len);
    case WSH_EFA_WIRE_SIGNAL:
        return len >= sizeof msg->signal ? check_amo(&msg->signal.signal) : "wrong length";
    case WSH_EFA_WIRE_AMO:
    case WSH_EFA_WIRE_FETCH: return len == sizeof msg->amo ? check_amo(&msg->amo.word) : "wrong length";
    case WSH_EFA_WIRE_GET: return len == sizeof msg->get ? NULL : "wrong length";
    case WSH_EFA_WIRE_ACK_REQUEST:
    case WSH_EFA_WIRE_COUNTED: return check_count(&msg->count, len);
    case WSH_EFA_WIRE_REPLY: return len >= sizeof msg->reply ? NULL : "wrong length";
    default: return "unknown type";
    }
}

const char *wsh_efa_wire_check(const union wsh_efa_msg *msg, size_t len)
{
    if (msg->head.version != WSH_EFA_WIRE_VERSION)
        return "another version of the protocol; run the same library on every PE";
    if (msg->head.len != len)
        return "length differs from the one in its head";
    if (msg->head.ctx >= WSH_EFA_CONTEXTS)
        return "of a context out of range";
    return check_body(msg, len);
}

void *wsh_efa_wire_resolve(const struct wsh_efa_target *target, size_t len, char *const *base,
                           const size_t *size)
{
    if (target->seg >= WSH_SEGS_HOST || !base[target->seg])
        return NULL;
    if (target->off > size[target->seg] || len > size[target->seg] - target->off)
        return NULL;
    return base[target->seg] + target->off;
}
