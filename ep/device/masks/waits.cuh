/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels among near PEs run on that go on without PEs (ep/masks.h), beside low.cuh: whoever waits for longer
 * than the limit masks the PE. A word of the block's memory says whether there is anything to look at, so that calls in
 * which nobody is masked read it alone. docs/design/failures.md says how groups agree.
 */
#ifndef WSH_EP_DEVICE_MASKS_WAITS_CUH
#define WSH_EP_DEVICE_MASKS_WAITS_CUH

#include "ep/device/low.cuh"

struct ep_low_come;
struct ep_low_call;

/* Of a block: whether a PE may be masked; what groups do with this dispatch's words, 0 until they have agreed. */
enum { EP_SEEN_ANY, EP_SEEN_VERDICT, EP_SEEN };

EP_STEP volatile unsigned *ep_seen()
{
    EP_SHARED(unsigned, ep_seen_words, EP_SEEN);

    return ep_seen_words;
}

EP_STEP struct ep_live *ep_live(const struct ep_run *run)
{
    return ep_live_of(&run->shape, run->state);
}

/* What others may change meanwhile. */
EP_STEP volatile int32_t *ep_live_at(const struct ep_run *run, enum ep_live_row row, int pe)
{
    return ep_live(run)->rows + (int)row * run->shape.n + pe;
}

EP_STEP void ep_low_masks_begin(const struct ep_run *run)
{
    if (threadIdx.x == 0) {
        ep_seen()[EP_SEEN_ANY] = *(volatile uint32_t *)&ep_live(run)->any;
        ep_seen()[EP_SEEN_VERDICT] = 0;
    }
    __syncthreads();
}

EP_STEP int ep_any_masked(const struct ep_run *run)
{
    (void)run;
    return ep_seen()[EP_SEEN_ANY] != 0;
}

EP_STEP int ep_masked(const struct ep_run *run, int pe)
{
    return ep_any_masked(run) && *ep_live_at(run, EP_LIVE_MASKED, pe);
}

EP_STEP int ep_masked_before(const struct ep_run *run, int pe)
{
    return ep_any_masked(run) && *ep_live_at(run, EP_LIVE_KNOWN, pe);
}

/* Whether the PE of an expert was masked at the beginning: tokens do not go there. */
EP_STEP int ep_lacks(const struct ep_run *run, int expert)
{
    return ep_masked_before(run, ep_divide(expert, run->shape.by_mine));
}

EP_STEP int ep_dropped(const struct ep_run *run, int pe)
{
    return *ep_live_at(run, EP_LIVE_DROPPED, pe);
}

#define ep_lie_apart(run) 1

EP_STEP int ep_drops(const struct ep_run *run, int renew)
{
    (void)run, (void)renew;
    return ep_seen()[EP_SEEN_VERDICT] == EP_VERDICT_DROP;
}

/* The last group to end does it, after all others have stored (ends.cuh). */
EP_STEP void ep_absent_note(const struct ep_run *run, int pe)
{
    *ep_live_at(run, EP_LIVE_BLANK, pe) = 1;
    *(volatile uint32_t *)&ep_live(run)->blanks = 1;
}
#define ep_absent_blank(run, args, come) ((void)(args), ep_absent_note(run, ep_low_source_pe(run, (come)->source)))

/* One lane of all that wait gets it; what it says is there before the PE counts as masked. */
EP_STEP void ep_absent_mask(const struct ep_run *run, const struct ep_low_wait *wait)
{
    const struct ep_state *state = run->state;
    uint64_t call = wait->phase < EP_PHASE_Y ? state->received : state->combined;

    *ep_live_at(run, EP_LIVE_WHY, wait->near) = 1 + wait->phase;
    *ep_live_at(run, EP_LIVE_CALL, wait->near) = (int32_t)call + 1;
    __threadfence();
    if (!atomicExch((int32_t *)ep_live_at(run, EP_LIVE_MASKED, wait->near), 1))
        atomicAdd(&ep_live(run)->any, 1u);
}

/*
 * Whether the PE is given up. One that has failed: at the second look, for what it did before counts. Else one PE at a
 * time: another that waits for the first one has the limit again. Results wait for weights of the same call: twice as
 * long.
 */
EP_STEP bool ep_absent_is_due(const struct ep_run *run, struct ep_low_wait *wait)
{
    struct ep_live *live = ep_live(run);
    uint64_t now = ep_nanoseconds(), when = wsh_ptx_poll(&live->when);
    int64_t limit = (int64_t)live->limit << (wait->phase == EP_PHASE_RESULTS);

    if (live->failed && *(const volatile uint8_t *)(live->failed + wait->near)) {
        if (wait->failed++)
            atomicExch((unsigned long long *)&live->when, (unsigned long long)now);
        return wait->failed > 1;
    }
    if (!wait->began)
        wait->began = now;
    if ((int64_t)(now - (when > wait->began ? when : wait->began)) <= limit)
        return false;
    return atomicCAS((unsigned long long *)&live->when, (unsigned long long)when, (unsigned long long)now) == when;
}

/* Out of line: now and then, and where something is masked. */
EP_LOOP bool ep_absent_look(const struct ep_run *run, struct ep_low_wait *wait, bool late)
{
    if (!*ep_live_at(run, EP_LIVE_MASKED, wait->near)) {
        if (!late || !ep_absent_is_due(run, wait))
            return false;
        ep_absent_mask(run, wait);
    }
    ep_seen()[EP_SEEN_ANY] = 1;
    return true;
}

/* By any lane that has polled in vain. What a masked PE has stored counts, so a wait polls once before. */
EP_STEP bool ep_absent(const struct ep_run *run, struct ep_low_wait *wait, unsigned polls)
{
    bool late = polls && polls % EP_LOW_POLLS == 0, gone;
    struct ep_low_wait passed = *wait;

    if (!late && !(polls <= 1 && ep_any_masked(run)))
        return false;
    gone = ep_absent_look(run, &passed, late);
    wait->began = passed.began;
    wait->failed = passed.failed;
    return gone;
}

/*
 * By one thread of a group that has waited in vain. Groups that have all words go on, and end; when all others are
 * here, nobody can change his mind: if one has ended, all words have come, late; if none has, those masked have none.
 */
EP_LOOP unsigned ep_low_agree(const struct ep_run *run, uint64_t number)
{
    struct ep_live *live = ep_live(run);
    unsigned ended, met;
    uint64_t verdict;

    __threadfence();
    atomicAdd(&live->met, 1u);
    for (;;) {
        verdict = wsh_ptx_poll(&live->verdict);
        if (verdict / 4 == number && verdict % 4 != EP_VERDICT_OPEN)
            break;
        ended = *(volatile unsigned *)&run->state->arrived[EP_ARRIVED_LAST];
        met = *(volatile unsigned *)&live->met;
        if (verdict / 4 == number || ended + met != gridDim.x ||
            atomicCAS((unsigned long long *)&live->verdict, (unsigned long long)verdict,
                      (unsigned long long)(number * 4 + EP_VERDICT_OPEN)) != verdict)
            continue;
        for (int pe = 0; pe < run->shape.n; pe++)
            *ep_live_at(run, EP_LIVE_DROPPED, pe) = *ep_live_at(run, EP_LIVE_MASKED, pe);
        __threadfence();
        atomicExch((unsigned long long *)&live->verdict,
                   (unsigned long long)(number * 4 + (ended ? EP_VERDICT_TAKE : EP_VERDICT_DROP)));
    }
    __threadfence();
    return (unsigned)(verdict % 4);
}

/* All threads of a group, after its words: whether they are to be read again. */
EP_STEP bool ep_low_words_again(const struct ep_run *run, uint64_t number)
{
    if (!__syncthreads_or(ep_any_masked(run)) || ep_seen()[EP_SEEN_VERDICT])
        return false;
    __syncthreads(); /* all have read */
    if (threadIdx.x == 0)
        ep_seen()[EP_SEEN_VERDICT] = ep_low_agree(run, number);
    __syncthreads();
    return ep_seen()[EP_SEEN_VERDICT] == EP_VERDICT_TAKE;
}

/* By all workers, at the end (ends.cuh). */
EP_STEP bool ep_low_dispatched(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                               const struct ep_low_call *call, int receives);
EP_STEP bool ep_low_combined_by_last(const struct ep_run *run, const shmemx_ep_combine_t *args,
                                     const struct ep_low_call *call, int receives);

#endif
