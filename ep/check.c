/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments: each bad one is a line of what, where and the cure. */
#include "ep/ep.h"

#include <limits.h>

/* Prints and returns from the checking function where `bad` holds. */
#define REFUSE_IF(bad, ...)                         \
    do {                                            \
        if (bad)                                    \
            return ep_refuse(routine, __VA_ARGS__); \
    } while (0)

static int check_choices(const char *routine, const shmemx_ep_config_t *config)
{
    REFUSE_IF(config->mode != SHMEMX_EP_LOW_LATENCY && config->mode != SHMEMX_EP_HIGH_THROUGHPUT,
              "mode is %d; it is SHMEMX_EP_LOW_LATENCY (0) or SHMEMX_EP_HIGH_THROUGHPUT (1)", config->mode);
    REFUSE_IF(config->dtype < SHMEMX_EP_BF16 || config->dtype > SHMEMX_EP_NVFP4,
              "dtype is %d; it is SHMEMX_EP_BF16 (0), SHMEMX_EP_FP8 (1), SHMEMX_EP_FP8_UE8M0 (2), "
              "SHMEMX_EP_BYTES (3) or SHMEMX_EP_NVFP4 (4)",
              config->dtype);
    REFUSE_IF(config->route < SHMEMX_EP_AUTO || config->route > SHMEMX_EP_ONE_COPY,
              "route is %d; it is SHMEMX_EP_AUTO (0), SHMEMX_EP_DIRECT (1) or SHMEMX_EP_ONE_COPY (2)",
              config->route);
    REFUSE_IF(config->device != 0 && config->device != 1,
              "device is %d; it is 1 for memory of the GPU, 0 for the host's", config->device);
    REFUSE_IF(
        config->device && !ep_device_calls,
        "device is 1, and this library was built without kernels; configure it with nvcc on PATH, or with "
        "--with-cuda");
    return 0;
}

static int check_sizes(const char *routine, const shmemx_ep_config_t *config, int n)
{
    REFUSE_IF(config->hidden < EP_GROUP || config->hidden > 65536 || config->hidden % EP_GROUP,
              "hidden is %d; it is a multiple of %d, to 65,536", config->hidden, EP_GROUP);
    REFUSE_IF(config->experts < 1 || config->experts % n,
              "experts is %d; it is a multiple of %d, the number of PEs of the team", config->experts, n);
    REFUSE_IF(config->topk < 1 || config->topk > EP_TOPK_MAX || config->topk > config->experts,
              "topk is %d; it is from 1 to %d, and at most experts, which is %d", config->topk, EP_TOPK_MAX,
              config->experts);
    REFUSE_IF(config->tokens < 1 || config->tokens > 65536,
              "tokens is %d; it is from 1 to 65,536, per PE and call", config->tokens);
    REFUSE_IF(config->mode == SHMEMX_EP_LOW_LATENCY &&
                  (config->tokens > EP_LOW_TOKENS || config->experts > EP_LOW_EXPERTS),
              "tokens is %d and experts %d; in low latency they are at most %d and %d, else take "
              "SHMEMX_EP_HIGH_THROUGHPUT",
              config->tokens, config->experts, EP_LOW_TOKENS, EP_LOW_EXPERTS);
    return 0;
}

/* Rows that the program packs. */
static int check_bytes(const char *routine, const shmemx_ep_config_t *config)
{
    int groups = config->hidden / EP_GROUP;

    REFUSE_IF(config->dtype != SHMEMX_EP_BYTES && config->row_bytes,
              "row_bytes is %d, and dtype is %d; it is for SHMEMX_EP_BYTES, else 0", config->row_bytes,
              config->dtype);
    REFUSE_IF(config->dtype == SHMEMX_EP_BYTES && (config->device || config->mode != SHMEMX_EP_LOW_LATENCY),
              "dtype is SHMEMX_EP_BYTES, which is for low latency with rows in memory of the host; take "
              "another");
    REFUSE_IF(config->dtype == SHMEMX_EP_BYTES &&
                  (config->row_bytes < 1 || config->row_bytes % groups || config->row_bytes > 1 << 18),
              "row_bytes is %d; it is a multiple of %d, hidden / 128, to 262,144", config->row_bytes, groups);
    REFUSE_IF(config->dtype == SHMEMX_EP_NVFP4 && config->mode != SHMEMX_EP_LOW_LATENCY,
              "dtype is SHMEMX_EP_NVFP4, which is for low latency; take another");
    REFUSE_IF(
        config->dtype == SHMEMX_EP_NVFP4 && config->device && config->masks,
        "dtype is SHMEMX_EP_NVFP4 and masks is 1: kernels have no masks with it; take SHMEMX_EP_FP8, or "
        "no masks");
    return 0;
}

static int check_limits(const char *routine, const shmemx_ep_config_t *config, int n)
{
    REFUSE_IF((int64_t)config->tokens * n > INT_MAX / 64,
              "tokens is %d with %d PEs; their product is at most %d", config->tokens, n, INT_MAX / 64);
    REFUSE_IF(config->capacity < 0 || config->capacity > config->tokens * n,
              "%s is %d; it is from 1 to %d, all that can come, or 0 for a default",
              ep_capacity_name(config->mode), config->capacity, config->tokens * n);
    REFUSE_IF(config->window < 0 || config->window > 65536,
              "window is %d; it is from 1 to 65,536 tokens, or 0 for a default", config->window);
    REFUSE_IF(config->handles < 0 || config->handles > 4096,
              "handles is %d; it is from 1 to 4,096, or 0 for a default", config->handles);
    REFUSE_IF(config->blocks < 0 || config->blocks > 1024,
              "blocks is %d; it is from 1 to 1,024, or 0 for a default", config->blocks);
    REFUSE_IF(config->fewer_blocks != 0 && config->fewer_blocks != 1, "fewer_blocks is %d; it is 0 or 1",
              config->fewer_blocks);
    REFUSE_IF(config->topk_bits != 0 && config->topk_bits != 32 && config->topk_bits != 64,
              "topk_bits is %d; it is 32 or 64, or 0 for 32", config->topk_bits);
    REFUSE_IF(config->masks != 0 && config->masks != 1, "masks is %d; it is 0 or 1", config->masks);
    REFUSE_IF(config->masks && (config->mode != SHMEMX_EP_LOW_LATENCY || config->route == SHMEMX_EP_ONE_COPY),
              "masks is 1, which is for low latency, not by "
              "SHMEMX_EP_ONE_COPY: a PE that hands rows on would take those of others along; give 0");
    REFUSE_IF(config->limit_ms < 0 || (config->limit_ms && !config->masks),
              "limit_ms is %d; it is positive, with masks, or 0", config->limit_ms);
    REFUSE_IF(config->exact != 0 && config->exact != 1, "exact is %d; it is 0 or 1", config->exact);
    for (size_t i = 0; i < sizeof config->unused / sizeof config->unused[0]; i++)
        REFUSE_IF(config->unused[i], "unused[%zu] is %d; it is 0: begin with SHMEMX_EP_CONFIG_INITIALIZER", i,
                  config->unused[i]);
    return 0;
}

int ep_check_config(const char *routine, const shmemx_ep_config_t *config, int n)
{
    return check_choices(routine, config) || check_sizes(routine, config, n) ||
           check_bytes(routine, config) || check_limits(routine, config, n);
}

/* Of both kinds of calls: which halves, of which handle, after what. */
static int check_halves(const char *routine, const struct ep_half *half, int halves, int handle, int handles)
{
    REFUSE_IF(halves < SHMEMX_EP_SEND || halves > SHMEMX_EP_BOTH,
              "halves is %d; it is SHMEMX_EP_SEND (1), SHMEMX_EP_RECEIVE (2) or SHMEMX_EP_BOTH (3)", halves);
    REFUSE_IF(handle < 0 || handle >= handles,
              "handle is %d; it is from 0 to %d: config.handles says how many there are", handle,
              handles - 1);
    REFUSE_IF(halves != SHMEMX_EP_RECEIVE && half->sent,
              "a sending half while the receiving half of the call before has not come; call it with "
              "SHMEMX_EP_RECEIVE "
              "and handle %d first",
              half->handle);
    REFUSE_IF(halves == SHMEMX_EP_RECEIVE && !half->sent,
              "a receiving half without a sending half before it; call it with SHMEMX_EP_SEND first");
    REFUSE_IF(halves == SHMEMX_EP_RECEIVE && handle != half->handle,
              "handle is %d, and the sending half had %d; give both halves the same", handle, half->handle);
    return 0;
}

/* Memory that calls name, where kernels use it. */
static int check_memory(const char *routine, const struct shmemx_ep *ep, const char *name,
                        const void *address)
{
    if (!ep->config.device || !address)
        return 0;
    REFUSE_IF((uintptr_t)address % 4, "%s is %p; its address is a multiple of 4", name, address);
    REFUSE_IF(ep_device_calls->reaches && !ep_device_calls->reaches(address),
              "%s is %p, no memory that the GPU can use; take cudaMalloc or shmemx_malloc_device, as "
              "config.device is 1",
              name, address);
    return 0;
}

/* Of X and Y: addresses in one of the two buffers must be its beginning, and not that of the call before. */
static int check_buffer(const char *routine, const struct shmemx_ep *ep, int which, const char *name,
                        const char *address)
{
    const struct ep_shape *shape = &ep->shape;
    size_t bytes = shape->pushes                 ? 0
                   : which == SHMEMX_EP_BUFFER_X ? shape->tokens * shape->row
                                                 : (size_t)shape->y_rows * shape->hidden * 2;

    for (int turn = 0; turn < 2; turn++) {
        const char *buffer = ep->arena + (which == SHMEMX_EP_BUFFER_X ? shape->x : shape->y)[turn];

        if (address < buffer || address >= buffer + bytes)
            continue;
        REFUSE_IF(address != buffer, "%s is inside of a buffer of shmemx_ep_buffer; give its beginning, %p",
                  name, (const void *)buffer);
        REFUSE_IF(turn == ep->turn[which],
                  "%s is in the buffer that the call before had, which others may still read; "
                  "shmemx_ep_buffer returns the other one",
                  name);
    }
    return 0;
}

static int check_x(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    const struct ep_shape *shape = &ep->shape;
    bool in_buffer = shape->pushes ? call->x && call->x == ep->buffers[SHMEMX_EP_BUFFER_X]
                                   : call->x == ep->arena + shape->x[0] || call->x == ep->arena + shape->x[1];

    REFUSE_IF(!call->x && call->tokens, "x is NULL with %d tokens; give their rows", call->tokens);
    REFUSE_IF(call->x_scales && (!shape->scales || shape->dtype == SHMEMX_EP_NVFP4),
              "x_scales is given, and dtype has none for x; give NULL");
    REFUSE_IF(in_buffer && shape->scales && !call->x_scales,
              "x is in the buffer, which holds e4m3, without x_scales; give them, or BF16 rows elsewhere");
    REFUSE_IF((shape->dtype == SHMEMX_EP_NVFP4) != (call->global_scale != NULL),
              "global_scale is %p; it is the address of a number with SHMEMX_EP_NVFP4, else NULL",
              (const void *)call->global_scale);
    REFUSE_IF(call->global_scale && !ep->config.device &&
                  !(*call->global_scale > 0 && *call->global_scale < 3e38f),
              "global_scale is the address of %g; give a positive number", (double)*call->global_scale);
    return check_memory(routine, ep, "x", call->x) || check_memory(routine, ep, "x_scales", call->x_scales) ||
           check_memory(routine, ep, "global_scale", call->global_scale);
}

static long long expert_at(const struct shmemx_ep *ep, const void *topk, size_t i)
{
    return ep->shape.topk_shift ? ((const int64_t *)topk)[i] : ((const int32_t *)topk)[i];
}

/* One token's experts. */
static int check_experts(const char *routine, const struct shmemx_ep *ep, const void *topk, int columns,
                         int token)
{
    size_t first = (size_t)token * columns;

    for (int k = 0; k < columns; k++) {
        long long expert = expert_at(ep, topk, first + k);

        REFUSE_IF(expert < -1 || expert >= ep->shape.experts,
                  "topk[%d][%d] is %lld; it is an expert from 0 to %d, or -1: none", token, k, expert,
                  ep->shape.experts - 1);
        for (int j = 0; j < k; j++)
            REFUSE_IF(expert >= 0 && expert_at(ep, topk, first + j) == expert,
                      "topk[%d] has expert %lld twice, at %d and %d; a token's experts are different ones",
                      token, expert, j, k);
    }
    return 0;
}

static int check_topk(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    int kept = ep->handle_tokens[call->handle];

    REFUSE_IF(
        !call->topk && kept < 0,
        "topk is NULL, and handle %d has no routing yet; give topk, or the handle of an earlier dispatch",
        call->handle);
    REFUSE_IF(!call->topk && kept != call->tokens,
              "tokens is %d, and the routing that handle %d has is of %d; give as many, or topk",
              call->tokens, call->handle, kept);
    for (int token = 0; call->topk && !ep->config.device && token < call->tokens; token++)
        if (check_experts(routine, ep, call->topk, call->columns ? call->columns : ep->shape.topk, token))
            return 1;
    return check_memory(routine, ep, "topk", call->topk) ||
           check_memory(routine, ep, "weights", call->weights);
}

static int check_columns(const char *routine, const struct shmemx_ep *ep, int columns)
{
    REFUSE_IF(columns < 0 || columns > ep->shape.topk,
              "columns is %d; it is from 1 to config.topk, %d, or 0 for that", columns, ep->shape.topk);
    return 0;
}

/* What low latency alone gives of rows. */
static int check_low(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    bool low = ep->config.mode == SHMEMX_EP_LOW_LATENCY;

    REFUSE_IF(!low && (call->ranges || call->totals),
              "%s is given, which high throughput does not have; give NULL",
              call->ranges ? "ranges" : "totals");
    REFUSE_IF(
        call->scales_row_step < 0 || call->scales_column_step < 0 ||
            !call->scales_row_step != !call->scales_column_step ||
            (call->scales_row_step && !(low && call->row_scales && ep->shape.dtype != SHMEMX_EP_NVFP4)),
        "scales_row_step is %lld and scales_column_step %lld; they are both positive, in low latency with "
        "row_scales of FP8, or both 0",
        (long long)call->scales_row_step, (long long)call->scales_column_step);
    REFUSE_IF(
        call->scales_packed &&
            (!call->scales_row_step || ep->config.dtype != SHMEMX_EP_FP8_UE8M0 || ep->config.hidden % 512),
        "scales_packed is %d; it is 0, or 1 with scales_row_step, SHMEMX_EP_FP8_UE8M0 and hidden a multiple "
        "of 512",
        call->scales_packed);
    return check_memory(routine, ep, "ranges", call->ranges) ||
           check_memory(routine, ep, "row_sources", call->row_sources) ||
           check_memory(routine, ep, "totals", call->totals);
}

static int check_rows(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    bool low = ep->config.mode == SHMEMX_EP_LOW_LATENCY;

    REFUSE_IF(call->expanded && (call->rows || call->row_scales),
              "%s is given, and expanded has them; give NULL", call->rows ? "rows" : "row_scales");
    REFUSE_IF(!call->expanded && !call->rows, "rows is NULL; give room for %lld rows",
              (long long)ep->shape.y_rows);
    REFUSE_IF(!call->expanded && ep->shape.scales && !call->row_scales,
              "row_scales is NULL, and dtype has scales; give room for them");
    REFUSE_IF(!ep->shape.scales && call->row_scales,
              "row_scales is given, and dtype has no scales; give NULL");
    REFUSE_IF(low && (call->row_topk || call->row_weights),
              "%s is given, which low latency does not have: its rows are packed by expert; give NULL",
              call->row_topk ? "row_topk" : "row_weights");
    return check_memory(routine, ep, "rows", call->rows) ||
           check_memory(routine, ep, "row_scales", call->row_scales) ||
           check_memory(routine, ep, "counts", call->counts) ||
           check_memory(routine, ep, "sources", call->sources) ||
           check_memory(routine, ep, "row_topk", call->row_topk) ||
           check_memory(routine, ep, "row_weights", call->row_weights);
}

/* The version and what is not used yet, of both kinds of calls. */
static int check_version(const char *routine, uint32_t version, const int64_t *unused, int n)
{
    REFUSE_IF(version < 1 || version > SHMEMX_EP_CALL_VERSION,
              "version is %u, and this library knows %u; set .version = SHMEMX_EP_CALL_VERSION", version,
              SHMEMX_EP_CALL_VERSION);
    for (int i = 0; i < n; i++)
        REFUSE_IF(unused[i], "unused[%d] is %lld; it is 0: begin with zeros", i, (long long)unused[i]);
    return 0;
}

/* Of both kinds of calls. */
static int check_waits(const char *routine, const struct shmemx_ep *ep, const int64_t *waits)
{
    REFUSE_IF(waits && !ep->shape.pushes,
              "waits is given, which calls of high throughput do not have; give NULL");
    return check_memory(routine, ep, "waits", waits);
}

/* What high throughput alone has. */
static int check_agreed(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    REFUSE_IF(ep->shape.pushes && (call->rows_most || call->agreed || call->row_sums),
              "%s is given, which is for high throughput; give 0",
              call->rows_most ? "rows_most"
              : call->agreed  ? "agreed"
                              : "row_sums");
    REFUSE_IF(call->agreed < 0 || call->agreed > SHMEMX_EP_DECLINES,
              "agreed is %lld; it is SHMEMX_EP_AGREES (1), SHMEMX_EP_DECLINES (2) or 0",
              (long long)call->agreed);
    REFUSE_IF(call->agreed == SHMEMX_EP_DECLINES && call->tokens,
              "agreed is SHMEMX_EP_DECLINES, and tokens is %d; give 0", call->tokens);
    REFUSE_IF(call->rows_most < 0 || call->rows_most > ep->shape.capacity,
              "rows_most is %lld; it is from 1 to config.pe_capacity, %d, or 0 for that",
              (long long)call->rows_most, ep->shape.capacity);
    REFUSE_IF(ep->shape.far && call->row_sums && !call->agreed,
              "row_sums is given and agreed is 0: between hosts PEs know the rows of all where they agree; "
              "give SHMEMX_EP_AGREES, or no row_sums");
    REFUSE_IF(ep->shape.far && call->halves == SHMEMX_EP_RECEIVE && call->agreed != ep->dispatch.agreed,
              "agreed is %lld, and the sending half had %lld; give both halves the same",
              (long long)call->agreed, (long long)ep->dispatch.agreed);
    return check_memory(routine, ep, "row_sums", call->row_sums);
}

/* Places are numbers of 32 bits. */
static int check_expanded_sizes(const char *routine, const struct shmemx_ep *ep,
                                const shmemx_ep_rows_expanded_t *expanded)
{
    int64_t room = expanded->room, alignment = expanded->alignment, mine = ep->shape.mine;
    int64_t row_step = expanded->scales_row_step, column_step = expanded->scales_column_step;

    REFUSE_IF(room < 1 || room > INT_MAX / 2, "expanded->room is %lld; it is from 1 to %d rows",
              (long long)room, INT_MAX / 2);
    REFUSE_IF(alignment < 1 || alignment > INT_MAX / 4 / mine,
              "expanded->alignment is %lld; it is from 1 to %lld with %d experts a PE", (long long)alignment,
              INT_MAX / 4 / (long long)mine, ep->shape.mine);
    REFUSE_IF(expanded->zero != 0 && expanded->zero != 1, "expanded->zero is %lld; it is 0 or 1",
              (long long)expanded->zero);
    REFUSE_IF(row_step < 0 || column_step < 0 || !row_step != !column_step ||
                  (row_step && !expanded->row_scales),
              "expanded->scales_row_step is %lld and scales_column_step %lld; they are both positive, with "
              "row_scales, or both 0",
              (long long)row_step, (long long)column_step);
    return 0;
}

static int check_expanded(const char *routine, const struct shmemx_ep *ep,
                          const shmemx_ep_rows_expanded_t *expanded)
{
    if (!expanded)
        return 0;
    REFUSE_IF(!ep->shape.pulls, "expanded is given, which is for high throughput on one host; give NULL");
    REFUSE_IF(!expanded->rows || !expanded->ends, "expanded->%s is NULL; give room for it",
              expanded->rows ? "ends" : "rows");
    REFUSE_IF(!ep->shape.scales != !expanded->row_scales, "expanded->row_scales is %p, and dtype has %s",
              (void *)expanded->row_scales,
              ep->shape.scales ? "scales; give room for them" : "none; give NULL");
    return check_expanded_sizes(routine, ep, expanded) ||
           check_memory(routine, ep, "expanded->rows", expanded->rows) ||
           check_memory(routine, ep, "expanded->row_scales", expanded->row_scales) ||
           check_memory(routine, ep, "expanded->weights", expanded->weights) ||
           check_memory(routine, ep, "expanded->ends", expanded->ends) ||
           check_memory(routine, ep, "expanded->places", expanded->places) ||
           check_memory(routine, ep, "expanded->sources", expanded->sources) ||
           check_memory(routine, ep, "expanded->experts", expanded->experts);
}

int ep_check_dispatch(const struct shmemx_ep *ep, const shmemx_ep_dispatch_t *call)
{
    const char *routine = "shmemx_ep_dispatch";

    if (check_version(routine, call->version, call->unused, 1) ||
        check_halves(routine, &ep->dispatch, call->halves, call->handle, ep->shape.handles))
        return 1;
    REFUSE_IF(call->tokens < 0 || call->tokens > ep->shape.tokens,
              "tokens is %d; it is from 0 to config.tokens, %d", call->tokens, ep->shape.tokens);
    REFUSE_IF(call->halves == SHMEMX_EP_RECEIVE && call->tokens != ep->dispatch.tokens,
              "tokens is %d, and the sending half had %d; give both halves the same", call->tokens,
              ep->dispatch.tokens);
    REFUSE_IF(call->halves != SHMEMX_EP_RECEIVE && ep->combine.sent && ep->combine.handle == call->handle,
              "handle %d is in use by a combine whose receiving half has not come; call that first, or take "
              "another handle",
              call->handle);
    REFUSE_IF(call->stream && !ep->config.device, "stream is given, and config.device is 0; give NULL");
    if (call->halves != SHMEMX_EP_RECEIVE && check_buffer(routine, ep, SHMEMX_EP_BUFFER_X, "x", call->x))
        return 1;
    return check_columns(routine, ep, call->columns) || check_x(routine, ep, call) ||
           check_topk(routine, ep, call) || check_rows(routine, ep, call) || check_low(routine, ep, call) ||
           check_waits(routine, ep, call->waits) || check_agreed(routine, ep, call) ||
           check_expanded(routine, ep, call->expanded);
}

static int check_results(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    bool low = ep->config.mode == SHMEMX_EP_LOW_LATENCY;

    REFUSE_IF(!call->y, "y is NULL; give the results of the rows that the dispatch gave");
    REFUSE_IF(!call->out && ep->handle_tokens[call->handle],
              "out is NULL with %d tokens; give room for their rows", ep->handle_tokens[call->handle]);
    REFUSE_IF(low && (call->y_weights || call->out_weights),
              "%s is given, which low latency does not have; give NULL",
              call->y_weights ? "y_weights" : "out_weights");
    REFUSE_IF(!low && call->weights,
              "weights is given, which high throughput does not apply: its rows are sums; give NULL");
    REFUSE_IF(call->stream && !ep->config.device, "stream is given, and config.device is 0; give NULL");
    if (call->halves != SHMEMX_EP_RECEIVE && check_buffer(routine, ep, SHMEMX_EP_BUFFER_Y, "y", call->y))
        return 1;
    return check_columns(routine, ep, call->columns) || check_memory(routine, ep, "y", call->y) ||
           check_memory(routine, ep, "y_weights", call->y_weights) ||
           check_memory(routine, ep, "weights", call->weights) ||
           check_memory(routine, ep, "out", call->out) ||
           check_memory(routine, ep, "out_weights", call->out_weights);
}

/* Of a combine: rows expert by expert. They are added up in the buffer. */
static int check_places(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    bool buffer = call->y == ep->arena + ep->shape.y[0] || call->y == ep->arena + ep->shape.y[1];

    if (!call->places)
        return 0;
    REFUSE_IF(!ep->shape.pulls, "places is given, which is for high throughput on one host; give NULL");
    REFUSE_IF(buffer,
              "y is a buffer of shmemx_ep_buffer, where the sums of expanded rows lie; give other memory");
    return check_memory(routine, ep, "places", call->places);
}

/* Of a combine: rows that are there at different times. */
static int check_signals(const char *routine, const struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    bool device = ep->config.device;

    REFUSE_IF(!call->signals && (call->signal_value || call->signal_rows || call->signal_blocks),
              "signal_%s is given without signals; give them, or 0",
              call->signal_value  ? "value"
              : call->signal_rows ? "rows"
                                  : "blocks");
    REFUSE_IF(
        call->signals && (!ep->shape.pushes || ep->shape.far || (device && ep->config.masks)),
        "signals is given, which is for low latency on one host, on a GPU without masks; give NULL when "
        "all rows are there");
    REFUSE_IF(call->signal_rows < 0, "signal_rows is %d; it is 0, or how many rows a word is for",
              call->signal_rows);
    REFUSE_IF(call->signal_blocks < 0 || (call->signal_blocks && !device),
              "signal_blocks is %lld; it is for rows in memory of the GPU, at least 1, or 0",
              (long long)call->signal_blocks);
    REFUSE_IF(device && (uintptr_t)call->signals % 4, "signals is %p; give an address of words of 4 bytes",
              (const void *)call->signals);
    return device ? check_memory(routine, ep, "signals", call->signals) : 0;
}

/* The handle of a dispatch that has ended. */
static int check_routing(const char *routine, const struct shmemx_ep *ep, int handle)
{
    REFUSE_IF(ep->handle_tokens[handle] < 0, "handle %d has no routing yet; dispatch with it first", handle);
    REFUSE_IF(ep->dispatch.sent && ep->dispatch.handle == handle,
              "handle %d is of a dispatch whose receiving half has not come; call that with "
              "SHMEMX_EP_RECEIVE first",
              handle);
    return 0;
}

int ep_check_combine(const struct shmemx_ep *ep, const shmemx_ep_combine_t *call)
{
    const char *routine = "shmemx_ep_combine";

    if (ep_check_live(routine, ep))
        return 1;
    REFUSE_IF(!call, "call is NULL; give the address of a shmemx_ep_combine_t");
    return check_version(routine, call->version, call->unused, 2) ||
           check_halves(routine, &ep->combine, call->halves, call->handle, ep->shape.handles) ||
           check_routing(routine, ep, call->handle) || check_results(routine, ep, call) ||
           check_waits(routine, ep, call->waits) || check_signals(routine, ep, call) ||
           check_places(routine, ep, call);
}

int ep_check_counts(const struct shmemx_ep *ep, int handle)
{
    const char *routine = "shmemx_ep_counts";

    if (ep_check_live(routine, ep))
        return 1;
    REFUSE_IF(handle < 0 || handle >= ep->shape.handles,
              "handle is %d; it is from 0 to %d: config.handles says how many there are", handle,
              ep->shape.handles - 1);
    return check_routing(routine, ep, handle);
}
