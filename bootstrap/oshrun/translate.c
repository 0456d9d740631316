/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how srun, prterun and mpirun spell oshrun's options. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/translate.h"

#include "bootstrap/oshrun/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"srun", "prterun", "mpirun"};

static const char *const bindings[][5] = {
    [WSH_SRUN] = {"none", "threads", "cores", "ldoms", "sockets"},
    [WSH_PRTERUN] = {"none", "hwthread", "core", "numa", "package"},
    [WSH_MPIRUN] = {"none", "hwthread", "core", "numa", "socket"},
};

/* Settings that mpirun and prterun leave at home unless told; srun takes all. */
static const char *const settings[] = {"SHMEM_", "SMA_", "NVSHMEM_", "FI_"};

void wsh_words_free(struct wsh_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct wsh_words){0};
}

__attribute__((format(printf, 2, 3))) static void add(struct wsh_words *words, const char *fmt, ...)
{
    char **more = realloc(words->word, (words->n + 2) * sizeof *more), *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (!more || vasprintf(&text, fmt, args) < 0) {
        wsh_say("out of memory");
        exit(OSHRUN_FAILED);
    }
    va_end(args);
    words->word = more;
    words->word[words->n++] = text;
    words->word[words->n] = NULL;
}

static int no_word(enum wsh_launcher launcher, const char *option)
{
    wsh_say("%s has no word for %s; leave it out, or set OSHRUN_LAUNCHER=local to stay on this machine",
            names[launcher], option);
    return OSHRUN_USAGE;
}

static bool ends_in_folder(const char *name)
{
    struct stat st;

    return name[strlen(name) - 1] == '/' || (!stat(name, &st) && S_ISDIR(st.st_mode));
}

static void add_output_files(struct wsh_words *words, const char *name)
{
    const char *between = !ends_in_folder(name) ? "." : name[strlen(name) - 1] == '/' ? "" : "/";

    add(words, "--output=%s%s%%t.out", name, between);
    add(words, "--error=%s%s%%t.err", name, between);
}

/* srun spreads tasks evenly or not at all: unequal numbers of PEs have no word. */
static int add_srun_hosts(struct wsh_words *words, const struct wsh_hosts *hosts)
{
    char *list = NULL;
    size_t size;
    FILE *text = hosts->n ? open_memstream(&list, &size) : NULL;

    if (!text)
        return 0;
    for (int i = 0; i < hosts->n; i++) {
        fprintf(text, "%s%s", i ? "," : "", hosts->host[i].name);
        if (hosts->host[i].slots == hosts->host[0].slots)
            continue;
        fclose(text);
        free(list);
        return no_word(WSH_SRUN, "different numbers of PEs on the hosts");
    }
    fclose(text);
    add(words, "--nodelist=%s", list);
    add(words, "--nodes=%d", hosts->n);
    if (hosts->host[0].slots)
        add(words, "--ntasks-per-node=%d", hosts->host[0].slots);
    free(list);
    return 0;
}

/* Standard input for PE 0 only, and the end of all on the first failure: as oshrun itself does. */
static int to_srun(struct wsh_words *words, const struct wsh_args *args, const struct wsh_hosts *hosts)
{
    add(words, "--mpi=pmix");
    add(words, "--kill-on-bad-exit=1");
    add(words, "--input=0");
    add(words, "--export=ALL");
    if (args->n_pes)
        add(words, "--ntasks=%d", args->n_pes);
    if (args->bind_given)
        add(words, "--cpu-bind=%s", bindings[WSH_SRUN][args->bind]);
    if (args->tag)
        add(words, "--label");
    if (args->timestamp)
        return no_word(WSH_SRUN, "--timestamp");
    if (args->output)
        add_output_files(words, args->output);
    return add_srun_hosts(words, hosts);
}

static bool starts_with_setting(const char *text)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!strncmp(text, settings[i], strlen(settings[i])))
            return true;
    return false;
}

/* Values stand in our own environment by now, so names are enough, and commas in values are no matter. */
static void add_exports(struct wsh_words *words, const struct wsh_args *args)
{
    for (char **at = args->exports; *at; at++) {
        add(words, "-x");
        add(words, "%.*s", (int)strcspn(*at, "="), *at);
    }
    for (char **at = environ; *at; at++) {
        int len = (int)strcspn(*at, "=");
        bool given = !starts_with_setting(*at);

        for (char **other = args->exports; *other && !given; other++)
            given = (int)strcspn(*other, "=") == len && !strncmp(*other, *at, (size_t)len);
        if (given)
            continue;
        add(words, "-x");
        add(words, "%.*s", len, *at);
    }
}

static void add_open_mpi_hosts(struct wsh_words *words, const struct wsh_hosts *hosts)
{
    char *list = NULL;
    size_t size;
    FILE *text = hosts->n ? open_memstream(&list, &size) : NULL;

    if (!text)
        return;
    for (int i = 0; i < hosts->n; i++) {
        fprintf(text, "%s%s", i ? "," : "", hosts->host[i].name);
        if (hosts->host[i].slots)
            fprintf(text, ":%d", hosts->host[i].slots);
    }
    fclose(text);
    add(words, "--host");
    add(words, "%s", list);
    free(list);
}

static void add_output(struct wsh_words *words, enum wsh_launcher launcher, const struct wsh_args *args)
{
    if (launcher == WSH_MPIRUN) {
        if (args->tag)
            add(words, "--tag-output");
        if (args->timestamp)
            add(words, "--timestamp-output");
        if (args->output) {
            add(words, "--output-filename");
            add(words, "%s", args->output);
        }
        return;
    }
    if (!args->tag && !args->timestamp && !args->output)
        return;
    add(words, "--output");
    add(words, "%s%s%s%s%s%s", args->tag ? "tag" : "",
        args->tag && (args->timestamp || args->output) ? "," : "", args->timestamp ? "timestamp" : "",
        args->timestamp && args->output ? "," : "", args->output ? "file=" : "",
        args->output ? args->output : "");
}

/* As root and with more PEs than cores, without being asked. */
static int to_open_mpi(struct wsh_words *words, enum wsh_launcher launcher, const struct wsh_args *args,
                       const struct wsh_hosts *hosts)
{
    if (geteuid() == 0)
        add(words, "--allow-run-as-root");
    if (launcher == WSH_MPIRUN) {
        add(words, "--oversubscribe");
    } else {
        add(words, "--map-by");
        add(words, ":OVERSUBSCRIBE");
    }
    if (args->n_pes) {
        add(words, "-n");
        add(words, "%d", args->n_pes);
    }
    add_open_mpi_hosts(words, hosts);
    if (args->bind_given) {
        add(words, "--bind-to");
        add(words, "%s", bindings[launcher][args->bind]);
    }
    add_output(words, launcher, args);
    add_exports(words, args);
    return 0;
}

int wsh_translate(enum wsh_launcher launcher, const char *path, const struct wsh_args *args,
                  const struct wsh_hosts *hosts, struct wsh_words *words)
{
    int rc;

    *words = (struct wsh_words){0};
    if (args->nodes_given)
        return no_word(launcher, "--nodes-emulated");
    if (args->emulate)
        return no_word(launcher, "--emulate-efa");
    if (args->kill_wait_given)
        return no_word(launcher, "--kill-wait");
    add(words, "%s", path);
    rc = launcher == WSH_SRUN ? to_srun(words, args, hosts) : to_open_mpi(words, launcher, args, hosts);
    for (char **at = args->program; *at; at++)
        add(words, "%s", *at);
    return rc;
}
