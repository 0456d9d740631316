/* SPDX-License-Identifier: BSD-3-Clause */
/* A C++17 program without extensions compiles, links and runs: typed routines, handles, constants, no generics. */
#include <pshmem.h>
#include <shmemx.h>

#include <cstdio>
#include <cstdint>
#include <limits>

static shmem_team_t team = SHMEM_TEAM_WORLD;

template <typename T, typename Put>
static bool moves(T *dest, Put put)
{
    T value = std::numeric_limits<T>::max();

    put(dest, &value, 1, 0);
    shmem_quiet();
    return *dest == value;
}

int main()
{
    shmem_init();
    void *at = shmem_malloc(64);
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    bool right = shmem_my_pe() != 0 ||
                 (moves(static_cast<int *>(at), shmem_int_put) &&
                  moves(static_cast<long double *>(at), shmem_longdouble_put) &&
                  moves(static_cast<std::uint64_t *>(at), pshmem_uint64_put));
    right = right && shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0 && shmem_team_n_pes(team) == shmem_n_pes();
    shmem_ctx_destroy(ctx);
    if (!right)
        std::puts("wrong value");
    shmem_finalize();
    return right ? 0 : 1;
}
