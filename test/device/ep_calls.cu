/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expert parallelism by kernels: each mode with each dtype and routing, and in turn each way to call: halves apart, x
 * and y in the library's buffers, routings of earlier calls, x quantized before, without the arrays that may be
 * missing; odd shapes; rows beyond the capacity. All rows, numbers and sums are compared with ep/check.
 * WSH_EP_CASE="low fp8 zipf", …: only cases whose names begin so.
 * paths: gpu:2,4,8 gpu1:1,2,3,4,8 gpumixed:2,4 gpumixedefa:4 gpuhmemefa:2,4 gpugda:2,4
 * env: SHMEM_COUNTERS=1024
 * timeout: 900
 */
#include "test/device/ep.cuh"

#include <stdlib.h>

static bool is_wanted(const struct ep_case *of)
{
    const char *wanted = getenv("WSH_EP_CASE");

    return !wanted || !strncmp(ep_case_name(of), wanted, strlen(wanted));
}

static void run(const struct ep_case *of, int calls)
{
    struct ep_world world;

    if (!is_wanted(of))
        return;
    dev_case("%s", ep_case_name(of));
    ep_open(&world, of);
    for (int64_t call = 1; call <= calls; call++)
        ep_call(&world, call);
    ep_close(&world);
}

/* Ways in turn, so that every two dtypes and routings see different ones. */
static void run_all_kinds()
{
    long calls = mp_rounds(3, 20);
    int turn = 0;

    for (int mode = 0; mode < REF_MODES; mode++)
        for (int dtype = 0; dtype < REF_DTYPES; dtype++)
            for (int routing = 0; routing < REF_ROUTINGS; routing++, turn += 11) {
                struct ep_case of = ep_case_of((enum ref_mode)mode, (enum ref_dtype)dtype, (enum ref_routing)routing);

                of.hidden = 512;
                of.topk = mp_npes > 1 ? 6 : 4;
                of.mine = 4;
                of.tokens = 40;
                of.window = 16;
                of.route = turn % 3 ? SHMEMX_EP_AUTO : SHMEMX_EP_DIRECT;
                of.options = turn % EP_OPTIONS;
                of.whole_check = true;
                of.exact = mode == REF_LOW_LATENCY && turn % 2;
                run(&of, (int)calls);
            }
}

static void run_shapes()
{
    static const int shapes[][4] = {/* hidden, top-k, experts a PE, tokens */
                                    {128, 1, 1, 1},   {384, 2, 3, 33},  {7168, 8, 32, 20},
                                    {896, 16, 16, 7}, {2048, 8, 8, 300}, {256, 3, 5, 0}};

    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const int *shape = shapes[i / 2];
        struct ep_case of = ep_case_of((enum ref_mode)(i % 2), (enum ref_dtype)(i / 2 % REF_DTYPES), REF_MIXED);

        of.hidden = shape[0];
        of.topk = shape[1] < shape[2] * mp_npes ? shape[1] : shape[2] * mp_npes;
        of.mine = shape[2];
        of.tokens = shape[3] ? shape[3] : 1;
        of.options = i % 4 ? 0 : EP_APART;
        run(&of, 3);
    }
}

/* Rows beyond the capacity are counted and not stored; the call after it is as if nothing had happened. */
static void run_overflow()
{
    for (int mode = 0; mode < REF_MODES; mode++) {
        struct ep_case of = ep_case_of((enum ref_mode)mode, REF_BF16, REF_CAPACITY_EDGE);
        struct ep_world world;

        of.hidden = 256;
        of.topk = 2;
        of.mine = 2;
        of.tokens = 24;
        of.capacity = 20;
        if (!is_wanted(&of))
            continue;
        dev_case("overflow: %s", ep_case_name(&of));
        ep_open(&world, &of);
        for (int64_t call = 1; call <= 4; call++) {
            ep_fill(&world, call);
            ep_start_dispatch(&world, SHMEMX_EP_BOTH);
            ep_check_dispatch(&world);
            ep_start_experts(&world);
            ep_start_combine(&world, SHMEMX_EP_BOTH);
        }
        ep_close(&world);
    }
}

int main(void)
{
    dev_begin();
    run_all_kinds();
    run_shapes();
    run_overflow();
    return dev_end();
}
