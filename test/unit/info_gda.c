/* SPDX-License-Identifier: BSD-3-Clause */
/* tools/info_gda.c: each thing that kernels which post to NICs take, read from files as machines have them. */
#define _GNU_SOURCE
#include "tools/info_gda.h"

#include "test/common/unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64], said[4096];

static void take(void *arg, const char *name, int kind, const char *text)
{
    size_t used = strlen(said);

    (void)arg;
    snprintf(said + used, sizeof said - used, "%s %d %s\n", name, kind, text);
}

/* Writes a file below the root, with its folders. */
static void write_file(const char *path, const char *text)
{
    char whole[256];
    FILE *file;

    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *at = strchr(whole + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    file = fopen(whole, "w");
    if (file && fputs(text, file) >= 0)
        fclose(file);
}

static void nic(const char *name, const char *vendor, const char *device)
{
    char path[128];

    snprintf(path, sizeof path, "sys/class/infiniband/%s/device/vendor", name);
    write_file(path, vendor);
    snprintf(path, sizeof path, "sys/class/infiniband/%s/device/device", name);
    write_file(path, device);
}

static void start(void)
{
    char command[80];

    if (*root) {
        snprintf(command, sizeof command, "rm -rf %s", root);
        CU_ASSERT_EQUAL(system(command), 0);
    }
    strcpy(root, "/tmp/info_gda.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
}

static int query(void)
{
    *said = '\0';
    return wsh_info_gda(root, NULL, take, NULL);
}

static bool has(const char *text)
{
    return strstr(said, text) != NULL;
}

static void all_is_there(void)
{
    start();
    nic("rdmap0s1", "0x1d0f\n", "0xefa3\n");
    nic("rdmap1s1", "0x1d0f\n", "0xefa3\n");
    nic("mlx5_0", "0x15b3\n", "0x101e\n");
    write_file("sys/devices/virtual/dmi/id/product_name", "p5en.48xlarge\n");
    write_file("sys/module/efa/version", "3.3.0g\n");
    write_file("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\n"
                                            "RegistryDwords: \"PeerMappingOverride=1;\"\nRmMsg: \"\"\n");
    CU_ASSERT_EQUAL(query(), 0);
    CU_ASSERT_STRING_EQUAL(said, "GDA NICs 0 2 of sort efa3, p5en.48xlarge\nGDA driver 0 EFA driver 3.3.0g\n"
                                 "GDA NVIDIA 0 PeerMappingOverride=1\n");
}

static void each_has_its_cure(void)
{
    start();
    nic("rdmap0s1", "0x1d0f\n", "0xefa2\n");
    write_file("sys/module/efa/version", "2.13.0g\n");
    write_file("proc/driver/nvidia/params", "RegistryDwords: \"\"\n");
    CU_ASSERT_EQUAL(query(), 0);
    CU_ASSERT(has("GDA NICs 1 1 of sort efa2, whose") && has("p5en and p6 instances"));
    CU_ASSERT(has("GDA driver 1 the EFA driver is 2.13.0g; 3.3.0 or newer") && has("EFA installer 1.50"));
    CU_ASSERT(has("GDA NVIDIA 1 the GPU may not write to NICs") && has("PeerMappingOverride=1;"));
    CU_ASSERT_EQUAL(unit_lines(said), 3);
}

static void what_cannot_be_read(void)
{
    start();
    nic("rdmap0s1", "0x1d0f\n", "0xefa3\n");
    CU_ASSERT_EQUAL(query(), 0);
    CU_ASSERT(has("GDA driver 1 the EFA driver is of no known version") &&
              has("GDA NVIDIA 1 NVIDIA's module is not"));
}

static void other_settings_of_the_module(void)
{
    start();
    nic("rdmap0s1", "0x1d0f\n", "0xefa4\n");
    write_file("sys/module/nvidia/parameters/NVreg_RegistryDwords", "RMHdcp=1;PeerMappingOverride=1\n");
    query();
    CU_ASSERT(has("GDA NICs 0 1 of sort efa4\n") && has("GDA NVIDIA 0 "));
    write_file("proc/driver/nvidia/params", "RegistryDwords: \"PeerMappingOverride=0;\"\n");
    query();
    CU_ASSERT(has("GDA NVIDIA 1 "));
}

static void versions_by_number(void)
{
    static const struct {
        const char *version;
        bool new_enough;
    } rows[] = {{"3.3.0", true},  {"3.3.0g", true}, {"3.10.0", true},   {"10.0", true}, {"4", true},
                {"3.2.9", false}, {"3.3", false},   {"2.13.0g", false}, {"", false}};

    start();
    nic("rdmap0s1", "0x1d0f\n", "0xefa3\n");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file("sys/module/efa/version", rows[i].version);
        query();
        CU_ASSERT_EQUAL(has("GDA driver 0 "), rows[i].new_enough);
    }
}

static void no_nic(void)
{
    char command[80];

    start();
    nic("mlx5_0", "0x15b3\n", "0x101e\n");
    CU_ASSERT_EQUAL(query(), 0);
    CU_ASSERT(unit_lines(said) == 1 && has("GDA 1 no EFA NIC here"));
    snprintf(command, sizeof command, "rm -rf %s", root);
    CU_ASSERT_EQUAL(system(command), 0);
}

const struct unit_test unit_tests[] = {
    {"a machine that has all", all_is_there},
    {"each that is missing has its cure", each_has_its_cure},
    {"what cannot be read does not hold", what_cannot_be_read},
    {"other settings of the module", other_settings_of_the_module},
    {"versions are compared by number", versions_by_number},
    {"no NIC: one line", no_nic},
    {NULL, NULL},
};
