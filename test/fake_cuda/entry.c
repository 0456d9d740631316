/* SPDX-License-Identifier: BSD-3-Clause */
/* How packages for Python find the driver's routines: by name, the newest version of each that there is. */
#define _GNU_SOURCE
#include "test/fake_cuda/fake.h"

#include <dlfcn.h>
#include <stdio.h>

int cuGetProcAddress_v2(const char *name, void **routine, int version, uint64_t flags, int *found);
int cuDriverGetVersion(int *version);
int cuDeviceGet(int *device, int ordinal);

static void *find(const char *name)
{
    static void *self;
    char newest[128];
    Dl_info info;

    if (!self && dladdr((void *)&self, &info))
        self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!self)
        return NULL;
    snprintf(newest, sizeof newest, "%s_v2", name);
    return dlsym(self, newest) ? dlsym(self, newest) : dlsym(self, name);
}

int cuGetProcAddress_v2(const char *name, void **routine, int version, uint64_t flags, int *found)
{
    (void)version, (void)flags;
    *routine = find(name);
    if (found)
        *found = *routine ? 0 : 1;
    return *routine ? 0 : FAKE_NOT_FOUND;
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    FAKE_ENTER(false);
    *device = ordinal;
    return 0;
}
