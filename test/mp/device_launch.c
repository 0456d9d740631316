/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel starts on all PEs, with the grid asked for or the largest one, or on none, where one PE's grid, block or
 * kernel cannot be, which each says in a line; PEs that share a GPU have parts of it. The program may start it itself,
 * when all have agreed.
 *
 * paths: fakegpu:1,2,3 fakegpu1:2,3
 */
#include "test/common/mp.h"
#include "test/fake_cuda/fake.h"

#include "device/view/launch.h"

#include <shmemx.h>

#include <string.h>

static int missing; /* CUDA error by which this PE does not find its kernel */

static int find(const void *kernel, void **function)
{
    *function = (void *)(uintptr_t)kernel;
    return missing;
}

static unsigned ran[3];

/* In place of the library: the program's own way of starting it. */
static int start(const struct wsh_device_launch *it, const unsigned grid[3])
{
    memcpy(ran, grid, sizeof ran);
    return it->config == &missing ? 0 : 1;
}

static bool starts_itself;

/* What the launch returned; `ran` says with which grid. */
static int launch(const unsigned grid[3], unsigned threads, size_t shared)
{
    unsigned *where = ran;
    void *args[] = {&where};
    struct wsh_device_launch it = {"device_launch", "kernel", find, {grid[0], grid[1], grid[2]},
                                   {threads, 1, 1}, shared,   args, NULL};

    it.start = starts_itself ? start : NULL;
    it.config = &missing;
    memset(ran, 0, sizeof ran);
    return wsh_device_launch(&it);
}

/* Blocks of 128 threads that fit, as the query says. */
static int room(size_t shared)
{
    struct wsh_device_launch it = {"device_launch", "kernel", find, {0, 0, 0},
                                   {32, 4, 1},      shared,   NULL, NULL};
    int blocks = -1;

    mp_check(wsh_device_launch_fits(&it, &blocks) == 0, "the query fails");
    return blocks;
}

static void expect(const char *what, int status, bool starts, const unsigned grid[3])
{
    static const unsigned none[3];

    const char *said = shmemx_error_last();

    mp_check(!status == starts, "%s: status %d", what, status);
    mp_check(!strstr(said, "nothing is launched on any PE") == starts, "%s: the line is '%s'", what, said);
    mp_check(!memcmp(ran, starts ? grid : none, sizeof ran), "%s: a grid of %u x %u x %u", what, ran[0],
             ran[1], ran[2]);
}

int main(void)
{
    int sharers, most = 0, last;

    mp_begin();
    sharers = mp_path_is("fakegpu1") ? mp_npes : (mp_npes + 1 - mp_me % 2) / 2; /* two GPUs, in turn */
    last = mp_npes - 1;
    most = FAKE_PROCESSORS * FAKE_THREADS / 128 / sharers;
    mp_check(room(0) == most, "room for %d blocks, not %d", room(0), most);
    mp_check(room(FAKE_SHARED) == FAKE_PROCESSORS / sharers, "room for %d large blocks", room(FAKE_SHARED));
    expect("what fits", launch((unsigned[]){(unsigned)most / 2, 2, 1}, 128, 0), true,
           (unsigned[]){(unsigned)most / 2, 2, 1});
    expect("the largest", launch((unsigned[]){0, 0, 0}, 128, 0), true, (unsigned[]){(unsigned)most, 1, 1});
    starts_itself = true;
    expect("the largest, by the program", launch((unsigned[]){0, 0, 0}, 128, 0), true,
           (unsigned[]){(unsigned)most, 1, 1});
    starts_itself = false;
    expect("one block too many at the last PE",
           launch((unsigned[]){mp_me == last ? (unsigned)most + 1 : 1, 1, 1}, 128, 0), false, NULL);
    expect("a block that fits nowhere", launch((unsigned[]){0, 1, 1}, 128, FAKE_SHARED + 1), false, NULL);
    expect("a block of 1025 threads", launch((unsigned[]){1, 1, 1}, mp_me == last ? 1025 : 32, 0), false,
           NULL);
    missing = mp_me == last ? 98 : 0;
    expect("no kernel at the last PE", launch((unsigned[]){1, 1, 1}, 128, 0), false, NULL);
    missing = 0;
    expect("again", launch((unsigned[]){1, 1, 1}, 128, 0), true, (unsigned[]){1, 1, 1});
    return mp_end();
}
