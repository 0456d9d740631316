/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A NIC, its watcher and a proxy, driven by whoever waits, for posters that are the very code of
 * device/nic/gda_push.cuh. The NIC takes requests behind the doorbell, and finds entries that are torn, of the wrong
 * phase, too many without a doorbell, without room, or not as they were meant; it completes them out of order. An
 * operation lands once; it must not pass those that a fence has put before it, and its source must still be what it
 * was.
 */
#ifndef WSH_TEST_DEVICE_GDA_WORLD_CUH
#define WSH_TEST_DEVICE_GDA_WORLD_CUH

#include "device/nic/gda.h"

#include <atomic>
#include <mutex>
#include <vector>

enum {
    QUEUES = 3,
    ALONE = 5,     /* posters that come alone */
    TOGETHER = 8,  /* posters that come as one party */
    POSTERS = ALONE + TOGETHER,
    OPERATIONS = 2000, /* of each */
    MAX_BATCH = 4,
    START = 65400, /* number of each queue's first request */
};

/* What is broken on purpose. */
enum mutant {
    NONE,
    QUIET_BY_COUNT,
    DOORBELL_BEFORE_RELEASE,
    LONG_BATCH,
    NO_ROOM_CHECK,
    FENCE_WITHOUT_QUEUES,
    FENCE_WITHOUT_RINGS,
    PHASE_STAYS,
    STORED_WITHOUT_RELEASE,
    UNSETTLED,
    MUTANTS
};

struct operation {
    std::atomic<uint32_t> source;
    uint32_t need; /* so many of the poster's first operations are behind a fence */
    bool landed;
};

struct poster {
    std::mutex mutex;
    uint32_t low; /* all before have landed */
    struct operation operation[OPERATIONS];
};

struct world {
    enum mutant mutant;
    std::atomic<unsigned> wrong; /* failures so far */
    const char *first;           /* what failed first */
    struct wsh_ring ring;
    struct wsh_ring_heads heads;
    struct wsh_gda gda;
    struct wsh_gda_marks marks[QUEUES];
    std::vector<uint64_t> words[QUEUES];
    uint32_t doorbell[QUEUES];
    struct poster poster[POSTERS];
    uint64_t by_nic, by_proxy;
};

extern struct world *world;

#define WORLD_UNWRITTEN (~(uint64_t)0)

static inline uint32_t world_token(uint32_t poster, uint32_t i)
{
    return poster * 1000003u + i * 7919u + 1;
}

void world_begin(enum mutant mutant);

/* NIC, watcher and proxy each do what there is to do, unless another thread sees to that now. */
void world_step();

void world_wrong(const char *what);

/* Whether it is a word by which a poster says that its requests are stored. */
bool world_is_stored(const uint64_t *word);
/* Whether it is one by which a poster says that a doorbell is there. */
bool world_is_settled(const uint64_t *word);

/* Operation i of a poster comes to its target. */
void world_land(uint32_t poster, uint32_t i);

#endif
