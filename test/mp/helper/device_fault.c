/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a kernel of PE 0 that was refused, by writing its record, and then goes on as a program would that has not
 * noticed: device_fault barrier | finalize | exit. The others are already waiting.
 * device_fault copy: the driver takes a copy, and then nothing more.
 */
#include "device/view.h"

#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct wsh_device view;

static int fill(const struct wsh_device *given)
{
    view = *given;
    return 0;
}

static const struct wsh_device_unit unit = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill,
                                            "device_fault.c"};

/* As device/refuse.cuh does; release: partner of the host's acquire. */
static void refuse(void)
{
    struct wsh_device_record *record = &((struct wsh_device_report *)(uintptr_t)view.report)->error;

    strcpy(record->what, "shmem_int_p: dest");
    record->reason = WSH_DEVICE_BAD_PE;
    record->pe = shmem_n_pes();
    __atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
}

static void copy(char *device)
{
    static char source[4096];

    if (shmem_my_pe() == 0) {
        setenv("FAKE_CUDA_FAIL", "cuStreamWriteValue64_v2=719", 1);
        shmem_putmem_nbi(device, source, sizeof source, 1);
        shmem_quiet();
        printf("went on\n");
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const struct timespec moment = {0, 100000000};
    char *device;

    shmem_init();
    wsh_device_register(&unit);
    device = shmemx_malloc_device(4096);
    if (argc < 2 || !device || !view.report)
        return 77;
    if (!strcmp(argv[1], "copy")) {
        copy(device);
        return 0;
    }
    if (shmem_my_pe() == 0) {
        nanosleep(&moment, NULL);
        refuse();
        nanosleep(&moment, NULL); /* a progress thread has time to see it */
    }
    if (!strcmp(argv[1], "exit") && shmem_my_pe() == 0)
        return 0;
    if (!strcmp(argv[1], "barrier"))
        shmem_barrier_all();
    if (!strcmp(argv[1], "barrier"))
        printf("went on\n");
    shmem_finalize();
    printf("went on\n");
    return 0;
}
