/* SPDX-License-Identifier: BSD-3-Clause */
/* What a job needs on this machine, a line each. */
#define _GNU_SOURCE
#include "tools/info_check.h"

#include "base/cuda/cuda.h"
#include "base/env/env.h"
#include "base/env/misspelt.h"
#include "base/secret.h"
#include "bootstrap/boot.h"
#include "bootstrap/pmix/keys.h"
#include "runtime/gpu/memory_estimate.h"
#include "tools/info_gda.h"
#include "tools/info_limits.h"
#include "topo/topo.h"
#include "transports/efa/nic/preview.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a job of several hosts would take. */
static int check_network(const struct wsh_info *info)
{
    char text[512], devices[256];
    bool rdma = wsh_info_names(info, "sys/class/infiniband", "", devices, sizeof devices) > 0, slow;
    int rc = wsh_efa_preview(info->env, text, sizeof text, &slow);

    if (rc == -ENODEV)
        return wsh_info_line(info, "network", WSH_INFO_FAIL, "PEs on other hosts cannot be reached: %s",
                             text);
    if (rc)
        return wsh_info_line(info, "network", WSH_INFO_FAIL,
                             "PEs on other hosts cannot be reached, for the reason above");
    if (rdma && slow)
        return wsh_info_line(
            info, "network", WSH_INFO_NOTE,
            "%s: sockets, although there is %s; see the lines RDMA and memlock, `fi_info -p efa`, and which "
            "libfabric is loaded (LD_LIBRARY_PATH=/opt/amazon/efa/lib64)",
            text, devices);
    return wsh_info_line(info, "network", WSH_INFO_OK, "%s", text);
}

/* What oshrun would run for several hosts. */
static int check_launchers(const struct wsh_info *info)
{
    static const char *const names[] = {"srun", "prterun", "mpirun", "mpiexec.hydra"};
    const char *folders = wsh_env_foreign("PATH");
    char text[128] = "";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (const char *at = folders; at; at = strchr(at, ':'), at += at != NULL) {
            char path[PATH_MAX];

            snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(at, ":"), at, names[i]);
            if (access(path, X_OK))
                continue;
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "", names[i]);
            break;
        }
    }
    if (*text)
        return wsh_info_line(info, "launchers", WSH_INFO_OK, "oshrun on this machine; for several hosts %s",
                             text);
    return wsh_info_line(
        info, "launchers", WSH_INFO_NOTE,
        "oshrun on this machine alone: for several hosts srun, prterun or mpirun must be on PATH, or "
        "processes start by a unique id");
}

static int check_gpus(const struct wsh_info *info)
{
    char text[128] = "none (the host heap works without)";

    if (wsh_cuda_open() == 0) {
        char name[64], pci[32];

        if (wsh_cuda_describe(0, name, sizeof name, pci, sizeof pci))
            return wsh_info_line(info, "GPU", WSH_INFO_FAIL,
                                 "the CUDA driver does not answer; see nvidia-smi");
        snprintf(text, sizeof text, "%d x %s, the first at %s", wsh_cuda_count(), name, pci);
    }
    return wsh_info_line(info, "GPU", WSH_INFO_OK, "%s", text);
}

/* Loaded where it is needed; without it the library does less. */
static void check_library(const struct wsh_info *info, const char *name, int (*find)(char *, size_t),
                          const char *lost)
{
    char found[512];

    if (find(found, sizeof found) == 0)
        wsh_info_line(info, name, WSH_INFO_OK, "%s", found);
    else
        wsh_info_line(info, name, WSH_INFO_NOTE, "%s; without it %s", found, lost);
}

/* Who can learn the secret of a job that is started as this program was. */
static int check_secret(const struct wsh_info *info)
{
    const char *nspace = wsh_env_foreign("PMIX_NAMESPACE"), *mode = wsh_env_foreign("PMIX_SECURITY_MODE");
    struct wsh_secret secret;

    if (wsh_random_fill(&secret, sizeof secret))
        return wsh_info_line(info, "secret", WSH_INFO_FAIL,
                             "getrandom is refused; allow it in the container's profile");
    if (!nspace)
        return wsh_info_line(
            info, "secret", WSH_INFO_OK,
            "oshrun's jobs: 128 random bits that only this user's processes see; for jobs of srun or "
            "mpirun, start this check by them");
    if (!strncmp(nspace, WSH_PMIX_NSPACE, strlen(WSH_PMIX_NSPACE)))
        return wsh_info_line(info, "secret", WSH_INFO_OK,
                             "128 random bits from oshrun, that only this user's processes see");
    if (mode && strstr(mode, "munge"))
        return wsh_info_line(info, "secret", WSH_INFO_OK, "goes through PMIx, which checks users by munge");
    return wsh_info_line(
        info, "secret", WSH_INFO_NOTE,
        "goes through PMIx, whose check of users is '%s': over TCP other users of this machine can read it; "
        "configure munge for the launcher",
        mode ? mode : "unknown");
}

static void note_traffic(const struct wsh_info *info)
{
    const char *where = "loopback in jobs of one machine, else where other hosts reach them";

    if (info->env->interface)
        where = info->env->interface;
    wsh_info_line(info, "traffic", WSH_INFO_NOTE,
                  "sockets listen on %s; nothing is encrypted: who reads the traffic between hosts, or takes "
                  "over a connection, can read and change the job's memory",
                  where);
}

static void note_tables(const struct wsh_info *info)
{
    struct wsh_tables_shape shape = WSH_TABLES_LARGE;

    wsh_info_line(info, "tables", WSH_INFO_NOTE,
                  "%zu PEs with %zu buffers or pieces of the device heap and %zu NICs each take %.1f MB a PE "
                  "to find them, and "
                  "%.1f MB of device memory",
                  shape.n_pes, shape.n_buffers, shape.n_rails, (double)wsh_tables_host(&shape) / 1e6,
                  (double)wsh_tables_device(&shape) / 1e6);
}

static void gda_print(void *info, const char *name, int kind, const char *text)
{
    wsh_info_line(info, name,
                  kind == WSH_INFO_GDA_NOTE ? WSH_INFO_NOTE
                  : kind == WSH_INFO_GDA_OK ? WSH_INFO_OK
                                            : WSH_INFO_FAIL,
                  "%s", text);
}

static void note_misspelt(const struct wsh_info *info)
{
    struct wsh_misspelt found;
    char where[300] = "";
    size_t at = 0;

    while (wsh_env_misspelt(&at, &found)) {
        if (found.path)
            snprintf(where, sizeof where, "%s:%d: ", found.path, found.number);
        wsh_info_line(info, "misspelt", WSH_INFO_NOTE, "%s%.*s is no setting and is not read%s%s%s", where,
                      found.length, found.name, found.meant ? "; is it " : "", found.meant ? found.meant : "",
                      found.meant ? "?" : "");
    }
}

int wsh_info_checks(bool parsable)
{
    struct wsh_env env;
    struct wsh_info info = {"", parsable, stdout, &env};
    int bad = wsh_env_load(&env);

    bad = wsh_info_line(&info, "settings", bad ? WSH_INFO_FAIL : WSH_INFO_OK,
                        bad ? "programs refuse to start: correct what the lines above name"
                            : "all values are valid");
    note_misspelt(&info);
    bad |= wsh_info_limits(&info);
    bad |= wsh_info_devices(&info);
    bad |= check_network(&info);
    bad |= check_launchers(&info);
    check_library(&info, "PMIx", wsh_boot_pmix_library, "jobs start by a unique id, by PMI, or have one PE");
    check_library(&info, "hwloc", wsh_topo_library,
                  "NICs are shared out in order, and threads are not bound");
    bad |= check_gpus(&info);
    bad |= wsh_info_gda("", &env, gda_print, &info);
    wsh_info_line(&info, "bitcode", WSH_INFO_NOTE, "%s", WSH_BITCODE);
    bad |= check_secret(&info);
    note_traffic(&info);
    note_tables(&info);
    return bad;
}
