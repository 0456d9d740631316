/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of queues: files in memory, which a CUDA driver can register, each doorbell on a page of its own. */
#include "emulator/queues/queues.h"

#include "emulator/gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096u
#define SEND_ENTRIES_MIN 32u

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* NULL and errno if there is none. */
static void *map_fresh(size_t bytes)
{
    int fd = memfd_create("efa-emulator-queue", MFD_CLOEXEC);
    void *at = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (!ftruncate(fd, (off_t)bytes))
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, bytes, MADV_DONTDUMP); /* as the fabric's files */
    return at;
}

static uint32_t power_of_two(uint32_t n, uint32_t least, uint32_t most)
{
    while (least < n && least < most)
        least *= 2;
    return least;
}

static void lay_out(struct emu_rings *rings, size_t sq_bytes, size_t rq_bytes)
{
    unsigned char *at = rings->mapping;

    rings->sq.words = (uint64_t *)(void *)at;
    rings->rq.words = (uint64_t *)(void *)(at + sq_bytes);
    rings->sq.doorbell = (_Atomic uint32_t *)(void *)(at + sq_bytes + rq_bytes);
    rings->rq.doorbell = (_Atomic uint32_t *)(void *)(at + sq_bytes + rq_bytes + PAGE);
    emu_ring_clear(&rings->sq);
    emu_ring_clear(&rings->rq);
}

int emu_rings_map(struct emu_rings *rings)
{
    const struct emu_qp *qp = rings->qp;
    size_t sq_bytes, rq_bytes;

    rings->sq.entry_words = qp->max_inline > EMU_INLINE_MAX ? EMU_WIDE_WQE_WORDS : EMU_WQE_WORDS;
    rings->sq.entries = power_of_two(qp->sq_depth, SEND_ENTRIES_MIN, EMU_SQ_DEPTH);
    rings->rq.entry_words = EMU_RQE_WORDS;
    rings->rq.entries = power_of_two(qp->rq_descriptors, SEND_ENTRIES_MIN, EMU_RQ_DEPTH);
    sq_bytes = whole_pages((size_t)rings->sq.entries * rings->sq.entry_words * 8);
    rq_bytes = whole_pages((size_t)rings->rq.entries * EMU_RQE_BYTES);
    rings->mapping_bytes = sq_bytes + rq_bytes + (size_t)2 * PAGE;
    rings->mapping = map_fresh(rings->mapping_bytes);
    if (!rings->mapping)
        return errno;
    lay_out(rings, sq_bytes, rq_bytes);
    return 0;
}

/* A GPU's memory is known by its address; any other must be one to map. */
static int map_location(struct emu_cq_memory *memory, const struct emu_cq_location *location)
{
    uint64_t skip = location->offset % PAGE;
    unsigned char *at;

    if (location->length < (uint64_t)memory->entries * EMU_CQE_BYTES)
        return EINVAL;
    memory->gpu = location->buffer ? emu_gpu_of((uintptr_t)location->buffer) : 0;
    if (memory->gpu) {
        memory->words = (uint64_t *)(void *)location->buffer;
        return 0;
    }
    memory->mapping_bytes = location->length + skip;
    at = mmap(NULL, memory->mapping_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, location->fd,
              (off_t)(location->offset - skip));
    if (at == MAP_FAILED)
        return errno == ENODEV || errno == EACCES ? EOPNOTSUPP : errno;
    memory->mapping = at;
    memory->words = (uint64_t *)(void *)(at + skip);
    return 0;
}

static int map_own(struct emu_cq_memory *memory)
{
    memory->mapping_bytes = whole_pages((size_t)memory->entries * EMU_CQE_BYTES);
    memory->mapping = map_fresh(memory->mapping_bytes);
    memory->words = memory->mapping;
    return memory->mapping ? 0 : errno;
}

int emu_cq_memory_map(struct emu_cq_memory *memory, const struct emu_cq_location *location)
{
    int error = location ? map_location(memory, location) : map_own(memory);

    if (error)
        return error;
    memory->doorbell_page = map_fresh(PAGE);
    memory->doorbell = memory->doorbell_page;
    if (memory->doorbell)
        return 0;
    error = errno;
    emu_cq_memory_unmap(memory);
    return error;
}

void emu_cq_memory_unmap(struct emu_cq_memory *memory)
{
    if (memory->mapping)
        munmap(memory->mapping, memory->mapping_bytes);
    if (memory->doorbell_page)
        munmap(memory->doorbell_page, PAGE);
}
