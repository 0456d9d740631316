/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The examples of the manual pages do what they say.
 * paths: local:2,4 tcp:2 mixed:4 single
 */
#include "test/common/mp.h"

#include <stdlib.h>

#define CHECK(holds) mp_check(holds, "not so")
#include "include/man/examples.c"

static void (*const examples[])(int me, int n) = {
    example_put,       example_get,          example_iput,       example_malloc,     example_ptr,
    example_quiet,     example_fence,        example_put_signal, example_wait_until, example_wait_until_any,
    example_fetch_add, example_compare_swap, example_lock,       example_barrier,    example_broadcast,
    example_fcollect,  example_alltoall,     example_reduce,     example_scan,       example_team,
    example_ctx,
};

MP_MAIN(man_examples)
{
    mp_begin();
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        examples[i](mp_me, mp_npes);
    return mp_end();
}
