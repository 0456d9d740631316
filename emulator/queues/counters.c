/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion counters: words in memory of the process, of the caller or of a GPU, which the engine keeps at what the
 * queue pairs that are attached have done. They have 31 bits, and begin shortly before their end unless the settings
 * say otherwise. Structures are declared here as newer headers have them.
 */
#include "emulator/queues/counters.h"

#include "emulator/gpu.h"
#include "emulator/queues/queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ATTACHED_MAX 64
#define COUNTERS_PER_NIC 512
#define OPERATIONS_ALL 0x3fu

struct emu_counter_caps {
    uint64_t max_value;
    uint32_t max_counters, attach_operations;
};

struct emu_counter_attr {
    uint32_t comp_mask, type; /* 0: requests, 1: bytes */
    uint32_t flags;
};

struct emu_attach_attr {
    uint32_t comp_mask, operations;
};

struct emu_location {
    unsigned char *ptr;
    uint64_t offset;
    int32_t fd;
    uint32_t reserved;
    uint8_t type; /* 0: an address, 1: a descriptor of memory */
    uint8_t reserved2[7];
};

struct emu_efadv_counter_attr {
    uint64_t comp_mask;
    uint32_t flags; /* bit 0: `location[0]` is given, for the count; bit 1: `location[1]`, for the errors */
    uint32_t reserved;
    struct emu_location location[2];
};

/* A count or an error count: a word somewhere. */
struct word {
    uint64_t *at, own, shown;
    unsigned gpu;
    uint64_t base; /* what it has beside the attached queue pairs' counts */
    void *mapping;
    size_t mapping_bytes;
};

struct attachment {
    struct emu_qp *qp;
    unsigned what;
    uint64_t before[2]; /* its totals when it was attached */
    uint64_t seen;      /* of `done`, when the value was last made */
};

struct emu_counter {
    struct ibv_context *context; /* these two are the caller's to see */
    uint32_t handle;
    bool of_bytes;
    struct word word[2];
    unsigned attached;
    struct attachment attachment[ATTACHED_MAX];
    struct emu_counter *next;
};

static struct emu_counter *counters; /* with the queues' lock */

/* Newer headers declare these calls with types of their own. */
int emu_counter_caps(struct ibv_context *context, struct emu_counter_caps *caps,
                     size_t size) __asm__("_ibv_query_comp_cntr_caps");
struct emu_counter *emu_counter_create(struct ibv_context *context,
                                       struct emu_counter_attr *attr) __asm__("ibv_create_comp_cntr");
struct emu_counter *emu_counter_create_at(struct ibv_context *context, struct emu_counter_attr *attr,
                                          struct emu_efadv_counter_attr *efa,
                                          uint32_t len) __asm__("efadv_create_comp_cntr");
int emu_counter_destroy(struct emu_counter *counter) __asm__("ibv_destroy_comp_cntr");
int emu_counter_set(struct emu_counter *counter, uint64_t value) __asm__("ibv_set_comp_cntr");
int emu_counter_set_err(struct emu_counter *counter, uint64_t value) __asm__("ibv_set_err_comp_cntr");
int emu_counter_inc(struct emu_counter *counter, uint64_t amount) __asm__("ibv_inc_comp_cntr");
int emu_counter_inc_err(struct emu_counter *counter, uint64_t amount) __asm__("ibv_inc_err_comp_cntr");
int emu_counter_read(struct emu_counter *counter, uint64_t *value) __asm__("ibv_read_comp_cntr");
int emu_counter_read_err(struct emu_counter *counter, uint64_t *value) __asm__("ibv_read_err_comp_cntr");
int emu_counter_attach(struct ibv_qp *qp, struct emu_counter *counter,
                       struct emu_attach_attr *attr) __asm__("ibv_qp_attach_comp_cntr");

static uint64_t total_of(const struct emu_counter *counter, struct attachment *attachment, bool errors)
{
    struct emu_shared_qp *qp = attachment->qp->shared;
    _Atomic uint64_t *totals = errors ? qp->failed : counter->of_bytes ? qp->bytes : qp->done;

    /* first: the word may show more than this says */
    attachment->seen = atomic_load_explicit(&qp->done[attachment->what], memory_order_acquire);
    /* acquire: pairs with the release of emu_count_add, for the data */
    return atomic_load_explicit(&totals[attachment->what], memory_order_acquire) - attachment->before[errors];
}

static uint64_t value_of(struct emu_counter *counter, bool errors)
{
    uint64_t value = counter->word[errors].base;

    for (unsigned i = 0; i < counter->attached; i++)
        value += total_of(counter, &counter->attachment[i], errors);
    return value & EMU_COUNTER_MASK;
}

/* Did it change? */
static bool word_show(struct word *word, uint64_t value)
{
    if (word->shown == value)
        return false;
    word->shown = value;
    if (word->gpu)
        emu_gpu_copy(word->gpu, (uintptr_t)word->at, &value, sizeof value, true);
    else
        /* release: pairs with the acquire of whoever waits for the count, for the data */
        __atomic_store_n(word->at, value, __ATOMIC_RELEASE);
    return true;
}

bool emu_counters_there(void)
{
    return counters != NULL;
}

/* Senders wait for it (is_shown in wire/deliver.c): a device counts before it acknowledges. */
static void note_shown(const struct attachment *attachment)
{
    /* release: pairs with the acquire of the sender, for the word */
    atomic_store_explicit(&attachment->qp->shared->shown[attachment->what], attachment->seen,
                          memory_order_release);
}

static bool counter_serve(struct emu_counter *counter)
{
    bool busy = word_show(&counter->word[1], value_of(counter, true));

    busy |= word_show(&counter->word[0], value_of(counter, false));
    for (unsigned i = 0; i < counter->attached; i++)
        note_shown(&counter->attachment[i]);
    return busy;
}

bool emu_counters_serve(void)
{
    bool busy = false;

    for (struct emu_counter *counter = counters; counter; counter = counter->next)
        busy |= counter_serve(counter);
    return busy;
}

static void watch(struct attachment *attachment, bool on)
{
    _Atomic uint32_t *watched = &attachment->qp->shared->watched;

    note_shown(attachment);
    if (on)
        atomic_fetch_or_explicit(watched, 1u << attachment->what, memory_order_release);
    else
        atomic_fetch_and_explicit(watched, ~(1u << attachment->what), memory_order_relaxed);
}

void emu_counters_forget(struct emu_qp *qp)
{
    for (struct emu_counter *counter = counters; counter; counter = counter->next)
        for (unsigned i = counter->attached; i-- > 0;) {
            struct attachment *attachment = &counter->attachment[i];

            if (attachment->qp != qp)
                continue;
            counter->word[0].base += total_of(counter, attachment, false);
            counter->word[1].base += total_of(counter, attachment, true);
            watch(attachment, false);
            *attachment = counter->attachment[--counter->attached];
        }
}

int emu_counter_caps(struct ibv_context *context, struct emu_counter_caps *caps, size_t size)
{
    const struct emu_counter_caps full = {EMU_COUNTER_MASK, COUNTERS_PER_NIC, OPERATIONS_ALL};

    (void)context;
    if (!(emu.settings.profile->caps & EMU_CAP_COUNTERS))
        return EOPNOTSUPP;
    memset(caps, 0, size);
    memcpy(caps, &full, size < sizeof full ? size : sizeof full);
    return 0;
}

static int word_map(struct word *word, const struct emu_location *location)
{
    uint64_t skip = location->offset % 4096;
    unsigned char *at;

    word->gpu = location->ptr ? emu_gpu_of((uintptr_t)location->ptr) : 0;
    word->at = (uint64_t *)(void *)location->ptr;
    if (word->gpu || (!location->type && location->ptr))
        return 0;
    if (!location->type)
        return EINVAL;
    word->mapping_bytes = skip + sizeof *word->at;
    at = mmap(NULL, word->mapping_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, location->fd,
              (off_t)(location->offset - skip));
    if (at == MAP_FAILED)
        return errno == ENODEV || errno == EACCES ? EOPNOTSUPP : errno;
    word->mapping = at;
    word->at = (uint64_t *)(void *)(at + skip);
    return 0;
}

static void counter_free(struct emu_counter *counter)
{
    for (int i = 0; i < 2; i++)
        if (counter->word[i].mapping)
            munmap(counter->word[i].mapping, counter->word[i].mapping_bytes);
    free(counter);
}

/* With the lock: 0 or an errno value. */
static int counter_list(struct emu_counter *counter)
{
    unsigned n = 0;

    for (struct emu_counter *other = counters; other; other = other->next)
        n += emu_context_of(other->context)->nic == emu_context_of(counter->context)->nic;
    if (n >= COUNTERS_PER_NIC)
        return ENOMEM;
    counter->next = counters;
    counters = counter;
    emu_counters_serve();
    return -emu_engine_start();
}

static int counter_fill(struct emu_counter *counter, const struct emu_efadv_counter_attr *efa)
{
    for (int i = 0; i < 2; i++) {
        struct word *word = &counter->word[i];
        int error = 0;

        word->at = &word->own;
        word->shown = UINT64_MAX;
        word->base = i ? 0 : emu.settings.counter_start;
        if (efa->flags & 1u << i)
            error = word_map(word, &efa->location[i]);
        if (error)
            return error;
    }
    return 0;
}

struct emu_counter *emu_counter_create_at(struct ibv_context *context, struct emu_counter_attr *attr,
                                          struct emu_efadv_counter_attr *efa, uint32_t len)
{
    struct emu_efadv_counter_attr full = {0};
    struct emu_counter *counter;
    int error = EOPNOTSUPP;

    memcpy(&full, efa, len < sizeof full ? len : sizeof full);
    if (full.comp_mask || attr->comp_mask || attr->flags || attr->type > 1 || (full.flags & ~3u))
        error = EINVAL;
    counter = emu_fabric_usable() && (emu.settings.profile->caps & EMU_CAP_COUNTERS) && error != EINVAL
                  ? calloc(1, sizeof *counter)
                  : NULL;
    if (counter) {
        counter->context = context;
        counter->of_bytes = attr->type;
        error = counter_fill(counter, &full);
        emu_queues_lock();
        if (!error)
            error = counter_list(counter);
        emu_queues_unlock();
        if (!error)
            return counter;
        counter_free(counter);
    }
    errno = error;
    return NULL;
}

struct emu_counter *emu_counter_create(struct ibv_context *context, struct emu_counter_attr *attr)
{
    struct emu_efadv_counter_attr none = {0};

    return emu_counter_create_at(context, attr, &none, sizeof none);
}

int emu_counter_destroy(struct emu_counter *counter)
{
    struct emu_counter **at = &counters;

    if (!emu_fabric_usable())
        return 0;
    emu_queues_lock();
    while (*at && *at != counter)
        at = &(*at)->next;
    if (*at)
        *at = counter->next;
    emu_queues_unlock();
    counter_free(counter);
    return 0;
}

int emu_counter_attach(struct ibv_qp *ibv, struct emu_counter *counter, struct emu_attach_attr *attr)
{
    struct emu_qp *qp = (struct emu_qp *)ibv;
    int error = 0;

    if (!emu_fabric_usable() || attr->comp_mask || (attr->operations & ~OPERATIONS_ALL) ||
        !attr->operations || (ibv->state != IBV_QPS_RESET && ibv->state != IBV_QPS_INIT))
        return EINVAL;
    emu_queues_lock();
    for (unsigned what = 0; what < EMU_COUNTED && !error; what++) {
        struct attachment *attachment = &counter->attachment[counter->attached];

        if (!(attr->operations & 1u << what))
            continue;
        if (counter->attached == ATTACHED_MAX) {
            error = ENOMEM;
            continue;
        }
        *attachment = (struct attachment){.qp = qp, .what = what};
        attachment->before[0] = total_of(counter, attachment, false);
        attachment->before[1] = total_of(counter, attachment, true);
        watch(attachment, true);
        counter->attached++;
    }
    emu_queues_unlock();
    return error;
}

static int counter_move(struct emu_counter *counter, bool errors, bool absolute, uint64_t value)
{
    if (!emu_fabric_usable())
        return EOPNOTSUPP;
    emu_queues_lock();
    counter->word[errors].base += absolute ? value - value_of(counter, errors) : value;
    emu_counters_serve();
    emu_queues_unlock();
    return 0;
}

int emu_counter_set(struct emu_counter *counter, uint64_t value)
{
    return counter_move(counter, false, true, value);
}

int emu_counter_set_err(struct emu_counter *counter, uint64_t value)
{
    return counter_move(counter, true, true, value);
}

int emu_counter_inc(struct emu_counter *counter, uint64_t amount)
{
    return counter_move(counter, false, false, amount);
}

int emu_counter_inc_err(struct emu_counter *counter, uint64_t amount)
{
    return counter_move(counter, true, false, amount);
}

static int counter_read(struct emu_counter *counter, bool errors, uint64_t *value)
{
    if (!emu_fabric_usable())
        return EOPNOTSUPP;
    emu_queues_lock();
    *value = value_of(counter, errors);
    emu_queues_unlock();
    return 0;
}

int emu_counter_read(struct emu_counter *counter, uint64_t *value)
{
    return counter_read(counter, false, value);
}

int emu_counter_read_err(struct emu_counter *counter, uint64_t *value)
{
    return counter_read(counter, true, value);
}
