/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances and calls of the tests of expert parallelism; ep_check.cu compares. */
#include "test/device/ep.cuh"

#include <stdlib.h>

enum { FILL_THREADS = 128 };

static void must(cudaError_t status, const char *what)
{
    mp_check(status == cudaSuccess, "%s: %s", what, cudaGetErrorString(status));
    if (status)
        shmem_global_exit(MP_FAILED);
}

const char *ep_case_name(const struct ep_case *of)
{
    static const char *const dtypes[] = {"bf16", "fp8", "ue8m0"};
    static char name[160];

    snprintf(name, sizeof name, "%s %s %s, hidden %d, top-%d of %d, %d tokens, options %d%s",
             of->mode == REF_LOW_LATENCY ? "low" : "high", dtypes[of->dtype], ref_routing_name(of->routing),
             of->hidden, of->topk, of->mine * mp_npes, of->tokens, of->options, of->exact ? ", exact" : "");
    return name;
}

/* Routing of another call than the rows are of. */
static struct ref_job routing_job;

static int cached_tokens(const struct ref_job *, int pe)
{
    return ref_tokens(&routing_job, pe);
}

static void cached_choice(const struct ref_job *, int pe, int token, int32_t *topk, float *weights)
{
    ref_choose(&routing_job, pe, token, topk, weights);
}

static int emulated_hosts(void)
{
    return mp_npes / shmem_team_n_pes(SHMEMX_TEAM_NODE);
}

static void *take(size_t len)
{
    void *memory = NULL;

    must(cudaMalloc(&memory, len ? len : 16), "cudaMalloc");
    must(cudaMemset(memory, 0xee, len), "cudaMemset");
    return memory;
}

static void take_arrays(struct ep_world *world)
{
    struct ep_arrays *a = &world->a;
    const struct ep_case *of = &world->of;
    size_t tokens = (size_t)of->tokens, rows = (size_t)world->rows, hidden = (size_t)of->hidden;
    size_t topk = (size_t)of->topk;

    a->x = take(tokens * hidden * 2);
    a->x_scales = (float *)take(tokens * hidden / 32);
    a->topk = (int32_t *)take(tokens * topk * 4);
    a->wide_topk = (int64_t *)take(tokens * topk * 8);
    a->wide_rows = (int64_t *)take(rows * topk * 8);
    a->weights = (float *)take(tokens * topk * 4);
    a->rows = take(rows * hidden * 2);
    a->row_scales = (float *)take(rows * hidden / 32);
    a->y = take(rows * hidden * 2);
    a->out = take(tokens * hidden * 2);
    a->counts = (int32_t *)take((size_t)of->mine * 4);
    a->sources = (int32_t *)take((size_t)of->mine * (size_t)mp_npes * 8);
    a->row_topk = (int32_t *)take(rows * topk * 4);
    a->row_weights = (float *)take(rows * topk * 4);
    a->y_weights = (float *)take(rows * topk * 4);
    a->out_weights = (float *)take(tokens * topk * 4);
    a->origin =
        (struct ref_origin *)take(tokens * (size_t)mp_npes * topk * sizeof *a->origin); /* of all that come */
    a->first = (int64_t *)take((size_t)(of->mine + 1) * sizeof *a->first);
}

/* Rows of a part. In high throughput 0 would be for what an even routing gives, and one PE may get all. */
static int room_of(const struct ep_case *of)
{
    return of->capacity ? of->capacity : of->tokens * mp_npes;
}

static void configure(struct ep_world *world)
{
    const struct ep_case *of = &world->of;
    shmemx_ep_config_t *config = &world->config;

    *config = SHMEMX_EP_CONFIG_INITIALIZER;
    config->mode = of->mode == REF_LOW_LATENCY ? SHMEMX_EP_LOW_LATENCY : SHMEMX_EP_HIGH_THROUGHPUT;
    config->dtype = (int)of->dtype; /* in the same order */
    config->route = of->route;
    config->device = 1;
    config->hidden = of->hidden;
    config->experts = of->mine * mp_npes;
    config->topk = of->topk;
    config->tokens = of->tokens;
    if (of->mode == REF_LOW_LATENCY)
        config->expert_capacity = of->capacity;
    else
        config->pe_capacity = room_of(of);
    config->window = of->window;
    config->topk_bits = of->wide ? 64 : 0;
    config->exact = of->exact;
}

/* What the heap has held before must not matter: an instance begins in memory full of ones. */
static void soil_heap(void)
{
    size_t bytes = (size_t)8 << 20;
    void *memory = shmemx_team_malloc_device(SHMEM_TEAM_WORLD, bytes);

    if (memory)
        must(cudaMemset(memory, 0xff, bytes), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaMemset");
    shmemx_team_free(SHMEM_TEAM_WORLD, memory);
}

void ep_open(struct ep_world *world, const struct ep_case *of)
{
    int hosts = emulated_hosts();

    memset(world, 0, sizeof *world);
    world->of = *of;
    world->soon = -1;
    world->job = ref_job{mp_npes, hosts, of->mine * mp_npes, of->topk, of->tokens, of->hidden, of->dtype, of->routing,
                         mp_seed(), 0, NULL, NULL, false, of->exact};
    world->route = of->route != SHMEMX_EP_DIRECT && hosts > 1 && mp_npes > hosts ? REF_ONE_COPY : REF_DIRECT;
    world->rows = room_of(of) * (of->mode == REF_LOW_LATENCY ? of->mine : 1);
    configure(world);
    soil_heap();
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &world->config, &world->ep))
        shmem_global_exit(MP_FAILED);
    take_arrays(world);
    must(cudaStreamCreateWithFlags(&world->stream, cudaStreamNonBlocking), "a stream");
    world->report = (struct dev_report *)dev_share(sizeof *world->report);
}

void ep_close(struct ep_world *world)
{
    void **arrays = (void **)&world->a;

    must(cudaStreamSynchronize(world->stream), "the last call");
    mp_check(!shmemx_ep_destroy(world->ep), "not destroyed");
    for (size_t i = 0; i < sizeof world->a / sizeof *arrays; i++)
        must(cudaFree(arrays[i]), "cudaFree");
    must(cudaStreamDestroy(world->stream), "cudaStreamDestroy");
    must(cudaFreeHost(world->report), "cudaFreeHost");
}

/* A thread quantizes a block of 128 columns, by the one-by-one functions of ep/number.h. */
static __global__ void fill_codes(struct ref_job job, int me, uint8_t *codes, float *scales)
{
    uint64_t key = ref_row_key(job.seed, me, job.call, (int)blockIdx.x);
    enum wsh_ep_scale kind = job.dtype == REF_FP8 ? WSH_EP_SCALE_FLOAT : WSH_EP_SCALE_POWER2;

    for (int b = (int)threadIdx.x; b < job.hidden / WSH_EP_BLOCK; b += (int)blockDim.x) {
        size_t at = (size_t)blockIdx.x * (size_t)job.hidden + (size_t)b * WSH_EP_BLOCK;
        uint16_t block[WSH_EP_BLOCK];

        for (int i = 0; i < WSH_EP_BLOCK; i++)
            block[i] = ref_row_value(key, b * WSH_EP_BLOCK + i);
        wsh_ep_quantize(block, WSH_EP_BLOCK, kind, codes + at, scales + at / WSH_EP_BLOCK);
    }
}

static __global__ void fill_rows(struct ref_job job, int me, uint16_t *x)
{
    uint64_t key = ref_row_key(job.seed, me, job.call, (int)blockIdx.x);

    for (int i = (int)threadIdx.x; i < job.hidden; i += (int)blockDim.x)
        x[(size_t)blockIdx.x * (size_t)job.hidden + (size_t)i] = ref_row_value(key, i);
}

static bool is_quantized(const struct ep_world *world)
{
    return world->of.dtype != REF_BF16 && (world->of.options & (EP_QUANTIZED | EP_IN_X));
}

template <class TO, class FROM> static __global__ void convert(TO *to, const FROM *from, int64_t n)
{
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = from[i] == (int32_t)from[i] ? (TO)from[i] : (TO)INT32_MAX;
}

static void upload_choices(struct ep_world *world)
{
    const struct ref_job *job = &world->job;
    int tokens = ref_tokens(job, mp_me), topk = job->topk;
    int32_t *choices = (int32_t *)calloc((size_t)(tokens + 1) * (size_t)topk, sizeof *choices);
    float *weights = (float *)calloc((size_t)(tokens + 1) * (size_t)topk, sizeof *weights);

    for (int token = 0; token < tokens; token++)
        ref_choose(job, mp_me, token, choices + token * topk, weights + token * topk);
    dev_upload(world->a.topk, choices, (size_t)(tokens * topk) * sizeof *choices);
    convert<<<1, 256>>>(world->a.wide_topk, world->a.topk, tokens * topk);
    must(cudaDeviceSynchronize(), "topk of 64 bits");
    dev_upload(world->a.weights, weights, (size_t)(tokens * topk) * sizeof *weights);
    free(choices);
    free(weights);
}

void ep_set_call(struct ep_world *world, int64_t call)
{
    struct ref_job *job = &world->job;

    job->call = call;
    job->own_tokens = NULL;
    job->own_choice = NULL;
    if (!(world->of.options & EP_CACHED))
        world->routed = call;
    if (world->routed == call)
        return;
    routing_job = *job;
    routing_job.call = world->routed;
    job->own_tokens = cached_tokens;
    job->own_choice = cached_choice;
}

void ep_fill(struct ep_world *world, int64_t call)
{
    int tokens;

    if (!world->routed)
        world->routed = call;
    ep_set_call(world, call);
    world->x = world->of.options & EP_IN_X ? shmemx_ep_buffer(world->ep, SHMEMX_EP_BUFFER_X) : world->a.x;
    tokens = ref_tokens(&world->job, mp_me);
    must(cudaStreamSynchronize(world->stream), "the call before");
    if (world->routed == call)
        upload_choices(world);
    if (tokens && is_quantized(world))
        fill_codes<<<tokens, 64, 0, world->stream>>>(world->job, mp_me, (uint8_t *)world->x,
                                                     world->a.x_scales);
    else if (tokens)
        fill_rows<<<tokens, FILL_THREADS, 0, world->stream>>>(world->job, mp_me, (uint16_t *)world->x);
}

/* Every second routing's weights are given to the combine, in low latency. */
static bool weighs_late(const struct ep_world *world)
{
    return world->of.mode == REF_LOW_LATENCY && world->routed % 2;
}

static void receive_by_expert(const struct ep_world *world, shmemx_ep_rows_by_expert_t *rows)
{
    const struct ep_arrays *a = &world->a;
    bool bare = world->of.options & EP_BARE;

    rows->rows = a->rows;
    rows->row_scales = world->of.dtype != REF_BF16 ? a->row_scales : NULL;
    rows->counts = bare ? NULL : a->counts;
    rows->sources = bare ? NULL : a->sources;
}

static void receive_by_source(const struct ep_world *world, shmemx_ep_rows_by_source_t *rows)
{
    const struct ep_arrays *a = &world->a;
    bool bare = world->of.options & EP_BARE;

    rows->rows = a->rows;
    rows->row_scales = world->of.dtype != REF_BF16 ? a->row_scales : NULL;
    rows->counts = bare ? NULL : a->counts;
    rows->sources = bare ? NULL : a->sources;
    rows->row_topk = world->of.wide ? (void *)a->wide_rows : a->row_topk;
    rows->row_weights = a->row_weights;
}

void ep_start_dispatch(struct ep_world *world, int halves)
{
    const struct ep_arrays *a = &world->a;
    bool high = world->of.mode == REF_HIGH_THROUGHPUT;
    shmemx_ep_dispatch_t call = {};

    call.version = SHMEMX_EP_CALL_VERSION;
    call.halves = halves;
    call.handle = (int)(world->routed % 2);
    call.tokens = ref_tokens(&world->job, mp_me);
    call.x = world->x;
    call.x_scales = is_quantized(world) ? a->x_scales : NULL;
    call.topk = world->routed != world->job.call ? NULL : world->of.wide ? (void *)a->wide_topk : a->topk;
    call.weights = call.topk && !weighs_late(world) ? a->weights : NULL;
    if (high)
        receive_by_source(world, &call.by_source);
    else
        receive_by_expert(world, &call.by_expert);
    call.stream = world->stream;
    call.agreed = world->agreed;
    call.rows_most = world->rows_most;
    call.tokens = world->agreed == SHMEMX_EP_DECLINES ? 0 : call.tokens;
    if (shmemx_ep_dispatch(world->ep, &call))
        shmem_global_exit(MP_FAILED);
    if (call.by_source.row_topk == a->wide_rows && high && (halves & SHMEMX_EP_RECEIVE))
        convert<<<1, 256, 0, world->stream>>>(a->row_topk, a->wide_rows, world->rows * world->of.topk);
}

void ep_start_combine(struct ep_world *world, int halves)
{
    bool weighs = world->of.mode == REF_HIGH_THROUGHPUT && !(world->of.options & EP_BARE);
    shmemx_ep_combine_t call = {};

    call.version = SHMEMX_EP_CALL_VERSION;
    call.halves = halves;
    call.handle = (int)(world->routed % 2);
    call.y = world->y;
    call.weights = weighs_late(world) ? world->a.weights : NULL;
    call.y_weights = weighs ? world->a.y_weights : NULL;
    call.out = world->a.out;
    call.out_weights = weighs ? world->a.out_weights : NULL;
    call.stream = world->stream;
    if (shmemx_ep_combine(world->ep, &call))
        shmem_global_exit(MP_FAILED);
}

static void start(struct ep_world *world, void (*start_halves)(struct ep_world *, int))
{
    if (!(world->of.options & EP_APART)) {
        start_halves(world, SHMEMX_EP_BOTH);
        return;
    }
    start_halves(world, SHMEMX_EP_SEND);
    if (world->between)
        world->between(world);
    start_halves(world, SHMEMX_EP_RECEIVE);
}

/* Whether PEs agree in a call, by its kernels. */
static bool agree(const struct ep_world *world)
{
    return world->of.mode == REF_HIGH_THROUGHPUT && !world->of.capacity && !(world->of.options & EP_APART) &&
           world->job.call % 4 < 2;
}

static int rows_of_call(struct ep_world *world)
{
    int32_t rows = 0;

    mp_check(!shmemx_ep_counts(world->ep, (int)(world->routed % 2), NULL, &rows), "counts");
    return rows;
}

/* Some calls are declined first; some PEs do not have room for all rows. */
static void start_agreed(struct ep_world *world)
{
    int64_t call = world->job.call, most = 1 + call % (world->of.tokens * mp_npes);
    bool fresh = world->routed == call;

    if (fresh && call % 3 == 0 && !(world->of.options & EP_IN_X)) {
        world->agreed = call % mp_npes == mp_me ? SHMEMX_EP_DECLINES : SHMEMX_EP_AGREES;
        ep_start_dispatch(world, SHMEMX_EP_BOTH);
        mp_check(rows_of_call(world) == -1, "a call that is declined has rows");
    }
    world->agreed = SHMEMX_EP_AGREES;
    world->rows_most = (call + mp_me) % 3 ? most : 0;
    ep_start_dispatch(world, SHMEMX_EP_BOTH);
    if (rows_of_call(world) > most && world->rows_most) {
        world->rows_most = 0;
        ep_start_dispatch(world, SHMEMX_EP_RECEIVE);
    }
    world->agreed = world->rows_most = 0;
}

void ep_call(struct ep_world *world, int64_t call)
{
    ep_fill(world, call);
    world->soon = -1;
    if (agree(world))
        start_agreed(world);
    else
        start(world, ep_start_dispatch);
    if (world->of.mode == REF_LOW_LATENCY && !world->of.capacity)
        world->soon = rows_of_call(world);
    ep_check_dispatch(world);
    ep_start_experts(world);
    start(world, ep_start_combine);
    ep_check_combine(world);
}
