/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains, memory registrations and address handles. */
#include "emulator/verbs/objects.h"

#include "emulator/gpu.h"
#include "emulator/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEYS (1u << 24)

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof *pd);

    if (pd)
        pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

/* The device says only that the key is bad. Once. */
static void say_foreign(const struct emu_region *region, uint32_t nic, const struct emu_shared_mr *mr)
{
    static bool said;

    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    emu_say("process %d, %s: a request with a memory key of another NIC (%s) of process %d is refused",
            emu.mine->rank, emu.settings.nic[nic].name, emu.settings.nic[mr->nic].name, region->rank);
}

const struct emu_shared_mr *emu_mr_find(struct emu_region *region, uint32_t nic, uint32_t key, uint64_t addr,
                                        uint64_t len, uint32_t access)
{
    const struct emu_shared_mr *mr = &region->mr[key % EMU_MRS_MAX];

    if (!key || mr->key != key)
        return NULL;
    if (mr->nic != nic) {
        say_foreign(region, nic, mr);
        return NULL;
    }
    if ((mr->access & access) != access)
        return NULL;
    if (addr < mr->iova || len > mr->len || addr - mr->iova > mr->len - len)
        return NULL;
    return mr;
}

/* With the region's lock. Keys have 24 bits, as in a work request, and do not come back soon: the high ones count. */
static uint32_t take_key(struct emu_region *region)
{
    static uint32_t last, lives[EMU_MRS_MAX];

    for (uint32_t tries = 1; tries < EMU_MRS_MAX; tries++) {
        uint32_t slot = (last + tries) % EMU_MRS_MAX;

        if (region->mr[slot].key || !slot)
            continue;
        last = slot;
        lives[slot] = (lives[slot] + 1) % (KEYS / EMU_MRS_MAX);
        return slot + lives[slot] * EMU_MRS_MAX;
    }
    return 0;
}

static struct ibv_mr *mr_refuse(int error)
{
    errno = error;
    return NULL;
}

/* `mr->mapping` is set already. `memory`: where the bytes of `iova` are. */
static struct ibv_mr *register_memory(struct ibv_pd *pd, struct emu_mr *mr, void *addr, uint64_t memory,
                                      size_t len, uint64_t iova, int access)
{
    uint32_t nic = emu_context_of(pd->context)->nic;
    unsigned gpu = emu_gpu_of(memory);
    uint32_t key;

    emu_region_lock(emu.mine);
    key = take_key(emu.mine);
    if (key)
        emu.mine->mr[key % EMU_MRS_MAX] =
            (struct emu_shared_mr){key, (uint32_t)access, nic, gpu, iova, memory, len};
    emu_region_unlock(emu.mine);
    if (!key) {
        free(mr);
        return mr_refuse(ENOMEM);
    }
    mr->ibv = (struct ibv_mr){.context = pd->context,
                              .pd = pd,
                              .addr = addr,
                              .length = len,
                              .handle = key,
                              .lkey = key,
                              .rkey = key};
    return &mr->ibv;
}

/* Verbs ask for local write access wherever peers may write; what the device cannot do is refused. */
static int check_access(int access)
{
    int needs_caps = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);

    if ((access & IBV_ACCESS_REMOTE_WRITE) && !(access & IBV_ACCESS_LOCAL_WRITE))
        return EINVAL;
    if ((access & IBV_ACCESS_REMOTE_ATOMIC) || (needs_caps && !emu.settings.profile->caps))
        return EOPNOTSUPP;
    if ((access & IBV_ACCESS_REMOTE_WRITE) && !(emu.settings.profile->caps & EMU_CAP_WRITE))
        return EOPNOTSUPP;
    return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, unsigned access)
{
    int error = emu_fabric_usable() ? check_access((int)access) : EOPNOTSUPP;
    struct emu_mr *mr = error ? NULL : calloc(1, sizeof *mr);

    if (!mr)
        return mr_refuse(error ? error : ENOMEM);
    return register_memory(pd, mr, addr, (uintptr_t)addr, len, iova, (int)access);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
    return ibv_reg_mr_iova2(pd, addr, len, (uintptr_t)addr, (unsigned)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, addr, len, iova, (unsigned)access);
}

/* A dmabuf of GPU memory is known by its address, which callers pass as iova; any other must be one to map. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova, int fd,
                                 int access)
{
    int error = emu_fabric_usable() ? check_access(access) : EOPNOTSUPP;
    struct emu_mr *mr = error ? NULL : calloc(1, sizeof *mr);
    uint64_t skip = offset % (uint64_t)sysconf(_SC_PAGESIZE);

    if (!mr)
        return mr_refuse(error ? error : ENOMEM);
    if (emu_gpu_of(iova))
        return register_memory(pd, mr, (void *)(uintptr_t)iova, iova, len, iova, access);
    mr->mapping_len = len + skip;
    mr->mapping = mmap(NULL, mr->mapping_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - skip));
    if (mr->mapping == MAP_FAILED) {
        free(mr);
        return mr_refuse(errno == ENODEV || errno == EACCES ? EOPNOTSUPP : errno);
    }
    return register_memory(pd, mr, (void *)(uintptr_t)iova, (uintptr_t)mr->mapping + skip, len, iova, access);
}

/* Under the lock no peer is at work on the memory; afterwards none finds the key. */
int ibv_dereg_mr(struct ibv_mr *ibv)
{
    struct emu_mr *mr = (struct emu_mr *)ibv;

    if (emu_fabric_usable()) {
        emu_region_lock(emu.mine);
        emu.mine->mr[ibv->lkey % EMU_MRS_MAX].key = 0;
        emu_region_unlock(emu.mine);
    }
    if (mr->mapping)
        munmap(mr->mapping, mr->mapping_len);
    free(mr);
    return 0;
}

/* With the region's lock: the number of a peer's NIC, the same for every handle to it; the limit if that is reached. */
static uint32_t take_ah_number(uint32_t nic, uint32_t slot, uint32_t peer_nic)
{
    struct emu_shared_ah *ah = emu.mine->ah[nic];
    uint32_t n = emu.mine->nah[nic], number = n;

    for (uint32_t i = 0; i < n; i++) {
        if (ah[i].uses && ah[i].slot == slot && ah[i].nic == peer_nic) {
            ah[i].uses++;
            return i;
        }
        if (!ah[i].uses && number == n)
            number = i;
    }
    if (number == emu.settings.handles)
        return number;
    ah[number] = (struct emu_shared_ah){1, slot, peer_nic};
    if (number == n)
        emu.mine->nah[nic]++;
    return number;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct emu_ah *ah = emu_fabric_usable() ? calloc(1, sizeof *ah) : NULL;

    if (!ah)
        return NULL;
    ah->ibv.context = pd->context;
    ah->ibv.pd = pd;
    ah->nic = emu_context_of(pd->context)->nic;
    ah->reachable = emu_gid_read(&attr->grh.dgid, &ah->dst_slot, &ah->dst_nic);
    if (!ah->reachable)
        ah->dst_slot = EMU_SLOTS_MAX + (uint32_t)attr->grh.dgid.raw[15];
    emu_region_lock(emu.mine);
    ah->number = take_ah_number(ah->nic, ah->dst_slot, ah->dst_nic);
    emu_region_unlock(emu.mine);
    if (ah->number < emu.settings.handles)
        return &ah->ibv;
    free(ah);
    errno = ENOMEM;
    return NULL;
}

int ibv_destroy_ah(struct ibv_ah *ibv)
{
    struct emu_ah *ah = (struct emu_ah *)ibv;

    if (emu_fabric_usable()) {
        emu_region_lock(emu.mine);
        emu.mine->ah[ah->nic][ah->number].uses--;
        emu_region_unlock(emu.mine);
    }
    free(ah);
    return 0;
}
