/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the data segment of the running executable, and replaces the memory beneath it. */
#define _GNU_SOURCE
#include "runtime/static_data.h"

#include "runtime/commit.h"
#include "runtime/static_copy.h"
#include "base/err.h"
#include "base/log.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct image {
    uintptr_t begin, end; /* writable pages without RELRO */
    uint64_t fingerprint;
    bool has_library; /* this library is linked into, or needed by, the executable */
};

/* What the fork handlers work on: the one segment that is mapped now. */
static struct wsh_segment mapped = {.fd = -1};
static char *fork_copy = MAP_FAILED;

static bool needs_library(const struct link_map *exe)
{
    const char *strings = NULL;

    for (const ElfW(Dyn) *dyn = exe->l_ld; dyn && dyn->d_tag != DT_NULL; dyn++)
        if (dyn->d_tag == DT_STRTAB)
            strings = (const char *)dyn->d_un.d_ptr;
    for (const ElfW(Dyn) *dyn = exe->l_ld; strings && dyn->d_tag != DT_NULL; dyn++)
        if (dyn->d_tag == DT_NEEDED && !strncmp(strings + dyn->d_un.d_val, "libwarpshmem.so", 15))
            return true;
    return false;
}

static uint64_t fingerprint_of(const void *bytes, size_t len)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* dl_iterate_phdr names the executable first; 1 ends the walk. */
static int read_image(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct image *image = arg;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)&read_image;

    (void)size;
    image->fingerprint = fingerprint_of(info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + ph->p_vaddr, end = begin + ph->p_memsz;

        if (ph->p_type == PT_LOAD && here >= begin && here < end)
            image->has_library = true;
        if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W)) {
            image->begin = begin & ~(page - 1);
            image->end = (end + page - 1) & ~(page - 1);
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t relro_end = (info->dlpi_addr + ph->p_vaddr + ph->p_memsz) & ~(page - 1);

        if (ph->p_type == PT_GNU_RELRO && relro_end > image->begin && relro_end <= image->end)
            image->begin = relro_end;
    }
    return 1;
}

static struct image find_image(void)
{
    struct image image = {0};
    void *self = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
    struct link_map *map;

    dl_iterate_phdr(read_image, &image);
    if (self && dlinfo(self, RTLD_DI_LINKMAP, &map) == 0)
        image.has_library |= needs_library(map);
    if (self)
        dlclose(self);
    return image;
}

uint64_t wsh_static_fingerprint(void)
{
    struct image image = {0};

    dl_iterate_phdr(read_image, &image);
    return image.fingerprint;
}

static int map_shared(struct wsh_segment *seg, const struct image *image)
{
    char *base = (char *)image->begin;
    size_t len = image->end - image->begin;
    int fd = memfd_create("warpshmem-static", MFD_CLOEXEC);
    int rc = fd < 0 ? -errno : wsh_memfd_resize(fd, len);

    if (rc || !wsh_static_save(fd, image->begin, image->end, 0) ||
        mmap(base, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        int err = rc ? -rc : errno;

        wsh_error("cannot share the program's %zu bytes of static data: %s; free memory, or set "
                  "SHMEM_STATIC=off if no PE addresses another's static data",
                  len, wsh_commit_strerror(-err));
        if (fd >= 0)
            close(fd);
        return -err;
    }
    *seg = (struct wsh_segment){.base = base, .len = len, .fd = fd};
    return 0;
}

int wsh_static_open(struct wsh_segment *seg, const struct wsh_env *env)
{
    struct image image;
    int rc;

    *seg = (struct wsh_segment){.fd = -1};
    if (env->static_data == WSH_OFF)
        return 0;
    image = find_image();
    if (image.begin >= image.end || (env->static_data == WSH_AUTO && !image.has_library)) {
        wsh_info(WSH_SUB_MEM, "static data of the executable is not symmetric: it does not link this "
                              "library (SHMEM_STATIC=on overrides)");
        return 0;
    }
    rc = map_shared(seg, &image);
    if (!rc)
        mapped = *seg;
    return rc;
}

static void put_in_place(const struct wsh_segment *seg, char *copy)
{
    mremap(copy, seg->len, seg->len, MREMAP_MAYMOVE | MREMAP_FIXED, seg->base);
}

void wsh_static_close(struct wsh_segment *seg)
{
    char *copy;

    if (!seg->base)
        return;
    mapped = (struct wsh_segment){.fd = -1};
    copy = wsh_static_load(seg->fd, seg->len);
    if (copy != MAP_FAILED)
        put_in_place(seg, copy);
    close(seg->fd);
    *seg = (struct wsh_segment){.fd = -1};
}

/*
 * fork: the copy is made before it, so that the child has a consistent image whatever the parent and its peers
 * store afterwards; the child only swaps it in.
 */
static void before_fork(void)
{
    fork_copy = mapped.base ? wsh_static_load(mapped.fd, mapped.len) : MAP_FAILED;
}

static void after_fork_parent(void)
{
    if (fork_copy != MAP_FAILED)
        munmap(fork_copy, mapped.len);
    fork_copy = MAP_FAILED;
}

static void after_fork_child(void)
{
    if (fork_copy != MAP_FAILED)
        put_in_place(&mapped, fork_copy);
    fork_copy = MAP_FAILED;
    mapped = (struct wsh_segment){.fd = -1};
}

/*
 * At load, before the program can register handlers of its own: prepare handlers run last to first and child
 * handlers first to last, so ours are the last before and the first after the fork, and a lock that
 * another handler takes and releases in static data is seen taken and is released in the child's own memory.
 */
__attribute__((constructor)) static void register_fork_handlers(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
