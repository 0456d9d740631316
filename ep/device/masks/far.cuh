/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Far peers that calls go on without. The worker that watches gives them up, before it tells others that they have
 * come: so all groups take the same of them. Counters count for ever: what a PE that comes back has not put is known.
 */
#ifndef WSH_EP_DEVICE_MASKS_FAR_CUH
#define WSH_EP_DEVICE_MASKS_FAR_CUH

/* Of a counter. Late, this executes what others have for this GPU, as a wait does. */
EP_STEP bool ep_low_counted(const struct ep_run *run, int counter, uint64_t value, bool late)
{
    uint64_t needed = value - ep_live_missed(&run->shape, ep_live(run))[counter];

    if (!late)
        return shmemx_counter_fetch(run->counters[counter]) >= needed;
    return shmemx_counter_wait_until_timeout(run->counters[counter], needed, 0) == SHMEMX_WAIT_SATISFIED;
}

/* Whether a far peer, wait->near among all PEs, is masked: since before, or now. What it has put counts. */
EP_STEP bool ep_low_far_gone(const struct ep_run *run, struct ep_low_wait *wait, unsigned polls, bool late)
{
    struct ep_low_wait passed = *wait;
    bool looks = late && polls % EP_LOW_FAR_POLLS == 0, gone;

    if (!looks && !(ep_any_masked(run) && polls <= 1))
        return false;
    gone = ep_absent_look(run, &passed, wait->near, looks);
    wait->since = passed.since;
    return gone;
}

/* By a lane that has seen what the worker that watches says: it sees the masks of before. */
EP_STEP void ep_low_far_seen(const struct ep_run *run)
{
    wsh_ptx_acquire();
    if (*(volatile uint32_t *)&ep_live(run)->any)
        ep_seen()[EP_SEEN_ANY] = 1;
}

/* After a put to a far peer, by a worker. */
EP_STEP void ep_note_put(const struct ep_run *run, int counter, int pe)
{
    const struct ep_shape *shape = &run->shape;
    struct ep_told *sent = ep_live_sent(shape, ep_live(run)) + pe;

    if (counter < shape->c_result)
        ep_tally(run, &sent->parts[(counter - shape->c_far) % shape->slots], 1);
    else if (counter < shape->c_weights)
        ep_tally(run, &sent->results[(counter - shape->c_result) % shape->slots], 1);
    else
        ep_tally(run, &sent->weights, 1);
}

#endif
