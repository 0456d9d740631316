/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of collectives one after the other in one job, whose start takes long where PEs are many and cores few. */
#include "test/common/mp.h"

#include <time.h>

int coll_mixed_epochs_main(void);
int coll_reduce_sizes_main(void);
int coll_sizes_main(void);

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } tests[] = {{"coll_mixed_epochs", coll_mixed_epochs_main},
                 {"coll_reduce_sizes", coll_reduce_sizes_main},
                 {"coll_sizes", coll_sizes_main}};
    double began = now();

    mp_begin();
    mp_note("%d PEs have started after %.1f s", mp_npes, now() - began);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        int status = tests[i].run(); /* its init and finalize are nested in ours */

        mp_check(!status, "%s: exit status %d", tests[i].name, status);
        mp_note("%s has ended after %.1f s", tests[i].name, now() - began);
    }
    return mp_end();
}
