/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels run on that go on without PEs (ep/masks.h), beside low.cuh: whoever waits for longer than the limit
 * masks the PE. Words of the block's memory, and until its first barrier what the call began with, say whether
 * there is anything to look at. docs/design/failures.md says how groups agree.
 */
#ifndef WSH_EP_DEVICE_MASKS_WAITS_CUH
#define WSH_EP_DEVICE_MASKS_WAITS_CUH

#include "ep/device/low.cuh"

struct ep_low_come;
struct ep_low_call;

/*
 * Of a block: whether it knows that a PE is masked, and has seen that a near one is; what groups do with the words of
 * this dispatch, 0 until they have agreed.
 */
enum { EP_SEEN_ANY, EP_SEEN_NEAR, EP_SEEN_VERDICT, EP_SEEN };

/* What a group that has seen a mask adds to the word of those that have ended, beside 1. */
enum { EP_ARRIVED_SEEN = 1 << 16 };

EP_STEP volatile unsigned *ep_seen()
{
    EP_SHARED(unsigned, ep_seen_words, EP_SEEN);

    return ep_seen_words;
}

EP_STEP struct ep_live *ep_live(const struct ep_run *run)
{
    return run->live;
}

/* What others may change meanwhile. */
EP_STEP volatile int32_t *ep_live_at(const struct ep_run *run, enum ep_live_row row, int pe)
{
    return ep_live(run)->rows + (int)row * run->shape.n + pe;
}

/* Number `near` of this host among PEs. */
EP_STEP int ep_live_near(const struct ep_run *run, int near)
{
    return run->shape.host * run->shape.near + near;
}

/* How many were masked when the kernel began: the last group to end writes it. */
EP_STEP uint32_t ep_known_any(const struct ep_run *run)
{
    return ep_live(run)->known_any;
}

/* Nothing waits for the words here, but where no barrier of the block comes before the first wait. */
#define ep_low_masks_begin(run, call, halves) ep_low_masks_seen((call)->lacks, halves)

EP_STEP void ep_low_masks_seen(int known, int halves)
{
    if (threadIdx.x == 0) {
        ep_seen()[EP_SEEN_ANY] = (unsigned)known;
        ep_seen()[EP_SEEN_NEAR] = ep_seen()[EP_SEEN_VERDICT] = 0;
    }
    if (!(halves & SHMEMX_EP_SEND))
        __syncthreads();
}

/* A plain load: a wait, which says that memory has changed, lies between it and what it is to see. */
EP_STEP int ep_any_masked(const struct ep_run *run)
{
    (void)run;
    return *const_cast<const unsigned *>(ep_seen() + EP_SEEN_ANY) != 0;
}

EP_STEP int ep_masked(const struct ep_run *run, int pe)
{
    return ep_any_masked(run) && *ep_live_at(run, EP_LIVE_MASKED, pe);
}

/* Whether it was when the kernel began: the call has read so early whether any was that nothing waits for it. */
#define ep_masked_before(run, call, pe) ((call)->lacks && *ep_live_at(run, EP_LIVE_KNOWN, pe))

/* Whether this group has seen that a near PE is masked, or knew. */
EP_STEP bool ep_any_near_masked(const struct ep_run *run)
{
    if (!ep_any_masked(run) || ep_seen()[EP_SEEN_NEAR])
        return ep_any_masked(run);
    for (int near = 0; near < run->shape.near; near++)
        if (*ep_live_at(run, EP_LIVE_KNOWN, ep_live_near(run, near)))
            return true;
    return false;
}

/* Whether the PE of an expert was masked at the beginning: tokens do not go there. */
#define ep_lacks(run, call, expert) ep_masked_before(run, call, ep_divide(expert, (run)->shape.by_mine))

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
EP_STEP void ep_absent_mask(const struct ep_run *run, const struct ep_low_wait *wait, int pe)
{
    const struct ep_state *state = run->state;
    uint64_t call = wait->phase < EP_PHASE_RESULT ? state->received : state->combined;

    *ep_live_at(run, EP_LIVE_WHY, pe) = 1 + wait->phase;
    *ep_live_at(run, EP_LIVE_CALL, pe) = (int32_t)call + 1;
    __threadfence();
    if (!atomicExch((int32_t *)ep_live_at(run, EP_LIVE_MASKED, pe), 1))
        atomicAdd(&ep_live(run)->any, 1u);
    __threadfence();
}

/* In the time since which a wait has been late: the PE had failed when the wait looked. */
#define EP_ABSENT_FAILED ((uint64_t)1)

/*
 * Whether the PE is given up. One that has failed: at the second look, for what it did before counts. Else one PE at a
 * time: another that waits for the first one has the limit again. Results wait for weights of the same call: twice as
 * long.
 */
EP_STEP bool ep_absent_is_due(const struct ep_run *run, struct ep_low_wait *wait, int pe)
{
    struct ep_live *live = ep_live(run);
    uint64_t now = ep_nanoseconds(), when = wsh_ptx_poll(&live->when);
    int results = wait->phase == EP_PHASE_RESULTS || wait->phase == EP_PHASE_RESULT;
    int64_t limit = (int64_t)live->limit << results;

    if (!wait->since)
        wait->since = now & ~EP_ABSENT_FAILED;
    if (shmemx_pe_failed(run->pes[pe])) {
        bool again = wait->since & EP_ABSENT_FAILED;

        if (again)
            atomicExch((unsigned long long *)&live->when, (unsigned long long)now);
        wait->since |= EP_ABSENT_FAILED;
        return again;
    }
    if ((int64_t)(now - (when > wait->since ? when : wait->since)) <= limit)
        return false;
    return atomicCAS((unsigned long long *)&live->when, (unsigned long long)when, (unsigned long long)now) == when;
}

/* Out of line: now and then, and where something is masked. What this PE itself owes comes, late. */
EP_LOOP bool ep_absent_look(const struct ep_run *run, struct ep_low_wait *wait, int pe, bool late)
{
    if (pe == run->shape.me)
        return false;
    if (!*ep_live_at(run, EP_LIVE_MASKED, pe)) {
        if (!late || !ep_absent_is_due(run, wait, pe))
            return false;
        ep_absent_mask(run, wait, pe);
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
    gone = ep_absent_look(run, &passed, ep_live_near(run, wait->near), late);
    wait->since = passed.since;
    if (gone)
        ep_seen()[EP_SEEN_NEAR] = 1;
    return gone;
}

/*
 * How many groups have all words of near PEs. Those among near PEs alone have ended then, or will; with far peers
 * others wait for what they hand on, so that they say it before.
 */
EP_STEP unsigned ep_low_have_words(const struct ep_run *run)
{
#ifdef EP_LOW_FAR
    return *(volatile unsigned *)&ep_live(run)->passed;
#else
    return *(volatile unsigned *)&run->state->arrived[EP_ARRIVED_LAST] % EP_ARRIVED_SEEN;
#endif
}

/*
 * By one thread of a group that has waited in vain. Groups that have all words go on, and end; when all others are
 * here, nobody can change his mind: if one has gone on, all words have come, late; if none has, those masked have none.
 */
EP_LOOP unsigned ep_low_agree(const struct ep_run *run, uint64_t number)
{
    struct ep_live *live = ep_live(run);
    unsigned have, met;
    uint64_t verdict;

    __threadfence();
    atomicAdd(&live->met, 1u);
    for (;;) {
        verdict = wsh_ptx_poll(&live->verdict);
        if (verdict / 4 == number && verdict % 4 != EP_VERDICT_OPEN)
            break;
        have = ep_low_have_words(run);
        met = *(volatile unsigned *)&live->met;
        if (verdict / 4 == number || have + met != gridDim.x ||
            atomicCAS((unsigned long long *)&live->verdict, (unsigned long long)verdict,
                      (unsigned long long)(number * 4 + EP_VERDICT_OPEN)) != verdict)
            continue;
        for (int pe = 0; pe < run->shape.n; pe++)
            *ep_live_at(run, EP_LIVE_DROPPED, pe) = *ep_live_at(run, EP_LIVE_MASKED, pe);
        __threadfence();
        atomicExch((unsigned long long *)&live->verdict,
                   (unsigned long long)(number * 4 + (have ? EP_VERDICT_TAKE : EP_VERDICT_DROP)));
    }
    __threadfence();
    return (unsigned)(verdict % 4);
}

/* By one thread: what its group does with the words. */
EP_STEP unsigned ep_low_verdict(const struct ep_run *run, uint64_t number)
{
#ifdef EP_AGREES /* a mutant of the tests does not */
    if (!EP_AGREES()) {
        for (int pe = 0; pe < run->shape.n; pe++)
            *ep_live_at(run, EP_LIVE_DROPPED, pe) = *ep_live_at(run, EP_LIVE_MASKED, pe);
        return EP_VERDICT_DROP;
    }
#endif
    return ep_low_agree(run, number);
}

/* All threads of a group, after the words of near PEs: whether they are to be read again. A barrier. */
EP_STEP bool ep_low_words_again(const struct ep_run *run, uint64_t number, int sources)
{
    if (sources > run->shape.near || ep_seen()[EP_SEEN_VERDICT]) {
        ep_sync_group(run);
        return false;
    }
    if (!__syncthreads_or(ep_any_near_masked(run))) {
#ifdef EP_LOW_FAR
        if (threadIdx.x == 0)
            atomicAdd(&ep_live(run)->passed, 1u);
#endif
        return false;
    }
    if (threadIdx.x == 0)
        ep_seen()[EP_SEEN_VERDICT] = ep_low_verdict(run, number);
    __syncthreads();
    return ep_seen()[EP_SEEN_VERDICT] == EP_VERDICT_TAKE;
}

/* Of a combine with weights: whether those of a far peer have been waited for in vain. All workers see the same. */
EP_STEP bool ep_low_gives_up(const struct ep_run *run, const shmemx_ep_combine_t *args, int far);

/* By all workers, at the end (ends.cuh). */
EP_STEP bool ep_low_dispatched(const struct ep_run *run, const shmemx_ep_dispatch_t *args,
                               const struct ep_low_call *call, int receives);
EP_STEP bool ep_low_combined_by_last(const struct ep_run *run, const shmemx_ep_combine_t *args,
                                     const struct ep_low_call *call, int receives);

#endif
