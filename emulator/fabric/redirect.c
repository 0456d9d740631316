/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Redirects the provider's own shared memory: older providers make an object in /dev/shm for every endpoint, named for
 * its address, though none is used here. They are made in the fabric's folder instead, and so are removed with it even
 * after SIGKILL. No other object is touched.
 */
#include "emulator/fabric/fabric.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS_HEAD "fe80::2ef:a0ff:fe" /* as emu_gid_make's addresses are written */

/* Is it one of ours? Then its path below the folder. */
static bool redirected(const char *name, char *path, size_t size)
{
    name += *name == '/';
    if (!emu.mine || strncmp(name, ADDRESS_HEAD, strlen(ADDRESS_HEAD)) || strchr(name, '/'))
        return false;
    return (size_t)snprintf(path, size, "%s/shm.%s", emu.settings.dir, name) < size;
}

int shm_open(const char *name, int flags, mode_t mode)
{
    int (*real)(const char *, int, mode_t);
    char path[EMU_DIR_MAX + 300];

    if (redirected(name, path, sizeof path))
        return open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    *(void **)&real = dlsym(RTLD_NEXT, "shm_open");
    if (real)
        return real(name, flags, mode);
    errno = ENOSYS;
    return -1;
}

int shm_unlink(const char *name)
{
    int (*real)(const char *);
    char path[EMU_DIR_MAX + 300];

    if (redirected(name, path, sizeof path))
        return unlink(path);
    *(void **)&real = dlsym(RTLD_NEXT, "shm_unlink");
    if (real)
        return real(name);
    errno = ENOSYS;
    return -1;
}
