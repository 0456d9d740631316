/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishes to kernels which queue pairs of peers count for which counters (wsh_gda.counter_targets). */
#include "base/cuda/mem.h"
#include "base/err.h"
#include "base/log.h"
#include "runtime/gpu/gda/state.h"
#include "runtime/job/job.h"

#include <stdlib.h>

#define TABLE_MAX (16u << 20) /* bytes: in jobs of many PEs fewer counters have room */

/* Entries of one counter. */
static size_t row_of(const struct wsh_gda_host *gda)
{
    return (size_t)gda->n_rails * (size_t)gda->job->n_pes;
}

static void fill_row(const struct wsh_gda_host *gda, uint32_t number, struct wsh_gda_target *row)
{
    const struct wsh_job *job = gda->job;

    for (unsigned rail = 0; rail < gda->n_rails; rail++)
        for (int pe = 0; pe < job->n_pes; pe++, row++) {
            struct wsh_tp_target target;

            if (!job->same_host[pe] && !gda->tp->ops->gda_counter(gda->tp, rail, pe, number, &target))
                *row = (struct wsh_gda_target){target.ah, target.qpn, target.qkey};
        }
}

/*
 * Writes the numbers of queue pairs last: until then, kernels take the entry for an empty one. 0 or the driver's
 * status.
 */
static int write_rows(const struct wsh_gda_host *gda, uint32_t first, uint32_t n, struct wsh_gda_target *rows)
{
    size_t row = row_of(gda), len = row * n * sizeof *rows;
    wsh_cu_ptr at = gda->device.counter_targets + first * row * sizeof *rows;
    struct wsh_gda_target *closed = malloc(len);
    int status = closed ? 0 : WSH_CU_OUT_OF_MEMORY;

    for (size_t i = 0; closed && i < row * n; i++)
        closed[i] = (struct wsh_gda_target){rows[i].ah, 0, rows[i].qkey};
    if (!status)
        status = wsh_gpu_copy(at, closed, len);
    if (!status)
        status = wsh_gpu_copy(at, rows, len);
    free(closed);
    return status;
}

/* With the GPU's context current. 0 or the driver's status. */
static int publish_rows(const struct wsh_gda_host *gda, uint32_t first, uint32_t n, bool live)
{
    struct wsh_gda_target *rows = calloc(n, row_of(gda) * sizeof *rows);
    int status = WSH_CU_OUT_OF_MEMORY;

    for (uint32_t i = 0; rows && live && i < n; i++)
        fill_row(gda, first + i, rows + i * row_of(gda));
    if (rows)
        status = write_rows(gda, first, n, rows);
    free(rows);
    return status;
}

int wsh_gda_counters_open(struct wsh_gda_host *gda)
{
    size_t row = row_of(gda) * sizeof(struct wsh_gda_target);
    uint32_t n = row * WSH_TP_COUNTERS <= TABLE_MAX ? WSH_TP_COUNTERS : (uint32_t)(TABLE_MAX / row);
    wsh_cu_ptr table;
    int status;

    if (!n || !wsh_nic_counters_are_there(&gda->job->counters.nic))
        return 0;
    status = wsh_cuda()->mem_alloc(&table, n * row);
    if (status)
        return status;
    gda->device.counter_targets = table;
    gda->device.n_counters = n;
    return publish_rows(gda, 0, n, true);
}

int wsh_gda_counters(struct wsh_job *job, uint32_t first, uint32_t n, bool live)
{
    const struct wsh_gda_host *gda = job->device.gda;
    int status;

    if (!gda || first >= gda->device.n_counters)
        return 0;
    n = n < gda->device.n_counters - first ? n : gda->device.n_counters - first;
    if (wsh_gpu_enter(&job->device.gpu))
        return -EIO;
    status = publish_rows(gda, first, n, live);
    wsh_gpu_leave(&job->device.gpu);
    if (status)
        wsh_error("counters cannot be published to kernels: %s; an earlier kernel may have failed",
                  wsh_cuda_strerror(status));
    return status ? -EIO : 0;
}
