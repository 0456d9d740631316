/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles of a program for NVSHMEM: reductions by pull and by push, in place too, for all and for a root; allgather,
 * broadcast, put and get; by a thread, a warp, a warpgroup and a block; shapes and strides that are odd, masks, and
 * constants in types; of the world and of a smaller team. Elements outside a tile and its mask stay as they were.
 * paths: gpu:2 gpu1:2,4 gpumixed:2,4
 * timeout: 300
 */
#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

enum { ROOM = 1 << 14, NOTHING = 77, SIZES = 8 };
enum routine { SUM, MAX, MIN, SUM_PUSH, MAX_PUSH, SUM_ROOTED, MIN_ROOTED, BROADCAST, PUT, GET, ALLGATHER, ROUTINES };
enum scope { THREAD, WARP, WARPGROUP, BLOCK, SCOPES };

/* A tile of n[0] by n[1] in src and dst, and what of it counts. */
struct layout {
    int n[2], src[2], dst[2], start[2], boundary[2];
};

static const struct layout layouts[] = {
    {{32, 32}, {32, 1}, {32, 1}, {0, 0}, {32, 32}},
    {{7, 13}, {13, 1}, {17, 1}, {0, 0}, {100, 100}},
    {{33, 5}, {1, 33}, {1, 40}, {0, 0}, {33, 5}},
    {{16, 24}, {24, 1}, {32, 1}, {8, 16}, {20, 30}},
    {{9, 10}, {25, 2}, {31, 3}, {1, 1}, {9, 100}},
    {{20, 100}, {104, 1}, {112, 1}, {0, 0}, {20, 97}},
    {{40, 6}, {6, 1}, {6, 1}, {10, 7}, {50, 7}},
    {{1, 300}, {512, 1}, {304, 1}, {0, 0}, {1, 299}},
};

struct place {
    void *src, *dst;
    int *wrong;
    nvshmem_team_t team;
    int n_pes, root;
};

static __device__ int value(int pe, int i, int j)
{
    return (pe * 7 + i * 3 + j) % 16;
}

static __device__ int expected(enum routine routine, const struct place &p, int from, int i, int j)
{
    int result = value(0, i, j);

    if (routine >= BROADCAST)
        return value(from, i, j);
    for (int pe = 1; pe < p.n_pes; pe++) {
        int next = value(pe, i, j);
        bool most = routine == MAX || routine == MAX_PUSH, least = routine == MIN || routine == MIN_ROOTED;

        result = most ? max(result, next) : least ? min(result, next) : result + next;
    }
    return result;
}

static __device__ bool counts(const struct layout &l, int i, int j)
{
    return l.start[0] + i < l.boundary[0] && l.start[1] + j < l.boundary[1];
}

template <class T> __global__ void fill(struct place p, struct layout l)
{
    T *src = (T *)p.src, *dst = (T *)p.dst;

    for (int k = threadIdx.x; k < ROOM; k += blockDim.x)
        src[k] = dst[k] = T(float(NOTHING));
    __syncthreads();
    for (int k = threadIdx.x; k < l.n[0] * l.n[1]; k += blockDim.x)
        src[k / l.n[1] * l.src[0] + k % l.n[1] * l.src[1]] =
            T(float(value(nvshmem_my_pe(), k / l.n[1], k % l.n[1])));
}

/* `blocks` tiles, `step` elements apart, and nothing else. */
template <class T>
__global__ void check(struct place p, T *out, struct layout l, enum routine routine, int from, int blocks, int step,
                      bool in_place)
{
    for (int k = threadIdx.x; k < l.n[0] * l.n[1] * blocks; k += blockDim.x) {
        int block = k / (l.n[0] * l.n[1]), i = k / l.n[1] % l.n[0], j = k % l.n[1];
        T *at = out + block * step + i * l.dst[0] + j * l.dst[1];

        if (counts(l, i, j))
            atomicAdd(p.wrong, float(*at) != expected(routine, p, blocks > 1 ? block : from, i, j));
        else if (in_place)
            atomicAdd(p.wrong, float(*at) != value(nvshmem_my_pe(), i, j));
        else
            continue;
        *at = T(float(NOTHING));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < ROOM; k += blockDim.x)
        atomicAdd(p.wrong, 1000 * (float(out[k]) != NOTHING));
}

#define CALL(NAME, ALGO, ...) nvshmemx::tile_##NAME<Src, Dst, Pair, nvshmemx::ALGO>(__VA_ARGS__)
#define WAIT(SUFFIX, ALGO) nvshmemx::tile_collective_wait##SUFFIX<nvshmemx::tile_coll_algo_t::ALGO>(p.team, 0)

/* Of a scope: the routine, and the wait that ends it. */
#define ROUTINES_OF(SUFFIX)                                                                                          \
    template <class Src, class Dst, class Pair>                                                                      \
    static __device__ int call##SUFFIX(const struct place &p, enum routine routine, Src src, Dst dst, Pair start,    \
                                       Pair end)                                                                     \
    {                                                                                                                \
        int me = nvshmem_team_my_pe(p.team), next = (me + 1) % p.n_pes;                                              \
                                                                                                                     \
        switch (routine) {                                                                                           \
        case SUM:                                                                                                    \
            return CALL(sum_reduce##SUFFIX, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, start, end, 0) +               \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PULL_NBI);                                                             \
        case MAX:                                                                                                    \
            return CALL(max_reduce##SUFFIX, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, start, end, -1, 0) +           \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PULL_NBI);                                                             \
        case MIN:                                                                                                    \
            return CALL(min_reduce##SUFFIX, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, start, end, 0) +               \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PULL_NBI);                                                             \
        case SUM_PUSH:                                                                                               \
            return CALL(sum_reduce##SUFFIX, NVLS_TWO_SHOT_PUSH_NBI, p.team, src, dst, start, end, p.root, 0) +       \
                   WAIT(SUFFIX, NVLS_TWO_SHOT_PUSH_NBI);                                                             \
        case MAX_PUSH:                                                                                               \
            return CALL(max_reduce##SUFFIX, NVLS_TWO_SHOT_PUSH_NBI, p.team, src, dst, start, end, p.root, 0) +       \
                   WAIT(SUFFIX, NVLS_TWO_SHOT_PUSH_NBI);                                                             \
        case SUM_ROOTED:                                                                                             \
            return CALL(sum_rooted_reduce##SUFFIX, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, start, end, p.root, 0) + \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PULL_NBI);                                                             \
        case MIN_ROOTED:                                                                                             \
            return CALL(min_rooted_reduce##SUFFIX, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, start, end, p.root, 0) + \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PULL_NBI);                                                             \
        case BROADCAST:                                                                                              \
            return (me == p.root ? CALL(broadcast##SUFFIX, NVLS_ONE_SHOT_PUSH_NBI, p.team, src, dst, start, end, 0)  \
                                 : 0) +                                                                              \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PUSH_NBI);                                                             \
        case PUT:                                                                                                    \
            return CALL(put##SUFFIX, PEER_PUSH_NBI, src, dst, start, end, next, 0) +                                 \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PUSH_NBI);                                                             \
        case GET:                                                                                                    \
            return CALL(get##SUFFIX, REMOTE_PULL_NBI, src, dst, start, end, next, 0);                                \
        default:                                                                                                     \
            return CALL(allgather##SUFFIX, NVLS_ONE_SHOT_PUSH_NBI, p.team, src, dst, start, end, 0) +                \
                   WAIT(SUFFIX, NVLS_ONE_SHOT_PUSH_NBI);                                                             \
        }                                                                                                            \
    }
ROUTINES_OF()
ROUTINES_OF(_warp)
ROUTINES_OF(_warpgroup)
ROUTINES_OF(_block)

template <class T>
static __device__ auto tensor(void *data, int rows, int columns, const int *strides)
{
    auto layout = nvshmemx::make_layout(nvshmemx::make_shape(rows, columns),
                                        nvshmemx::make_stride(strides[0], strides[1]));

    return nvshmemx::Tensor<T, decltype(layout)>((T *)data, layout);
}

/* By the scope's threads of a block of 256. `wide`: how many tiles dst has in each dimension. */
template <class T, int SCOPE>
__global__ void __launch_bounds__(256) act(struct place p, struct layout l, enum routine routine, int2 wide)
{
    auto src = tensor<T>(p.src, l.n[0], l.n[1], l.src);
    auto dst = tensor<T>(p.dst, l.n[0] * wide.x, l.n[1] * wide.y, l.dst);
    auto start = nvshmemx::make_shape(l.start[0], l.start[1]), end = nvshmemx::make_shape(l.boundary[0], l.boundary[1]);
    int status = 0;

    if constexpr (SCOPE == BLOCK)
        status = call_block(p, routine, src, dst, start, end);
    else if (SCOPE == WARPGROUP && threadIdx.x / 128 == 1)
        status = call_warpgroup(p, routine, src, dst, start, end);
    else if (SCOPE == WARP && threadIdx.x / 32 == 3)
        status = call_warp(p, routine, src, dst, start, end);
    else if (SCOPE == THREAD && threadIdx.x == 5)
        status = call(p, routine, src, dst, start, end);
    if (status)
        atomicAdd(p.wrong, 1000000);
}

/* As NVSHMEM's own tests say that nothing is masked. */
struct empty {
};

/*
 * Constants in types, and no mask: 32 columns by 16 lines, also where the mask's type is no tuple; then one dimension.
 * What is wrong is refused.
 */
__global__ void constants(struct place p)
{
    auto layout = nvshmemx::make_layout(nvshmemx::make_shape(ConstInt<32>{}, ConstInt<16>{}),
                                        nvshmemx::make_stride(ConstInt<1>{}, ConstInt<48>{}));
    auto line = nvshmemx::make_layout(nvshmemx::make_shape(21), nvshmemx::make_stride(ConstInt<1>{}));
    using Src = nvshmemx::Tensor<float, decltype(layout)>;
    using Line = nvshmemx::Tensor<float, decltype(line)>;
    auto none = nvshmemx::make_shape();
    using Pair = decltype(none);
    using Dst = Src;
    Src src((float *)p.src, layout), dst((float *)p.dst, layout), null(nullptr, layout);
    Line from((float *)p.src, line), to((float *)p.dst + 1000, line);
    int status = nvshmemx::tile_max_reduce_block<Src, Dst, empty, nvshmemx::NVLS_ONE_SHOT_PULL_NBI>(p.team, src, dst,
                                                                                                    {}, {}, 0);

    status += CALL(sum_reduce_block, NVLS_ONE_SHOT_PULL_NBI, p.team, src, dst, none, none, 0);
    status += nvshmemx::tile_get_block<Line, Line, cuda::std::tuple<int>, nvshmemx::PEER_PULL_NBI>(
        from, to, nvshmemx::make_shape(3), nvshmemx::make_shape(22), 0, 0);
    if (CALL(sum_reduce_block, NVLS_TWO_SHOT_PUSH_NBI, p.team, src, dst, none, none, 0) == NVSHMEMX_SUCCESS ||
        CALL(put_block, PEER_PUSH_NBI, null, dst, none, none, 0, 0) == NVSHMEMX_SUCCESS ||
        CALL(put_block, PEER_PUSH_NBI, src, dst, none, none, 0, 1) == NVSHMEMX_SUCCESS || status)
        atomicAdd(p.wrong, 1000000);
    __syncthreads();
    for (int k = threadIdx.x; k < 32 * 16; k += blockDim.x)
        atomicAdd(p.wrong, dst.data()[k % 32 + k / 32 * 48] != expected(SUM, p, 0, k / 32, k % 32));
    for (int k = threadIdx.x; k < 21; k += blockDim.x)
        atomicAdd(p.wrong, ((float *)p.dst)[1000 + k] != (k < 19 ? value(0, 0, k) : NOTHING));
}

static void check_wrong(const struct place &p, const char *type, enum routine routine, int scope, int layout)
{
    int wrong;

    CHECK_CUDA(cudaDeviceSynchronize());
    CHECK_CUDA(cudaMemcpy(&wrong, p.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong)
        fprintf(stderr, "PE %d of %d, %s, routine %d, scope %d, layout %d: %d\n", nvshmem_my_pe(), p.n_pes, type,
                routine, scope, layout, wrong);
    CHECK(!wrong);
}

/* Fills, acts and checks, at all members. */
template <class T, int SCOPE>
static void round(struct place p, const char *type, enum routine routine, int which, bool in_place)
{
    struct layout l = layouts[which];
    int me = nvshmem_team_my_pe(p.team), from = me, blocks = 1, step = 0;
    int2 wide = {1, 1};

    if (in_place)
        l.dst[0] = l.src[0], l.dst[1] = l.src[1];
    if (routine == ALLGATHER && which % 2) { /* behind each other */
        wide.x = blocks = p.n_pes;
        step = l.n[0] * l.dst[0];
    } else if (routine == ALLGATHER) { /* side by side */
        wide.y = blocks = p.n_pes;
        l.dst[0] *= l.dst[0] == 1 ? 1 : p.n_pes, step = l.n[1] * l.dst[1];
    }
    from = routine == BROADCAST ? p.root : routine == PUT ? (me + p.n_pes - 1) % p.n_pes : (me + 1) % p.n_pes;
    fill<T><<<1, 1024>>>(p, l);
    if (in_place)
        p.dst = p.src;
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier(p.team);
    act<T, SCOPE><<<1, 256>>>(p, l, routine, wide);
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier(p.team);
    if ((routine == SUM_ROOTED || routine == MIN_ROOTED) && me != p.root)
        l.n[0] = 0;
    check<T><<<1, 1024>>>(p, (T *)p.dst, l, routine, from, blocks, step, in_place);
    check_wrong(p, type, routine, SCOPE, which);
    nvshmem_barrier(p.team);
}

template <class T, int SCOPE> static void rounds(struct place p, const char *type, int every)
{
    for (int routine = 0; routine < ROUTINES; routine++)
        for (int which = routine % every; which < SIZES; which += every) {
            if (SCOPE == THREAD && layouts[which].n[0] * layouts[which].n[1] > 400)
                continue; /* one element at a time to another host */
            p.root = (p.root + 1) % p.n_pes;
            round<T, SCOPE>(p, type, (enum routine)routine, which, false);
        }
    round<T, SCOPE>(p, type, SUM_PUSH, every % SIZES, true);
}

static void check_constants(struct place p)
{
    struct layout l = {{16, 32}, {48, 1}, {48, 1}, {0, 0}, {16, 32}};

    fill<float><<<1, 1024>>>(p, l);
    CHECK_CUDA(cudaDeviceSynchronize());
    nvshmem_barrier(p.team);
    constants<<<1, 256>>>(p);
    check_wrong(p, "constants", SUM, BLOCK, -1);
    nvshmem_barrier(p.team);
}

int main(void)
{
    struct place p;

    static_assert(sizeof layouts / sizeof layouts[0] == SIZES, "layouts");
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    nvshmem_init();
    p = {nvshmem_malloc(ROOM * sizeof(double)), nvshmem_malloc(ROOM * sizeof(double)),
         (int *)nvshmem_calloc(1, sizeof(int)), NVSHMEM_TEAM_WORLD, nvshmem_n_pes(), 0};
    CHECK(p.src && p.dst && p.wrong);
    rounds<float, BLOCK>(p, "float", 1);
    rounds<__half, BLOCK>(p, "half", 2);
    rounds<__nv_bfloat16, WARPGROUP>(p, "bfloat16", 2);
    rounds<int, WARP>(p, "int", 2);
    rounds<double, THREAD>(p, "double", 4);
    check_constants(p);
    if (nvshmem_n_pes() > 2) { /* all PEs but the last one */
        p.n_pes--;
        CHECK(!nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, p.n_pes, NULL, 0, &p.team));
        if (p.team != NVSHMEM_TEAM_INVALID)
            rounds<float, BLOCK>(p, "float", 3);
        nvshmem_barrier_all();
    }
    nvshmem_finalize();
    return 0;
}
