/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the emulator's settings and checks their values. */
#include "emulator/settings.h"

#include "emulator/wire/rate.h"
#include "emulator/say.h"
#include "emulator/fabric/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_BYTES 65536

static const char *setting(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

static int setting_refuse(const char *name, const char *value, const char *expected)
{
    emu_say("%s=%s: expected %s", name, value, expected);
    return -EINVAL;
}

static int read_dir(struct emu_settings *s)
{
    const char *dir = setting("EFA_EMULATOR_DIR");
    struct stat st;

    if (!dir) {
        emu_say("EFA_EMULATOR_DIR is not set: start the program with efa-emulate or oshrun --emulate-efa, "
                "which make "
                "the fabric's folder");
        return -ENOTDIR;
    }
    if (*dir != '/' || strlen(dir) >= sizeof s->dir || stat(dir, &st) || !S_ISDIR(st.st_mode)) {
        emu_say("EFA_EMULATOR_DIR=%s: expected the absolute path of a folder, shorter than %d bytes", dir,
                EMU_DIR_MAX);
        return -ENOTDIR;
    }
    if (st.st_uid != geteuid() || (st.st_mode & 077)) {
        emu_say("EFA_EMULATOR_DIR=%s: must belong to this user alone (chmod 700)", dir);
        return -ENOTDIR;
    }
    snprintf(s->dir, sizeof s->dir, "%s", dir);
    return 0;
}

static int read_profile(struct emu_settings *s)
{
    const char *name = setting("EFA_EMULATOR_PROFILE"), *nics = setting("EFA_EMULATOR_NICS");
    char bad[64];

    s->profile = emu_profile_find(name ? name : "p5");
    if (!s->profile)
        return setting_refuse("EFA_EMULATOR_PROFILE", name, emu_profile_names());
    s->nnics = emu_profile_nics(s->profile, s->nic);
    s->reorder_ns = s->profile->reorder_us * 1000ull;
    if (emu_nic_select(nics, s->nic, s->nnics, &s->visible, bad, sizeof bad)) {
        emu_say("EFA_EMULATOR_NICS=%s: profile %s has no NIC '%s' (it has %u, %s to %s)", nics,
                s->profile->name, bad, s->nnics, s->nic[0].name, s->nic[s->nnics - 1].name);
        return -EINVAL;
    }
    return 0;
}

static int read_number(const char *name, uint64_t max, bool *given, uint64_t *number)
{
    const char *value = setting(name);
    char *end;

    *given = value != NULL;
    if (!value)
        return 0;
    errno = 0;
    *number = strtoull(value, &end, 10);
    if (*end || errno || *value == '-' || *number > max)
        return setting_refuse(name, value, "a decimal number");
    return 0;
}

static int read_flag(const char *name, bool *flag)
{
    const char *value = setting(name);

    *flag = value && !strcmp(value, "1");
    return !value || *flag || !strcmp(value, "0") ? 0 : setting_refuse(name, value, "0 or 1");
}

/* The text of EFA_EMULATOR_FAULTS, which may name a file. NULL and errno if that cannot be read. */
static char *load_script(const char *value)
{
    char *text;
    ssize_t len;
    int fd;

    if (*value != '@')
        return strdup(value);
    fd = open(value + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    text = calloc(1, SCRIPT_BYTES);
    len = text ? read(fd, text, SCRIPT_BYTES - 1) : -1;
    close(fd);
    if (len < 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int read_faults(struct emu_settings *s)
{
    const char *value = setting("EFA_EMULATOR_FAULTS");
    char why[256];
    char *text;
    int rc;

    if (!value)
        return 0;
    text = load_script(value);
    if (!text) {
        emu_say("EFA_EMULATOR_FAULTS=%s: %s", value, strerror(errno));
        return -EINVAL;
    }
    rc = emu_faults_parse(text, &s->faults, why, sizeof why);
    if (rc)
        emu_say("EFA_EMULATOR_FAULTS: %s", why);
    free(text);
    return rc;
}

static int read_time_model(struct emu_settings *s)
{
    const char *value = setting("EFA_EMULATOR_TIME");

    if (value && strcmp(value, "0") && emu_rate_parse(value, &s->time_scale))
        return setting_refuse("EFA_EMULATOR_TIME", value, "1 or a scale such as 1/40");
    return 0;
}

static int read_copy(struct emu_settings *s)
{
    const char *value = setting("EFA_EMULATOR_COPY");

    if (!value || !strcmp(value, "auto"))
        s->copy = EMU_COPY_AUTO;
    else if (!strcmp(value, "direct"))
        s->copy = EMU_COPY_DIRECT;
    else if (!strcmp(value, "helper"))
        s->copy = EMU_COPY_HELPER;
    else
        return setting_refuse("EFA_EMULATOR_COPY", value, "auto, direct or helper");
    return 0;
}

/* The launchers' own variables, so that a fault script can speak of ranks. */
static void read_rank(struct emu_settings *s)
{
    static const char *const names[] = {"EFA_EMULATOR_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

    s->rank = -1;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && s->rank < 0; i++) {
        const char *value = setting(names[i]);

        if (value && strspn(value, "0123456789") == strlen(value) && strlen(value) < 6)
            s->rank = atoi(value);
    }
}

int emu_settings_read(struct emu_settings *s)
{
    uint64_t reorder_us = 0, depth = 0, handles = 0;
    bool given;
    int rc;

    *s = (struct emu_settings){0};
    if ((rc = read_dir(s)) || (rc = read_profile(s)) || (rc = read_faults(s)))
        return rc;
    if ((rc = read_number("EFA_EMULATOR_SEED", UINT64_MAX, &s->seeded, &s->seed)) ||
        (rc = read_number("EFA_EMULATOR_REORDER_US", 10000000, &given, &reorder_us)))
        return rc;
    if (given)
        s->reorder_ns = reorder_us * 1000;
    if (s->faults.seeded && !s->seeded) {
        s->seeded = true;
        s->seed = s->faults.seed;
    }
    s->counter_start = EMU_COUNTER_START;
    if ((rc = read_number("EFA_EMULATOR_COUNTERS", INT32_MAX, &given, &s->counter_start)) ||
        (rc = read_number("EFA_EMULATOR_QUEUE", EMU_SQ_DEPTH, &given, &depth)) ||
        (rc = read_number("EFA_EMULATOR_HANDLES", EMU_AHS_PER_NIC, &given, &handles)))
        return rc;
    s->sq_depth = depth ? (uint32_t)depth : EMU_SQ_DEPTH;
    s->handles = handles ? (uint32_t)handles : EMU_AHS_PER_NIC;
    if ((rc = read_flag("EFA_EMULATOR_REPLAY", &s->replay)) ||
        (rc = read_flag("EFA_EMULATOR_QUIET", &s->quiet)) ||
        (rc = read_flag("EFA_EMULATOR_NULL", &s->null)) || (rc = read_flag("EFA_EMULATOR_COUNT", &s->count)))
        return rc;
    read_rank(s);
    rc = read_time_model(s);
    return rc ? rc : read_copy(s);
}
