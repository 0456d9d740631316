/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes in turn: each has a stack, and gives the processor away where it waits for others. */
#undef _FORTIFY_SOURCE /* it takes jumps between stacks for errors */
#include "test/ep/lanes/lanes.cuh"

#include <sched.h>
#include <setjmp.h>
#include <ucontext.h>

enum { STACK = 256 << 10 };

struct lane {
    ucontext_t start;
    jmp_buf at;
    bool begun, ended;
    void *fake; /* of AddressSanitizer */
};

/* AddressSanitizer knows the stack that is jumped to: before the jump, and after it. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#define before_jump __sanitizer_start_switch_fiber
#define after_jump __sanitizer_finish_switch_fiber
#else
static inline void before_jump(void **, const void *, size_t)
{
}

static inline void after_jump(void *, const void **, size_t *)
{
}
#endif

/* Lanes that wait for each other: the second half is written while the first one is still read. */
struct barrier {
    uint64_t values[2][LANES_A_BLOCK];
    unsigned come, times;
};

struct lanes_index threadIdx, blockIdx;

static struct lane lanes[LANES];
static struct barrier warps[LANES / 32], blocks[LANES_BLOCKS];
static int current;
static jmp_buf scheduler;
static char *stacks;
static void *scheduler_fake;
static const void *scheduler_stack;
static size_t scheduler_stack_size;
static void (*lane_body)(void *arg);
static void *lane_arg;

static void to_scheduler(void **fake)
{
    before_jump(fake, scheduler_stack, scheduler_stack_size);
    _longjmp(scheduler, 1);
}

void lanes_yield(void)
{
    if (!_setjmp(lanes[current].at))
        to_scheduler(&lanes[current].fake);
    after_jump(lanes[current].fake, &scheduler_stack, &scheduler_stack_size);
}

static void lane_main(void)
{
    after_jump(NULL, &scheduler_stack, &scheduler_stack_size);
    lane_body(lane_arg);
    lanes[current].ended = true;
    to_scheduler(NULL);
}

static void enter(int lane)
{
    current = lane;
    threadIdx.x = (unsigned)lane % LANES_A_BLOCK;
    blockIdx.x = (unsigned)lane / LANES_A_BLOCK;
    if (_setjmp(scheduler)) {
        after_jump(scheduler_fake, NULL, NULL);
        return;
    }
    before_jump(&scheduler_fake, stacks + (size_t)lane * STACK, STACK);
    if (lanes[lane].begun)
        _longjmp(lanes[lane].at, 1);
    lanes[lane].begun = true;
    setcontext(&lanes[lane].start);
}

/* Warps sleep at random, some of them for long: what needs a barrier and has none shows. Asked once a turn. */
static bool is_awake(int warp)
{
    static uint64_t state = 1;
    static unsigned asleep[LANES / 32];

    state = state * 6364136223846793005u + 1442695040888963407u;
    if (asleep[warp])
        asleep[warp]--;
    else if (state >> 40 & 1)
        asleep[warp] = (unsigned)(state >> 50 & 63 ? state >> 41 & 3 : state >> 41 & 255);
    return !asleep[warp];
}

static char *shared;
static size_t shared_each;

void lanes_share(size_t bytes)
{
    shared_each = (bytes + 15) / 16 * 16;
    shared = (char *)realloc(shared, shared_each * LANES_BLOCKS + 1);
}

char *lanes_shared(void)
{
    return shared + shared_each * blockIdx.x;
}

bool lanes_mutant(const char *name)
{
    static const char *mutant = getenv("LANES_MUTANT");

    return mutant && !strcmp(mutant, name);
}

void lanes_masked(void)
{
    if (lanes_mutant("slow_masks") || lanes_mutant("no_agreement"))
        usleep(130000);
}

/* A poll: others may have to run before, lanes and processes. */
void lanes_poll(void)
{
    static unsigned polls;

    if (++polls % (16 * LANES) == 0)
        sched_yield();
    lanes_yield();
}

void lanes_run(void (*body)(void *arg), void *arg)
{
    bool more = true;

    if (!stacks)
        stacks = (char *)malloc((size_t)LANES * STACK);
    lane_body = body;
    lane_arg = arg;
    for (int i = 0; i < LANES; i++) {
        lanes[i].begun = lanes[i].ended = false;
        getcontext(&lanes[i].start);
        lanes[i].start.uc_stack.ss_sp = stacks + (size_t)i * STACK;
        lanes[i].start.uc_stack.ss_size = STACK;
        lanes[i].start.uc_link = NULL;
        makecontext(&lanes[i].start, lane_main, 0);
    }
    while (more) {
        more = false;
        for (int i = 0; i < LANES; i++) {
            if (i % 32 == 0 && !is_awake(i / 32)) {
                more = true;
                i += 31;
            } else if (!lanes[i].ended) {
                more = true;
                enter(i);
            }
        }
    }
}

/* Returns where the values of this time are. */
static const uint64_t *sync(struct barrier *barrier, unsigned index, unsigned size, uint64_t value)
{
    unsigned time = barrier->times;

    barrier->values[time % 2][index] = value;
    if (++barrier->come == size) {
        barrier->come = 0;
        barrier->times++;
    }
    while (barrier->times == time)
        lanes_yield();
    return barrier->values[time % 2];
}

uint64_t lanes_exchange(uint64_t value, int from)
{
    return sync(&warps[current / 32], threadIdx.x % 32, 32, value)[from];
}

unsigned lanes_ballot(bool says)
{
    const uint64_t *values = sync(&warps[current / 32], threadIdx.x % 32, 32, says);
    unsigned bits = 0;

    for (int i = 0; i < 32; i++)
        bits |= (unsigned)values[i] << i;
    return bits;
}

bool lanes_barrier(bool says)
{
    const uint64_t *values = sync(&blocks[blockIdx.x], threadIdx.x, LANES_A_BLOCK, says);
    bool any = false;

    for (int i = 0; i < LANES_A_BLOCK; i++)
        any |= values[i] != 0;
    return any;
}
