/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels that post to NICs themselves take: NICs, drivers, libfabric. */
#define _GNU_SOURCE
#include "tools/info_gda.h"

#include "transports/efa/gda/probe.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VENDOR_AMAZON 0x1d0f
#define EFA_DEVICE 0xefa0  /* and more by their generation: p4d 0, p5 2, p5en and p6 3 */
#define EFA_GENERATIONS 15 /* of them known by number */
#define EFA_GENERATION_GDA 3
#define DRIVER "3.3.0"

struct gda_check {
    const char *root;
    const struct wsh_env *env;
    void (*print)(void *arg, const char *name, int kind, const char *text);
    void *arg;
    int bad; /* the kind of what does not hold */
    int failed;
};

__attribute__((format(printf, 4, 5))) static void say(struct gda_check *check, const char *name, bool holds,
                                                      const char *fmt, ...)
{
    char text[768];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    check->print(check->arg, name, holds ? WSH_INFO_GDA_OK : check->bad, text);
    check->failed |= !holds && check->bad == WSH_INFO_GDA_FAIL;
}

/* All of a small file below the root, without its last newline; false, and "", where it cannot be read. */
__attribute__((format(printf, 4, 5))) static bool read_file(const struct gda_check *check, char *text,
                                                            size_t size, const char *fmt, ...)
{
    char path[512];
    size_t used = (size_t)snprintf(path, sizeof path, "%s", check->root), len = 0;
    va_list args;
    FILE *file;

    va_start(args, fmt);
    vsnprintf(path + used, sizeof path - used, fmt, args);
    va_end(args);
    file = fopen(path, "re");
    if (file) {
        len = fread(text, 1, size - 1, file);
        fclose(file);
    }
    while (len && text[len - 1] == '\n')
        len--;
    text[len] = '\0';
    return file != NULL;
}

/* NICs that are EFA devices; the generation of the oldest in *oldest. */
static unsigned count_nics(const struct gda_check *check, unsigned *oldest)
{
    char path[512], text[32];
    struct dirent *entry;
    unsigned n = 0;
    DIR *folder;

    *oldest = EFA_GENERATIONS;
    snprintf(path, sizeof path, "%s/sys/class/infiniband", check->root);
    for (folder = opendir(path); folder && (entry = readdir(folder));) {
        unsigned long vendor, device;

        if (*entry->d_name == '.' ||
            !read_file(check, text, sizeof text, "/sys/class/infiniband/%s/device/vendor", entry->d_name))
            continue;
        vendor = strtoul(text, NULL, 0);
        read_file(check, text, sizeof text, "/sys/class/infiniband/%s/device/device", entry->d_name);
        device = strtoul(text, NULL, 0);
        if (vendor != VENDOR_AMAZON || device < EFA_DEVICE || device > EFA_DEVICE + EFA_GENERATIONS)
            continue;
        n++;
        *oldest = device - EFA_DEVICE < *oldest ? (unsigned)(device - EFA_DEVICE) : *oldest;
    }
    if (folder)
        closedir(folder);
    return n;
}

static void check_nics(struct gda_check *check, unsigned n, unsigned oldest)
{
    char instance[64];

    read_file(check, instance, sizeof instance, "/sys/devices/virtual/dmi/id/product_name");
    if (oldest >= EFA_GENERATION_GDA)
        say(check, "GDA NICs", true, "%u of sort efa%u%s%s", n, oldest, *instance ? ", " : "", instance);
    else
        say(check, "GDA NICs", false,
            "%u of sort efa%u%s%s, whose queues the GPU cannot write: kernels post by the proxy; p5en and p6 "
            "instances have such NICs",
            n, oldest, *instance ? ", " : "", instance);
}

/* Whether "3.3.0g" is as new as "3.3.0". */
static bool is_as_new(const char *version, const char *wanted)
{
    for (;;) {
        char *end, *wanted_end;
        long have = strtol(version, &end, 10), want = strtol(wanted, &wanted_end, 10);

        if (have != want)
            return have > want;
        if (!*wanted_end || *end != '.')
            return !*wanted_end;
        version = end + 1;
        wanted = wanted_end + 1;
    }
}

static void check_driver(struct gda_check *check)
{
    char version[64];

    if (read_file(check, version, sizeof version, "/sys/module/efa/version") && is_as_new(version, DRIVER))
        say(check, "GDA driver", true, "EFA driver %s", version);
    else
        say(check, "GDA driver", false,
            "the EFA driver is %s; %s or newer is needed: EFA installer 1.50 or newer (modinfo efa)",
            *version ? version : "of no known version", DRIVER);
}

/* The loaded module's settings: RegistryDwords: "PeerMappingOverride=1;" */
static void check_nvidia(struct gda_check *check)
{
    char text[4096], *at;
    bool loaded = read_file(check, text, sizeof text, "/proc/driver/nvidia/params") ||
                  read_file(check, text, sizeof text, "/sys/module/nvidia/parameters/NVreg_RegistryDwords");

    at = strstr(text, "PeerMappingOverride=");
    if (!loaded)
        say(check, "GDA NVIDIA", false,
            "NVIDIA's module is not loaded (or its settings are hidden in this container)");
    else if (at && strtoul(strchr(at, '=') + 1, NULL, 0) == 1)
        say(check, "GDA NVIDIA", true, "PeerMappingOverride=1");
    else
        say(check, "GDA NVIDIA", false,
            "the GPU may not write to NICs: put `options nvidia "
            "NVreg_RegistryDwords=\"PeerMappingOverride=1;\"` into "
            "/etc/modprobe.d/nvidia-gda.conf, and load NVIDIA's modules again");
}

/* What only a NIC can tell: libfabric's table for queues, and numbers of 64 bits. */
static void check_queue(struct gda_check *check)
{
    char text[512] = "";
    int rc = wsh_efa_gda_probe(check->env, text, sizeof text);

    say(check, "GDA queues", rc == 0, "%s",
        *text ? text : "a queue could not be opened, for the reason above");
}

/* An emulated NIC is in no list of the kernel's. */
static void check_absence(struct gda_check *check)
{
    char text[512] = "";

    if (check->env && wsh_efa_gda_probe(check->env, text, sizeof text) == 0)
        say(check, "GDA queues", true, "%s", text);
    else
        say(check, "GDA", false,
            "no EFA NIC here: kernels of jobs of several hosts post by the proxy; p5en and p6 instances have "
            "NICs that "
            "kernels can write to");
}

int wsh_info_gda(const char *root, const struct wsh_env *env,
                 void (*print)(void *arg, const char *name, int kind, const char *text), void *arg)
{
    struct gda_check check = {
        root, env, print, arg, env && env->gda == WSH_ON ? WSH_INFO_GDA_FAIL : WSH_INFO_GDA_NOTE, 0};
    unsigned oldest, n = count_nics(&check, &oldest);

    if (env && env->gda == WSH_OFF) {
        say(&check, "GDA", true, "SHMEM_GDA=off: kernels post by the proxy");
    } else if (!n) {
        check_absence(&check);
    } else {
        check_nics(&check, n, oldest);
        check_driver(&check);
        check_nvidia(&check);
        if (env)
            check_queue(&check);
    }
    return check.failed;
}
