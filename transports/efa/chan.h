/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knows the stream of numbered messages to and from one peer: who may send, in which order messages are applied,
 * and when a sent one is known as applied. Pure: no libfabric, so that a simulator can drive it.
 *
 * A message takes its number when it is sent, and the target applies them by number (early ones are held),
 * which orders messages without any help of the provider. At most `window` may be unacknowledged; the target
 * acknowledges with the count of those applied, so that acknowledgements may be lost behind later ones,
 * merged, or come in any order.
 */
#ifndef WSH_EFA_CHAN_H
#define WSH_EFA_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message sent and not yet complete. */
struct wsh_efa_sent {
    void *owner;  /* the context */
    void *result; /* fetch: where the old value goes … */
    void *done;   /* … and who waits for it */
    uint32_t seq;
    uint8_t type;  /* enum wsh_efa_wire */
    uint8_t width; /* of `result` */
    bool used;     /* until applied, or answered if a fetch */
    bool fetch;
};

struct wsh_efa_chan {
    uint32_t window, peer_window; /* a power of two each, so that numbers may wrap */
    uint32_t sent, acked;         /* messages given numbers; of these applied by the peer */
    uint32_t applied;             /* messages of the peer applied here … */
    uint32_t told;                /* … as the peer has been told */
    struct wsh_efa_sent *ring;    /* [window], by number modulo window */
    void **held;                  /* [window] early messages of the peer, by number modulo window */
};

/* `window` messages may be under way to the peer, `peer_window` from it. */
int wsh_efa_chan_init(struct wsh_efa_chan *chan, uint32_t window, uint32_t peer_window);
void wsh_efa_chan_fini(struct wsh_efa_chan *chan);

static inline bool wsh_efa_chan_may_send(const struct wsh_efa_chan *chan)
{
    return chan->sent - chan->acked < chan->window && !chan->ring[chan->sent % chan->window].used;
}

/* Takes the next number (chan->sent before the call) for a message described by `sent`. */
void wsh_efa_chan_send(struct wsh_efa_chan *chan, const struct wsh_efa_sent *sent);

/*
 * The peer has applied `ack` messages. Calls `complete` for each that this completes (not for fetches, which the
 * reply completes). -EPROTO: more than were sent.
 */
typedef void (*wsh_efa_chan_complete)(void *arg, const struct wsh_efa_sent *sent);
int wsh_efa_chan_ack(struct wsh_efa_chan *chan, uint32_t ack, wsh_efa_chan_complete complete, void *arg);

/* Takes out the fetch with this number, which a reply has answered; -EPROTO: there is none. */
int wsh_efa_chan_reply(struct wsh_efa_chan *chan, uint32_t seq, struct wsh_efa_sent *sent);

enum wsh_efa_arrival { EFA_APPLY, EFA_HELD, EFA_BAD };

/* What to do with message number `seq`, which is kept as `msg` when it is early (EFA_HELD). */
enum wsh_efa_arrival wsh_efa_chan_arrive(struct wsh_efa_chan *chan, uint32_t seq, void *msg);

/* The next message was applied. Returns the one held behind it, which is to be applied now, or NULL. */
void *wsh_efa_chan_applied(struct wsh_efa_chan *chan);

/* Messages applied that the peer has not been told of. */
static inline uint32_t wsh_efa_chan_owed(const struct wsh_efa_chan *chan)
{
    return chan->applied - chan->told;
}

#endif
