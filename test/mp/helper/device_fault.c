/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a kernel of PE 0 that was refused, by writing its record, and then goes on as a program would that has not
 * noticed: device_fault barrier | finalize | exit | asleep. The others are already waiting. device_fault global_exit:
 * the kernel ends the job with status 3, and the program does not come back to the library.
 * device_fault hang: a wait of the kernel lasts too long, while the program does not enter the library.
 * device_fault copy: the driver takes a copy, and then nothing more.
 */
#include "device/view/view.h"

#include <shmemx.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct wsh_device state;

static int fill(const struct wsh_device *given)
{
    state = *given;
    return 0;
}

static const struct wsh_device_module module = {WSH_DEVICE_ABI, sizeof(struct wsh_device), fill,
                                                "device_fault.c"};

static struct wsh_device_report *report(void)
{
    return (struct wsh_device_report *)(uintptr_t)state.report;
}

/* As device/core/refuse.cuh does; release: partner of the host's acquire. */
static void write_record(struct wsh_device_record *record, const char *what, enum wsh_device_reason reason)
{
    strcpy(record->what, what);
    record->reason = reason;
    record->pe = reason == WSH_DEVICE_BAD_PE ? shmem_n_pes() : SHMEM_CMP_GE;
    record->len = 3;
    __atomic_store_n(&record->state, 1, __ATOMIC_RELEASE);
}

static void refuse(void)
{
    write_record(&report()->error, "shmem_int_p: dest", WSH_DEVICE_BAD_PE);
}

static void nap(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

static void add_note(void *arg, char *text, size_t size)
{
    snprintf(text, size, "note of %s", (const char *)arg);
}

/* The line and the note have been there for a while when the program goes on. */
static void hang(void)
{
    static char library[] = "a library";

    shmemx_report_add(add_note, library);
    if (shmem_my_pe() == 0) {
        write_record(&report()->hang, "shmemx_counter_wait_until", WSH_DEVICE_LONG_WAIT);
        nap(1000);
        fprintf(stderr, "went on\n");
    }
    shmem_barrier_all();
    shmemx_report_remove(library);
    shmem_finalize();
}

/* The program waits for its kernel. */
static void stay(bool exits)
{
    if (shmem_my_pe() == 0) {
        if (exits)
            write_record(&report()->error, "shmem_global_exit", WSH_DEVICE_EXIT);
        else
            refuse();
        nap(8000);
        _exit(7);
    }
    shmem_barrier_all();
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
    char *device;

    shmem_init();
    wsh_device_register(&module);
    device = shmemx_malloc_device(4096);
    if (argc < 2 || !device || !state.report)
        return 77;
    if (!strcmp(argv[1], "copy")) {
        copy(device);
        return 0;
    }
    if (!strcmp(argv[1], "asleep") || !strcmp(argv[1], "global_exit"))
        stay(!strcmp(argv[1], "global_exit"));
    if (!strcmp(argv[1], "hang")) {
        hang();
        return 0;
    }
    if (shmem_my_pe() == 0) {
        nap(100);
        refuse();
        nap(100); /* a progress thread has time to see it */
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
