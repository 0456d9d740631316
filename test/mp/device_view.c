/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units get the view when the GPU is attached, late ones at once, those that were not ready at the next device call; it
 * says where every PE's memory is; it is taken away at finalize and given again after the next init. A unit of another
 * version keeps all PEs from attaching.
 *
 * paths: fakegpu:1,2,3 fakegpuipc:2 fakegpu1:2 gpu:2 gpuipc:2
 */
#include "test/common/mp.h"

#include "device/view/view.h"

#include <shmemx.h>

#include <string.h>

static struct wsh_device seen[3];
static int fills[3], unready;

static int fill_first(const struct wsh_device *state)
{
    fills[0]++;
    seen[0] = *state;
    return 0;
}

static int fill_late(const struct wsh_device *state)
{
    fills[1]++;
    seen[1] = *state;
    return 0;
}

static int fill_unready(const struct wsh_device *state)
{
    fills[2]++;
    if (unready)
        return 98;
    seen[2] = *state;
    return 0;
}

static const struct wsh_device_module first = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill_first,
                                               "first.cu"};
static const struct wsh_device_module late = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill_late,
                                              "late.cu"};
static const struct wsh_device_module shy = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill_unready,
                                             "shy.cu"};
static const struct wsh_device_module old = {WSH_DEVICE_ABI + 1, 8, fill_first, "old.cu"};

static void check_view(const struct wsh_device *state, const char *device)
{
    const struct wsh_device_seg *seg = &state->seg[WSH_DEVICE_SEG_DEVICE];
    uint64_t off = (uint64_t)(uintptr_t)device - seg->base;

    mp_check(state->abi == WSH_DEVICE_ABI && state->my_pe == mp_me && state->n_pes == mp_npes,
             "PE %d of %d in the view", state->my_pe, state->n_pes);
    mp_check(state->run_first == 0 && state->run_count == (seg->stride ? mp_npes : 0) &&
                 !state->slots == !!seg->stride,
             "slots of PEs %d to %d of this host", state->run_first, state->run_first + state->run_count - 1);
    mp_check(off < seg->len && state->report && state->handles && state->locks && state->ranges,
             "the view has holes");
    mp_check(state->seg[WSH_DEVICE_SEG_HEAP].len > 0, "kernels do not reach host memory");
    for (int pe = 0; pe < mp_npes && seg->stride; pe++)
        mp_check(seg->where + (uint64_t)pe * seg->stride + off ==
                         (uint64_t)(uintptr_t)shmem_ptr(device, pe) ||
                     pe == mp_me,
                 "memory of PE %d is not in its slot", pe);
    mp_check(!seg->stride == mp_path_is("fakegpuipc") || mp_path_is("gpuipc"), "stride %llu",
             (unsigned long long)seg->stride);
}

static void one_life(void)
{
    char *device;

    memset(seen, 0, sizeof seen);
    memset(fills, 0, sizeof fills);
    shmem_init();
    mp_me = shmem_my_pe();
    mp_npes = shmem_n_pes();
    wsh_device_register(&first);
    wsh_device_register(&shy);
    mp_check(!fills[0], "filled before the GPU is attached");
    unready = 1;
    device = shmemx_malloc_device(100);
    if (!mp_check(device, "no device memory"))
        return;
    check_view(&seen[0], device);
    wsh_device_register(&late);
    mp_check(!memcmp(&seen[0], &seen[1], sizeof seen[0]), "a late unit has another view");
    unready = 0;
    shmemx_free_device(shmemx_malloc_device(8));
    mp_check(fills[0] == 1 && fills[1] == 1 && fills[2] == 2 && seen[2].n_pes == mp_npes, "fills: %d, %d, %d",
             fills[0], fills[1], fills[2]);
    wsh_device_unregister(&late);
    shmem_finalize();
    mp_check(fills[0] == 2 && !seen[0].n_pes && !seen[0].report, "the view outlives finalize");
    mp_check(fills[1] == 1, "a unit that is gone was filled");
    wsh_device_unregister(&first);
    wsh_device_unregister(&shy);
}

static void other_version(void)
{
    if (mp_me == mp_npes - 1)
        wsh_device_register(&old);
    mp_check(!shmemx_malloc_device(100), "attached beside a unit of another version");
    wsh_device_unregister(&old);
    mp_check(shmemx_malloc_device(100) != NULL, "not attached after the unit is gone");
}

int main(void)
{
    for (int life = 0; life < 3; life++)
        one_life();
    mp_begin();
    other_version();
    return mp_end();
}
