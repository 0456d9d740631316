/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a team's collectives keep between calls: sync area, epochs, which members share memory, a context of their own.
 */
#ifndef WSH_COLL_STATE_H
#define WSH_COLL_STATE_H

#include "base/invariant.h"
#include "runtime/coll/choose/choice.h"
#include "runtime/coll/coll.h"
#include "runtime/coll/memory/sync_area.h"
#include "runtime/coll/algorithms/steps.h"
#include "runtime/op/ctx.h"
#include "runtime/op/signal.h"

#include <stdint.h>

/*
 * Members that share memory are a domain; its first member is its leader. Members are given by their numbers in the
 * team everywhere.
 */
/* Bytes of the arrays below for each member. */
#define WSH_COLL_MEMBER (6 * sizeof(int) + sizeof(char *))

struct wsh_req_team;

struct wsh_coll {
    struct wsh_ctx ctx; /* numbers are the team's */
    enum wsh_layout layout;
    enum wsh_algo sync, lead_sync; /* of all members; of the leaders. dispatch.h */
    struct wsh_steps steps;        /* where all members share memory */
    int n_domains, my_domain;
    int *all;            /* [n_pes] all[i] = i: the members in order */
    int *domain;         /* [n_pes] */
    int *leader;         /* [n_domains] */
    int *local, n_local; /* [n_local] members of my domain, in order */
    int my_local;        /* my index in `local` */
    unsigned met;        /* enum wsh_need: those that this team always meets */
    int *column;         /* [n_domains] the member at my place in each, if all have as many members */
    char **peer;         /* [n_pes] a member's sync area as it is mapped here, or NULL */
    struct wsh_sync_area area;
    char *base;                           /* this member's sync area, symmetric */
    int unit;                             /* where it is in the pool; -1 = not of the pool */
    uint64_t syncs, blocks, ll, collects; /* epochs: sync; blocks with flags; LL lines; sizes */
    unsigned pulls;                       /* collectives in which I have read from the others */
    uint64_t slots, safe;                 /* slots used so far; all members have done with the first `safe` */
    struct wsh_req_team *requests;        /* its nonblocking collectives; NULL before the first */
    struct wsh_done sending;              /* what was sent and may still be read from its source */
};

/* What its team has done so far, in steps; NULL: none. */
static inline uint64_t wsh_coll_steps(const struct wsh_coll *coll)
{
    return coll ? coll->syncs + coll->blocks + coll->ll + coll->collects : 0;
}

/* Everything but the sync area. */
int wsh_coll_prepare(struct wsh_team *team);
/*
 * Completes `coll` when the tables exist: everything that follows from the team's shape. `even`, `rows`: struct
 * wsh_choice_team.
 */
int wsh_coll_settle(struct wsh_team *team, struct wsh_coll *coll, bool even, bool rows);
/* Sets the sync area: `base`, and its unit in the pool, which has been taken, or -1. From now on the team works. */
void wsh_coll_attach(struct wsh_team *team, char *base, int unit);
/* Gives the sync area back to the pool, once no member reads or writes it any more. */
void wsh_coll_detach(struct wsh_team *team);

/* `sym` at a member as it is mapped here; NULL = not mapped. */
void *wsh_coll_map(const struct wsh_team *team, const void *sym, size_t len, int member);

/* The sync area of a member as it is mapped here, or NULL: for words that requests set and test. */
char *wsh_coll_peer(const struct wsh_team *team, int member);

/* Host memory, or memory of this PE alone (both can be loaded and stored here). */
bool wsh_coll_is_host(const struct wsh_team *team, const void *addr);

/* The `len` bytes at src of every member of my domain, and dest here, may be loaded and stored here. */
bool wsh_coll_can_pull(const struct wsh_team *team, const void *dest, const void *src, size_t len);

/* A call that is about to choose its algorithm. */
struct wsh_coll_request {
    enum wsh_coll_routine routine;
    int n_pes;  /* members, as choice.c counts them */
    size_t len; /* bytes, as choice.c counts them */
    const void *dest, *src;
    size_t span; /* bytes at src that other members may read */
};

/* The first row that fits and whose needs the call meets: all members get the same, of one domain at least. */
enum wsh_algo wsh_coll_choose(const struct wsh_team *team, const struct wsh_coll_request *request);

/* Copies own data; the memory may be a GPU's. */
int wsh_coll_copy_own(struct wsh_team *team, void *dest, const void *src, size_t len);
/* The same for a GPU's memory, beside what goes to others: both symmetric. It is there after wsh_coll_sent. */
int wsh_coll_copy_beside(struct wsh_team *team, void *dest, const void *src, size_t len);

/* A word of a member's sync area, as a signal to set to `value`. */
static inline struct wsh_signal wsh_coll_word(const struct wsh_coll *coll, size_t off, uint64_t value)
{
    return (struct wsh_signal){(uint64_t *)(coll->base + off), value, WSH_AMO_SET, 0};
}

/*
 * Data and its signal to a member. The source of short data may be reused at once, so that no call waits for its
 * arrival, a round trip; wsh_coll_sent waits where longer data was sent.
 */
int wsh_coll_send(struct wsh_coll *coll, void *dest, const void *src, size_t len,
                  const struct wsh_signal *signal, int member);
int wsh_coll_sent(struct wsh_coll *coll);

/* All members have entered a collective before which `slots` slots had been used: they have done with those. */
static inline void wsh_coll_all_entered(struct wsh_coll *coll, uint64_t slots)
{
    WSH_INVARIANT(coll->safe <= slots && slots <= coll->slots);
    coll->safe = slots;
}

static inline size_t wsh_coll_slot_at(const struct wsh_coll *coll, uint64_t number)
{
    return coll->area.slots + number % WSH_SLOT_COUNT * WSH_SYNC_AREA_LINE;
}

/* The words of the epoch of blocks that begins; coll->blocks is its number. */
static inline size_t wsh_coll_next_blocks(struct wsh_coll *coll, int n_pes)
{
    return coll->area.blocks + (++coll->blocks & 1) * (size_t)n_pes * sizeof(uint64_t);
}

#endif
