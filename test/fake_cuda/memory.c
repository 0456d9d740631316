/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the driver without a GPU: created, allocated, mapped, given away. */
#define _GNU_SOURCE
#include "test/fake_cuda/fake.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum range_kind { RESERVED, MAPPED };

/* Addresses that the driver knows. */
struct range {
    enum range_kind kind;
    char *base;
    size_t len;
    char *alias; /* where the GPU's threads see it */
    int fd;      /* behind it; of ranges that may be given away */
    bool allowed, made;
    struct wsh_cu_ipc ipc; /* what it was opened from */
    struct range *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static size_t used;
static size_t created[1024]; /* bytes, by descriptor */

static struct range *add(enum range_kind kind, char *base, size_t len)
{
    struct range *range = calloc(1, sizeof *range);

    *range = (struct range){.kind = kind, .base = base, .len = len, .fd = -1};
    pthread_mutex_lock(&lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&lock);
    return range;
}

static struct range *find(const void *addr, enum range_kind kind)
{
    struct range *range;

    pthread_mutex_lock(&lock);
    for (range = ranges; range; range = range->next)
        if (range->kind == kind && (size_t)((const char *)addr - range->base) < range->len)
            break;
    pthread_mutex_unlock(&lock);
    return range;
}

static void drop(struct range *gone)
{
    pthread_mutex_lock(&lock);
    for (struct range **link = &ranges; *link; link = &(*link)->next)
        if (*link == gone) {
            *link = gone->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (gone->alias)
        munmap(gone->alias, gone->len);
    if (gone->fd >= 0)
        close(gone->fd);
    free(gone);
}

/* Across ranges that were mapped one behind the other, too. */
static bool reaches(const struct range *range, size_t off, size_t len)
{
    while (len > range->len - off) {
        const struct range *next = find(range->base + range->len, MAPPED);

        if (!next || !next->allowed || next->made || next->alias != range->alias + range->len)
            return false;
        len -= range->len - off;
        off = 0;
        range = next;
    }
    return true;
}

char *fake_resolve(wsh_cu_ptr addr, size_t len)
{
    const struct range *range = find(at(addr), MAPPED);
    size_t off, pinned = fake_pinned(at(addr));

    if (pinned && len > pinned)
        return NULL;
    if (!range)
        return find(at(addr), RESERVED) ? NULL : at(addr);
    off = (size_t)((char *)at(addr) - range->base);
    return range->allowed && reaches(range, off, len) ? range->alias + off : NULL;
}

static int create(size_t len, int *fd)
{
    if (used + len > (size_t)fake_setting("FAKE_CUDA_BYTES", 1 << 30))
        return WSH_CU_OUT_OF_MEMORY;
    *fd = memfd_create("fake-gpu", MFD_CLOEXEC);
    if (*fd < 0 || ftruncate(*fd, (off_t)len))
        return WSH_CU_OUT_OF_MEMORY;
    used += len;
    return 0;
}

/* Maps `fd` behind [base, base + len), for the GPU's threads alone. Takes a descriptor of its own. */
static int map(char *base, size_t len, int fd, bool allowed)
{
    struct range *range = add(MAPPED, base, len);

    range->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    range->alias = mmap(fake_alias(base), len, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (fake_alias(base) ? MAP_FIXED_NOREPLACE : 0), fd, 0);
    range->allowed = allowed;
    if (range->alias != MAP_FAILED)
        return 0;
    range->alias = NULL;
    drop(range);
    return FAKE_INVALID;
}

int cuMemGetInfo_v2(size_t *unused, size_t *total)
{
    FAKE_ENTER(true);
    *total = (size_t)fake_setting("FAKE_CUDA_BYTES", 1 << 30);
    *unused = *total - used;
    return 0;
}

int cuMemAlloc_v2(wsh_cu_ptr *ptr, size_t len)
{
    char *base;
    int fd, status;

    FAKE_ENTER(true);
    len = (len + 511) & ~(size_t)511;
    status = create(len, &fd);
    if (status)
        return status;
    base = fake_reserve((len + 4095) & ~(size_t)4095, len < 1 << 20 ? 4096 : 2 << 20);
    status = base ? map(base, len, fd, true) : FAKE_INVALID;
    close(fd);
    if (!status)
        find(base, MAPPED)->made = true;
    *ptr = (wsh_cu_ptr)(uintptr_t)base;
    return status;
}

int cuMemFree_v2(wsh_cu_ptr ptr)
{
    struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(true);
    if (!range || range->base != at(ptr) || !range->made)
        return FAKE_INVALID;
    used -= range->len;
    munmap(range->base, range->len);
    drop(range);
    return 0;
}

int cuMemGetAddressRange_v2(wsh_cu_ptr *base, size_t *len, wsh_cu_ptr ptr)
{
    const struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(true);
    if (!range)
        return FAKE_INVALID;
    *base = (wsh_cu_ptr)(uintptr_t)range->base;
    *len = range->len;
    return 0;
}

int cuMemGetAllocationGranularity(size_t *granularity, const struct wsh_cu_prop *prop, int option)
{
    (void)option;
    FAKE_ENTER(false);
    *granularity = 2 << 20;
    return prop->type == WSH_CU_PINNED && prop->location.type == WSH_CU_ON_DEVICE ? 0 : FAKE_INVALID;
}

/* A handle is a descriptor + 1. */
int cuMemCreate(wsh_cu_mem *mem, size_t len, const struct wsh_cu_prop *prop, unsigned long long flags)
{
    int fd = -1, status;

    FAKE_ENTER(false);
    if (prop->handle_types != WSH_CU_POSIX || len % (2 << 20) || flags || !prop->rdma)
        return FAKE_INVALID;
    status = create(len, &fd);
    *mem = (wsh_cu_mem)fd + 1;
    if (!status && fd < 1024)
        created[fd] = len;
    return status;
}

int cuMemRelease(wsh_cu_mem mem)
{
    FAKE_ENTER(false);
    if (mem && mem <= 1024) {
        used -= created[mem - 1];
        created[mem - 1] = 0;
    }
    return close((int)mem - 1) ? FAKE_INVALID : 0;
}

int cuMemExportToShareableHandle(void *handle, wsh_cu_mem mem, int type, unsigned long long flags)
{
    FAKE_ENTER(false);
    *(int *)handle = fcntl((int)mem - 1, F_DUPFD_CLOEXEC, 0);
    return type != WSH_CU_POSIX || flags || *(int *)handle < 0 ? FAKE_INVALID : 0;
}

int cuMemImportFromShareableHandle(wsh_cu_mem *mem, void *handle, int type)
{
    int fd = fcntl((int)(intptr_t)handle, F_DUPFD_CLOEXEC, 0);

    FAKE_ENTER(true);
    *mem = (wsh_cu_mem)fd + 1;
    return type != WSH_CU_POSIX || fd < 0 ? FAKE_INVALID : 0;
}

int cuMemRetainAllocationHandle(wsh_cu_mem *mem, void *ptr)
{
    const struct range *range = find(ptr, MAPPED);
    int fd = range && range->fd >= 0 && !range->made ? fcntl(range->fd, F_DUPFD_CLOEXEC, 0) : -1;

    FAKE_ENTER(true);
    *mem = (wsh_cu_mem)fd + 1;
    return fd < 0 ? FAKE_INVALID : 0;
}

int cuMemAddressReserve(wsh_cu_ptr *ptr, size_t len, size_t align, wsh_cu_ptr hint, unsigned long long flags)
{
    char *base;

    FAKE_ENTER(false);
    base = hint || flags ? NULL : fake_reserve(len, align);
    if (base)
        add(RESERVED, base, len);
    *ptr = (wsh_cu_ptr)(uintptr_t)base;
    return base ? 0 : FAKE_INVALID;
}

int cuMemAddressFree(wsh_cu_ptr ptr, size_t len)
{
    struct range *range = find(at(ptr), RESERVED);

    FAKE_ENTER(false);
    if (!range || range->base != at(ptr) || range->len != len || find(at(ptr), MAPPED))
        return FAKE_INVALID;
    munmap(range->base, len);
    drop(range);
    return 0;
}

int cuMemMap(wsh_cu_ptr ptr, size_t len, size_t off, wsh_cu_mem mem, unsigned long long flags)
{
    struct stat st;

    FAKE_ENTER(false);
    if (off || flags || len % (2 << 20) || !find(at(ptr), RESERVED) || find(at(ptr), MAPPED) ||
        fstat((int)mem - 1, &st) || (size_t)st.st_size < len)
        return FAKE_INVALID;
    return map(at(ptr), len, (int)mem - 1, false);
}

/* The descriptor of the whole allocation. */
int cuMemGetHandleForAddressRange(void *handle, wsh_cu_ptr ptr, size_t len, int type,
                                  unsigned long long flags)
{
    const struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(true);
    if (!range || range->fd < 0 || type != WSH_CU_DMABUF || flags || (ptr | len) % 4096 ||
        find(at(ptr + len - 1), MAPPED) != range)
        return FAKE_INVALID;
    *(int *)handle = fcntl(range->fd, F_DUPFD_CLOEXEC, 0);
    return *(int *)handle < 0 ? FAKE_INVALID : 0;
}

int cuMemUnmap(wsh_cu_ptr ptr, size_t len)
{
    struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(false);
    if (!range || range->base != at(ptr) || range->len != len || range->made)
        return FAKE_INVALID;
    drop(range);
    return 0;
}

int cuMemSetAccess(wsh_cu_ptr ptr, size_t len, const struct wsh_cu_access *access, size_t n)
{
    struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(false);
    if (!range || range->len != len || n != 1 || access->flags != WSH_CU_READ_WRITE ||
        access->location.id != fake_device())
        return FAKE_INVALID;
    range->allowed = true;
    return 0;
}

struct ipc {
    pid_t pid;
    int fd;
    size_t len;
};

int cuIpcGetMemHandle(struct wsh_cu_ipc *ipc, wsh_cu_ptr ptr)
{
    const struct range *range = find(at(ptr), MAPPED);
    struct ipc out = {getpid(), range ? range->fd : -1, range ? range->len : 0};

    FAKE_ENTER(true);
    memset(ipc, 0, sizeof *ipc);
    memcpy(ipc->bytes, &out, sizeof out);
    return range && range->made && range->base == at(ptr) ? 0 : FAKE_INVALID;
}

int cuIpcOpenMemHandle_v2(wsh_cu_ptr *ptr, struct wsh_cu_ipc ipc, unsigned flags)
{
    struct ipc in;
    char path[64], *base;
    int fd, status;

    FAKE_ENTER(true);
    memcpy(&in, ipc.bytes, sizeof in);
    for (const struct range *range = ranges; range; range = range->next)
        if (!memcmp(&range->ipc, &ipc, sizeof ipc))
            return 208; /* already mapped */
    snprintf(path, sizeof path, "/proc/%d/fd/%d", in.pid, in.fd);
    fd = in.pid == getpid() || flags != WSH_CU_IPC_LAZY ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return FAKE_INVALID;
    base = fake_reserve((in.len + 4095) & ~(size_t)4095, 2 << 20);
    status = base ? map(base, in.len, fd, true) : FAKE_INVALID;
    if (!status)
        find(base, MAPPED)->ipc = ipc;
    close(fd);
    *ptr = (wsh_cu_ptr)(uintptr_t)base;
    return status;
}

int cuIpcCloseMemHandle(wsh_cu_ptr ptr)
{
    struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(true);
    if (!range || range->base != at(ptr) || range->made)
        return FAKE_INVALID;
    munmap(range->base, range->len);
    drop(range);
    return 0;
}

/* The emulated NIC asks for it. */
enum { FAKE_DEVICE_ORDINAL = 9 };

int cuPointerGetAttribute(void *value, int attribute, wsh_cu_ptr ptr)
{
    const struct range *range = find(at(ptr), MAPPED);

    FAKE_ENTER(true);
    if (!range && !fake_pinned(at(ptr)))
        return FAKE_INVALID;
    if (attribute == WSH_CU_POINTER_LEGACY_IPC)
        *(int *)value = range && range->made;
    else if (attribute == WSH_CU_POINTER_MEMORY_TYPE)
        *(unsigned *)value = range ? WSH_CU_MEMORY_DEVICE : 1;
    else if (attribute == FAKE_DEVICE_ORDINAL && range)
        *(int *)value = 0; /* any GPU's context will do */
    else
        return FAKE_INVALID;
    return 0;
}

int cuPointerSetAttribute(const void *value, int attribute, wsh_cu_ptr ptr)
{
    FAKE_ENTER(true);
    return attribute == WSH_CU_POINTER_SYNC_MEMOPS && *(const int *)value && find(at(ptr), MAPPED)
               ? 0
               : FAKE_INVALID;
}
