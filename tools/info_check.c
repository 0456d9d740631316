/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job needs on this machine, a line each. */
#define _GNU_SOURCE
#include "tools/info_check.h"

#include "base/cuda.h"
#include "base/env.h"
#include "base/secret.h"
#include "bootstrap/boot.h"
#include "bootstrap/pmix_keys.h"
#include "runtime/tables.h"
#include "topo/topo.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* One checked thing: name, whether it holds, and what it is or how to cure it. */
static int check_print(bool parsable, const char *name, bool ok, const char *text)
{
    printf(parsable ? "check:%s:%s:%s\n" : "%-12s %-4s %s\n", name, ok ? "ok" : "FAIL", text);
    return !ok;
}

static int check_shared_memory(bool parsable)
{
    int fd = memfd_create("warpshmem-check", MFD_CLOEXEC);

    if (fd >= 0)
        close(fd);
    return check_print(parsable, "memory", fd >= 0,
                       fd >= 0 ? "memfd_create works (shared symmetric heap)"
                               : "memfd_create is refused; allow it in the container's profile");
}

static int check_libfabric(bool parsable)
{
    void *lib = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    uint32_t (*version)(void) = lib ? (uint32_t(*)(void))dlsym(lib, "fi_version") : NULL;
    char text[96];

    if (!version)
        return check_print(parsable, "libfabric", false,
                           "libfabric.so.1 is not found: PEs on other hosts cannot be reached "
                           "(apt install libfabric1)");
    snprintf(text, sizeof text, "version %u.%u", version() >> 16, version() & 0xffff);
    return check_print(parsable, "libfabric", (version() >> 16) > 1 || (version() & 0xffff) >= 17, text);
}

static int check_memlock(bool parsable)
{
    struct rlimit limit;
    char text[128];

    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur == RLIM_INFINITY)
        return check_print(parsable, "memlock", true, "unlimited");
    snprintf(text, sizeof text, "%llu KiB: enough for tcp; EFA and verbs need `ulimit -l unlimited`",
             (unsigned long long)limit.rlim_cur / 1024);
    return check_print(parsable, "memlock", true, text);
}

static int check_gpus(bool parsable)
{
    char text[128] = "none (the host heap works without)";

    if (wsh_cuda_open() == 0) {
        char name[64], pci[32];

        if (wsh_cuda_describe(0, name, sizeof name, pci, sizeof pci))
            return check_print(parsable, "GPU", false, "the CUDA driver does not answer; see nvidia-smi");
        snprintf(text, sizeof text, "%d x %s, the first at %s", wsh_cuda_count(), name, pci);
    }
    return check_print(parsable, "GPU", true, text);
}

/* A check that passes with a limitation, which the text states. */
static void note_print(bool parsable, const char *name, const char *text)
{
    printf(parsable ? "check:%s:note:%s\n" : "%-12s note %s\n", name, text);
}

/* Loaded where it is needed; without it the library does less. */
static void check_library(bool parsable, const char *name, int (*find)(char *, size_t), const char *lost)
{
    char found[512], text[768];

    if (find(found, sizeof found) == 0) {
        check_print(parsable, name, true, found);
        return;
    }
    snprintf(text, sizeof text, "%s; without it %s", found, lost);
    note_print(parsable, name, text);
}

/* Who can learn the secret of a job that is started as this program was. */
static int check_secret(bool parsable)
{
    const char *nspace = wsh_env_foreign("PMIX_NAMESPACE"), *mode = wsh_env_foreign("PMIX_SECURITY_MODE");
    struct wsh_secret secret;
    char text[256];

    if (wsh_random_fill(&secret, sizeof secret))
        return check_print(parsable, "secret", false,
                           "getrandom is refused; allow it in the container's profile");
    if (!nspace)
        return check_print(
            parsable, "secret", true,
            "oshrun's jobs: 128 random bits that only this user's processes see; for jobs of srun or mpirun, "
            "start this check by them");
    if (!strncmp(nspace, WSH_PMIX_NSPACE, strlen(WSH_PMIX_NSPACE)))
        return check_print(parsable, "secret", true,
                           "128 random bits from oshrun, that only this user's processes see");
    if (mode && strstr(mode, "munge"))
        return check_print(parsable, "secret", true, "goes through PMIx, which checks users by munge");
    snprintf(text, sizeof text,
             "goes through PMIx, whose check of users is '%s': over TCP other users of this machine can "
             "read it; configure munge for the launcher",
             mode ? mode : "unknown");
    note_print(parsable, "secret", text);
    return 0;
}

static void check_traffic(bool parsable, const struct wsh_env *env)
{
    char text[256];

    snprintf(
        text, sizeof text,
        "sockets listen on %s; nothing is encrypted: who reads the traffic between hosts, or takes over "
        "a connection, can read and change the job's memory",
        env->interface ? env->interface : "loopback in jobs of one machine, else where other hosts reach them");
    note_print(parsable, "traffic", text);
}

static void note_tables(bool parsable)
{
    struct wsh_tables_shape shape = WSH_TABLES_LARGE;
    char text[256];

    snprintf(
        text, sizeof text,
        "%zu PEs with %zu buffers or pieces of the device heap and %zu NICs each take %.1f MB a PE to find "
        "them, and %.1f MB of device memory",
        shape.n_pes, shape.n_buffers, shape.n_rails, (double)wsh_tables_host(&shape) / 1e6,
        (double)wsh_tables_device(&shape) / 1e6);
    note_print(parsable, "tables", text);
}

int wsh_info_checks(bool parsable)
{
    struct wsh_env env;
    int bad = check_print(parsable, "settings", wsh_env_load(&env) == 0,
                          "all values are valid, or see the lines above");

    bad |= check_shared_memory(parsable);
    bad |= check_libfabric(parsable);
    check_library(parsable, "PMIx", wsh_boot_pmix_library,
                  "jobs start by a unique id, by PMI, or have one PE");
    check_library(parsable, "hwloc", wsh_topo_library,
                  "NICs are shared out in order, and threads are not bound");
    bad |= check_memlock(parsable);
    bad |= check_gpus(parsable);
    note_print(parsable, "bitcode", WSH_BITCODE);
    bad |= check_secret(parsable);
    check_traffic(parsable, &env);
    note_tables(parsable);
    return bad;
}
