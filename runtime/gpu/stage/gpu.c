/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's own GPU, as staging gives it copies: by the transport that reaches it from the host. */
#include "runtime/gpu/stage/state.h"

#include "base/log.h"

int wsh_stage_gpu(struct wsh_stage *stage)
{
    int rc = stage->gpu ? 0 : stage->context->own(stage->context, WSH_SEG_HEAP, &stage->here);

    if (rc)
        wsh_error("this PE's own device memory is not reached by its host; list nvlink in SHMEM_TRANSPORTS");
    else
        stage->gpu = stage->here.tctx;
    return rc;
}

/* The GPU completes in order what it is given. */
void wsh_stage_gpu_poll(struct wsh_stage *stage)
{
    if (stage->landed != stage->issued)
        stage->landed = stage->issued - stage->gpu->tp->ops->pending(stage->gpu, -1);
}

/* Copies a word of the device heap to this PE's unused box for itself: copies between host memories would block. */
int wsh_stage_gpu_probe(struct wsh_stage *stage)
{
    struct wsh_stage_target own;
    int rc = stage->context->own(stage->context, WSH_SEG_DEVICE, &own);

    if (!rc)
        rc = own.tctx->tp->ops->get(own.tctx, own.rmem, 0, stage->peers[stage->my_pe].box, 8, NULL);
    stage->issued += !rc;
    return rc;
}
