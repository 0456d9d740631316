/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: made, sent, answered, acknowledged; and the receives that take them. */
#ifndef WSH_EFA_MSG_H
#define WSH_EFA_MSG_H

#include "transports/efa/set/flow.h"
#include "transports/efa/wire/req.h"
#include "transports/efa/wire/wire.h"

struct wsh_efa_set;

#define WSH_EFA_GET_MAX 1024 /* bytes of a get whose bytes come in an answer */
#define WSH_EFA_REPLY_ROOM (sizeof(struct wsh_efa_reply_msg) - sizeof(struct wsh_efa_head))

/* An answer that found no room to be sent: a REPLY behind its head. */
struct wsh_efa_answer {
    struct wsh_efa_answer *next;
    int pe;
    uint16_t ctx;
    size_t len;
    char body[WSH_EFA_REPLY_ROOM + WSH_EFA_GET_MAX];
};

/* What an endpoint set owes its peers. */
struct wsh_efa_msgs {
    struct wsh_efa_req *unposted;        /* receives that the provider had no room for */
    struct wsh_efa_rx_flow *ack_pending; /* whose source awaits an ack */
    struct wsh_efa_answer *answers, **answers_end;
};

/* A request whose buffer has the head of a message of `len` bytes, or NULL: no room now. */
struct wsh_efa_req *wsh_efa_msg_new(struct wsh_efa_set *set, const struct wsh_efa_flow *flow,
                                    enum wsh_efa_wire type, size_t len);
/* The same with a message of data (len may be 0) and signal. */
struct wsh_efa_req *wsh_efa_msg_signal(struct wsh_efa_set *set, const struct wsh_efa_flow *flow,
                                       const struct wsh_efa_target *data, const void *src, size_t len,
                                       const struct wsh_efa_target *signal, uint64_t value);
/* Gives it to the provider with that stamp. On an error the request stays the caller's. */
int wsh_efa_msg_send(struct wsh_efa_set *set, struct wsh_efa_req *req, const struct wsh_srd_stamp *stamp);
int wsh_efa_msg_answer(struct wsh_efa_set *set, int pe, uint16_t ctx, uint32_t cookie, const void *bytes,
                       size_t len);
/* So many counter writes of the peer are counted. -EAGAIN or final. */
int wsh_efa_msg_counted(struct wsh_efa_set *set, int pe, uint32_t counted);
/* Sends what is due: answers that found no room, and (where `idle`, or much is due) acks. How many, or final. */
int wsh_efa_msg_answers(struct wsh_efa_set *set);
int wsh_efa_msg_acks(struct wsh_efa_set *set, bool idle);
/* Gives the provider the receives for which it had no room. 0 or final. */
int wsh_efa_msg_receives(struct wsh_efa_set *set);
/* Gives a receive (back) to the provider. */
int wsh_efa_msg_post(struct wsh_efa_set *set, struct wsh_efa_req *req);
/* The receive flow may owe its source something. */
void wsh_efa_msg_ack_later(struct wsh_efa_set *set, struct wsh_efa_rx_flow *rx_flow);
/* Sends something that only asks for the connection. */
int wsh_efa_msg_probe(struct wsh_efa_set *set, int pe);

#endif
