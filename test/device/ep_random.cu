/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many calls of one instance of each mode, one after another, with another routing and number of tokens each, in
 * halves or as a whole. WSH_TEST_ROUNDS=10000: so many.
 * paths: gpu:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:4 gpuhmemefa:4 gpugda:4
 * timeout: 1800
 */
#include "test/device/ep.cuh"

/* A case of the tests has 20 s. Between hosts a call waits for threads of the host at each of its parts. */
static int calls_a_case(void)
{
    return dev_has_other_hosts() ? 50 : 200;
}

static void run(enum ref_mode mode, enum ref_dtype dtype, long calls)
{
    struct ep_case of = ep_case_of(mode, dtype, REF_MIXED);
    struct ep_world world;

    of.hidden = 256;
    of.topk = 4;
    of.mine = 4;
    of.tokens = 24;
    of.window = 8;
    of.wide = true;
    dev_case("%s", ep_case_name(&of));
    ep_open(&world, &of);
    for (int64_t call = 1; call <= calls; call++) {
        if (call % calls_a_case() == 0)
            dev_case("%s, from call %lld", ep_case_name(&of), (long long)call);
        world.of.options = call % 3 ? 0 : EP_APART;
        ep_call(&world, call);
    }
    ep_close(&world);
}

int main(void)
{
    dev_begin();
    for (int mode = 0; mode < REF_MODES; mode++)
        run((enum ref_mode)mode, mode ? REF_BF16 : REF_FP8, mp_rounds(100, 10000));
    return dev_end();
}
