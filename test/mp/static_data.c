/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global and static variables, initialized and not, large and small, are remotely accessible and keep the values
 * they had before shmem_init; automatic variables and constants are not.
 * paths: local:2,4 tcp:4 shm:2 mixed:4 mixedshm:4 single split:2 splitback:2
 * long paths: tcp:2
 */
#include "test/common/mp.h"

#define LARGE ((size_t)3 << 20)

int global_data = 11;
int global_bss;
static long file_data[4] = {1, 2, 3, 4};
static char large_bss[LARGE];
static int before_init;

static long *function_static(void)
{
    static long inside = 99;

    return &inside;
}

static void check_initial(void)
{
    mp_check(global_data == 11 && global_bss == 0, "globals lost their values");
    mp_check(file_data[0] == 1 && file_data[3] == 4, "file static lost its values");
    mp_check(*function_static() == 99, "function static lost its value");
    mp_check(before_init == 5, "a store before shmem_init was lost");
}

static void check_accessible(void)
{
    int automatic;

    mp_check(shmem_addr_accessible(&global_data, mp_right()), "initialized global");
    mp_check(shmem_addr_accessible(&global_bss, mp_right()), "uninitialized global");
    mp_check(shmem_addr_accessible(&large_bss[LARGE - 1], mp_right()), "end of a large static");
    mp_check(!shmem_addr_accessible(&automatic, mp_right()), "an automatic variable is accessible");
    mp_check(!shmem_addr_accessible(NULL, mp_right()), "NULL is accessible");
}

int main(void)
{
    before_init = 5;
    mp_begin();
    check_initial();
    check_accessible();
    shmem_barrier_all();
    shmem_int_p(&global_data, 100 + mp_me, mp_right());
    shmem_int_p(&global_bss, 200 + mp_me, mp_right());
    shmem_long_p(&file_data[2], 300 + mp_me, mp_right());
    shmem_long_p(function_static(), 400 + mp_me, mp_right());
    shmem_char_p(&large_bss[LARGE - 1], (char)(mp_me + 1), mp_right());
    shmem_barrier_all();
    mp_check(global_data == 100 + mp_left(), "global_data %d", global_data);
    mp_check(global_bss == 200 + mp_left(), "global_bss %d", global_bss);
    mp_check(file_data[2] == 300 + mp_left() && file_data[1] == 2 && file_data[3] == 4, "file_data");
    mp_check(*function_static() == 400 + mp_left(), "function static %ld", *function_static());
    mp_check(large_bss[LARGE - 1] == (char)(mp_left() + 1) && large_bss[LARGE - 2] == 0, "large_bss");
    return mp_end();
}
