/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one mistake with teams or collectives, named by the first argument, on PE 0; for coll_bad_input.sh. */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

static long *box, psync[SHMEM_SYNC_SIZE];

static void invalid_team(void)
{
    shmem_team_sync(SHMEM_TEAM_INVALID);
}

static void wrong_root(void)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, box, box + 1, 1, 2);
}

static void automatic_source(void)
{
    long here = 1;

    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, box, &here, 1);
}

static void null_dest(void)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, NULL, box, 1);
}

static void stride_of_nothing(void)
{
    shmem_long_alltoalls(SHMEM_TEAM_WORLD, box, box + 4, 0, 1, 1);
}

static void destroy_world(void)
{
    shmem_team_destroy(SHMEM_TEAM_WORLD);
}

static void mask_without_config(void)
{
    shmem_team_t team;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, SHMEM_TEAM_NUM_CONTEXTS, &team);
}

static void set_too_large(void)
{
    shmem_barrier(0, 1, 2, psync);
}

/* A team of PE 0 alone. */
static shmem_team_t alone(void)
{
    shmem_team_t team;
    uint64_t id;

    shmemx_team_get_id(&id);
    shmemx_team_init(id, 1, 0, NULL, 0, &team);
    return team;
}

static void request_left_at_destroy(void)
{
    shmem_team_t team = alone();
    shmemx_req_h request;

    shmemx_sync_nb(team, &request);
    shmem_team_destroy(team);
}

static void request_left_at_finalize(void)
{
    shmemx_req_h request;

    shmemx_long_broadcast_nb(SHMEM_TEAM_WORLD, box, box + 1, 1, 0, &request);
    shmem_finalize();
}

static void request_left_at_exit(void)
{
    shmemx_req_h request;

    shmemx_long_broadcast_nb(SHMEM_TEAM_WORLD, box, box + 1, 1, 0, &request);
    exit(0);
}

static void request_freed(void)
{
    shmemx_req_h request, copy;

    shmemx_sync_nb(alone(), &request);
    copy = request;
    shmemx_req_wait(&request);
    shmemx_req_wait(&copy);
}

static void request_twice(void)
{
    shmemx_req_h requests[2];

    shmemx_sync_nb(alone(), &requests[0]);
    requests[1] = requests[0];
    shmemx_req_wait_all(requests, 2);
}

static void request_null(void)
{
    shmemx_sync_nb(SHMEM_TEAM_WORLD, NULL);
}

static void counts_differ(void)
{
    size_t one = 1, two = 2, zero = 0;

    shmemx_long_alltoallv(alone(), box, &two, &zero, box + 4, &one, &zero);
}

static void dest_too_far(void)
{
    size_t one = 1, far = (size_t)1 << 40, zero = 0;

    shmemx_alltoallvmem(alone(), box, &one, &far, box + 4, &one, &zero);
}

static void source_too_far(void)
{
    size_t one = 1, far = SIZE_MAX / 2, zero = 0;

    shmemx_long_alltoallv(alone(), box, &one, &zero, box + 4, &one, &far);
}

static void source_null(void)
{
    size_t one = 1, zero = 0;

    shmemx_long_alltoallv(alone(), box, &one, &zero, NULL, &one, &zero);
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"automatic_source", automatic_source},
    {"counts_differ", counts_differ},
    {"dest_too_far", dest_too_far},
    {"destroy_world", destroy_world},
    {"invalid_team", invalid_team},
    {"mask_without_config", mask_without_config},
    {"null_dest", null_dest},
    {"request_freed", request_freed},
    {"request_left_at_destroy", request_left_at_destroy},
    {"request_left_at_finalize", request_left_at_finalize},
    {"request_left_at_exit", request_left_at_exit},
    {"request_null", request_null},
    {"request_twice", request_twice},
    {"set_too_large", set_too_large},
    {"source_null", source_null},
    {"source_too_far", source_too_far},
    {"stride_of_nothing", stride_of_nothing},
    {"wrong_root", wrong_root},
};

int main(int argc, char **argv)
{
    mp_begin();
    box = mp_alloc(64);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        if (argc == 2 && !strcmp(argv[1], mistakes[i].name) && mp_me == 0)
            mistakes[i].make();
    }
    mp_sleep(mp_me == 0 ? 0 : 5); /* the others do not end before PE 0 was noticed */
    exit(9);
}
