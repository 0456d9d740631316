/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the program again over the emulated device, with group_path.nics NICs a PE, in the short form at most two. */
#include "test/contract/group.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void skip(const char *why)
{
    printf("skip: %s\n", why);
    exit(77);
}

/* Each NIC takes 0.2 s of the processor to start. */
static int wanted_nics(void)
{
    const char *large = getenv("WSH_TEST_LONG");

    return group_path.nics > 2 && !(large && !strcmp(large, "1")) ? 2 : group_path.nics;
}

/* Becomes itself under the emulator, which has to be there before the program starts. */
__attribute__((constructor)) static void emulate(void)
{
    const char *src = getenv("top_srcdir"), *build = getenv("top_builddir"),
               *variant = getenv("WSH_TEST_VARIANT");
    char script[PATH_MAX], library[PATH_MAX], self[PATH_MAX], nics[12];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    if (getenv("EFA_EMULATOR_DIR"))
        return;
    if (variant && strcmp(variant, "clang"))
        skip("a preloaded library does not go with this build");
    snprintf(script, sizeof script, "%s/emulator/efa-emulate", src ? src : ".");
    snprintf(library, sizeof library, "%s/emulator/.libs/libefa-emulator.so", build ? build : ".");
    if (len <= 0 || access(library, F_OK))
        skip("the emulator is not built (libibverbs-dev)");
    self[len] = '\0';
    snprintf(nics, sizeof nics, "%d", wanted_nics());
    setenv("SHMEM_NICS_PER_PE", nics, 1);
    execl("/bin/sh", "sh", script, "--quiet", "--", self, (char *)NULL);
    skip("no /bin/sh");
}
