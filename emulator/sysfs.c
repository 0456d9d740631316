/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the folder that stands for /sys. */
#include "emulator/sysfs.h"

#include "emulator/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 256
#define DRIVERS "bus/pci/drivers/efa"

/* What cannot be made is kept in the first error. */
struct tree {
    const char *dir;
    int rc;
    char at[PATH_BYTES];
};

static void tree_note_error(struct tree *tree, const char *path, int error)
{
    if (tree->rc || !error || error == EEXIST)
        return;
    tree->rc = -error;
    snprintf(tree->at, sizeof tree->at, "%s", path);
}

__attribute__((format(printf, 3, 0))) static void join(const struct tree *tree, char *path,
                                                       const char *format, va_list args)
{
    size_t used = (size_t)snprintf(path, PATH_BYTES, "%s/sys/", tree->dir);

    vsnprintf(path + used, PATH_BYTES - used, format, args);
}

/* Makes the folder with those above it. */
__attribute__((format(printf, 2, 3))) static void folder(struct tree *tree, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list args;

    va_start(args, format);
    join(tree, path, format, args);
    va_end(args);
    for (char *slash = path + strlen(tree->dir) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        tree_note_error(tree, path, mkdir(path, 0700) ? errno : 0);
        *slash = '/';
    }
    tree_note_error(tree, path, mkdir(path, 0700) ? errno : 0);
}

__attribute__((format(printf, 3, 4))) static void file(struct tree *tree, const char *text,
                                                       const char *format, ...)
{
    char path[PATH_BYTES];
    va_list args;
    int fd;

    va_start(args, format);
    join(tree, path, format, args);
    va_end(args);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        tree_note_error(tree, path, errno);
    if (fd >= 0)
        close(fd);
}

__attribute__((format(printf, 3, 4))) static void link_to(struct tree *tree, const char *target,
                                                          const char *format, ...)
{
    char path[PATH_BYTES];
    va_list args;

    va_start(args, format);
    join(tree, path, format, args);
    va_end(args);
    tree_note_error(tree, path, symlink(target, path) ? errno : 0);
}

static void make_nic(struct tree *tree, const struct emu_profile *profile, const struct emu_nic *nic)
{
    char address[16], target[64], part[16];

    emu_nic_address(nic, address, sizeof address);
    snprintf(part, sizeof part, "0x%04x\n", profile->part_id);
    snprintf(target, sizeof target, "../../../devices/%s", address);
    folder(tree, "devices/%s", address);
    file(tree, "0x1d0f\n", "devices/%s/vendor", address);
    file(tree, part, "devices/%s/device", address);
    link_to(tree, "../../" DRIVERS, "devices/%s/driver", address);
    folder(tree, "class/infiniband/%s/ports/1", nic->name);
    link_to(tree, target, "class/infiniband/%s/device", nic->name);
    file(tree, "1\n", "class/infiniband/%s/node_type", nic->name);
}

int emu_sysfs_make(const struct emu_settings *settings)
{
    struct tree tree = {.dir = settings->dir};
    char root[PATH_BYTES];

    folder(&tree, "class/infiniband_verbs");
    folder(&tree, DRIVERS);
    file(&tree, "6\n", "class/infiniband_verbs/abi_version");
    for (unsigned i = 0; i < settings->nnics; i++)
        make_nic(&tree, settings->profile, &settings->nic[i]);
    if (tree.rc) {
        emu_say("cannot make %s: %s", tree.at, strerror(-tree.rc));
        return tree.rc;
    }
    snprintf(root, sizeof root, "%s/sys", settings->dir);
    setenv("SYSFS_PATH", root, 0);
    return 0;
}

void emu_sysfs_device_path(const struct emu_settings *settings, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/sys/class/infiniband/%s", settings->dir, name);
}
