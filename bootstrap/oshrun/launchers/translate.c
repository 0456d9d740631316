/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun's options as srun, prterun and mpirun spell them. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/launchers/translate.h"

#include "bootstrap/oshrun/command.h"
#include "bootstrap/oshrun/io.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const launcher_names[] = {"srun", "prterun", "mpirun"};

static const char *const binding_words[][5] = {
    [WSH_SRUN] = {"none", "threads", "cores", "ldoms", "sockets"},
    [WSH_PRTERUN] = {"none", "hwthread", "core", "numa", "package"},
    [WSH_MPIRUN] = {"none", "hwthread", "core", "numa", "socket"},
};

/* Settings that mpirun and prterun export only if they are named; srun exports all. */
static const char *const settings[] = {"SHMEM_", "SMA_", "NVSHMEM_", "WARPSHMEM_CONF", "FI_"};

void wsh_words_free(struct wsh_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct wsh_words){0};
}

__attribute__((format(printf, 2, 3))) static void word_add(struct wsh_words *words, const char *fmt, ...)
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

static int option_refuse(enum wsh_launcher launcher, const char *option)
{
    wsh_say("%s has no option that does what %s does; leave it out, or set OSHRUN_LAUNCHER=local to stay on "
            "this machine",
            launcher_names[launcher], option);
    return OSHRUN_USAGE;
}

static bool name_is_folder(const char *name)
{
    struct stat st;

    return name[strlen(name) - 1] == '/' || (!stat(name, &st) && S_ISDIR(st.st_mode));
}

static void output_files_add(struct wsh_words *words, const char *name)
{
    const char *between = !name_is_folder(name) ? "." : name[strlen(name) - 1] == '/' ? "" : "/";

    word_add(words, "--output=%s%s%%t.out", name, between);
    word_add(words, "--error=%s%s%%t.err", name, between);
}

static bool hosts_differ(const struct wsh_hosts *hosts)
{
    for (int i = 1; i < hosts->n; i++)
        if (hosts->host[i].slots != hosts->host[0].slots)
            return true;
    return false;
}

/* The host of each PE in turn: with different numbers of PEs on the hosts srun takes no shorter form. */
static int hosts_repeat(FILE *text, const struct wsh_hosts *hosts, int n_pes)
{
    int written = 0, round;

    do {
        round = written;
        for (int i = 0; i < hosts->n; i++)
            for (int pe = 0; pe < (hosts->host[i].slots ? hosts->host[i].slots : 1); pe++)
                if (!n_pes || written < n_pes)
                    fprintf(text, "%s%s", written++ ? "," : "", hosts->host[i].name);
    } while (written < n_pes && written > round);
    return written;
}

static void srun_hosts_add(struct wsh_words *words, const struct wsh_hosts *hosts, int n_pes)
{
    bool differ = hosts_differ(hosts);
    char *list = NULL;
    size_t size;
    FILE *text = hosts->n ? open_memstream(&list, &size) : NULL;
    int n = n_pes;

    if (!text)
        return;
    if (differ)
        n = hosts_repeat(text, hosts, n_pes);
    else
        for (int i = 0; i < hosts->n; i++)
            fprintf(text, "%s%s", i ? "," : "", hosts->host[i].name);
    fclose(text);
    if (differ) /* Slurm 24 refuses it with --nodes */
        word_add(words, "--distribution=arbitrary");
    else
        word_add(words, "--nodes=%d", hosts->n);
    word_add(words, "--nodelist=%s", list);
    if (differ && !n_pes)
        word_add(words, "--ntasks=%d", n);
    if (!differ && hosts->host[0].slots)
        word_add(words, "--ntasks-per-node=%d", hosts->host[0].slots);
    free(list);
}

/* Standard input for PE 0 only, and the end of all on the first failure: as oshrun itself does. */
static int srun_translate(struct wsh_words *words, const struct wsh_args *args, const struct wsh_hosts *hosts)
{
    word_add(words, "--mpi=pmix");
    word_add(words, "--kill-on-bad-exit=1");
    word_add(words, "--input=0");
    word_add(words, "--export=ALL");
    if (args->n_pes)
        word_add(words, "--ntasks=%d", args->n_pes);
    if (args->bind_given)
        word_add(words, "--cpu-bind=%s", binding_words[WSH_SRUN][args->bind]);
    if (args->tag)
        word_add(words, "--label");
    if (args->timestamp)
        return option_refuse(WSH_SRUN, "--timestamp");
    if (args->output)
        output_files_add(words, args->output);
    srun_hosts_add(words, hosts, args->n_pes);
    return 0;
}

static bool text_names_setting(const char *text)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (!strncmp(text, settings[i], strlen(settings[i])))
            return true;
    return false;
}

/* Values stand in our own environment by now, so names are enough, and commas in values are no matter. */
static void exports_add(struct wsh_words *words, const struct wsh_args *args)
{
    for (char **at = args->exports; *at; at++) {
        word_add(words, "-x");
        word_add(words, "%.*s", (int)strcspn(*at, "="), *at);
    }
    for (char **at = environ; *at; at++) {
        int len = (int)strcspn(*at, "=");
        bool given = !text_names_setting(*at);

        for (char **other = args->exports; *other && !given; other++)
            given = (int)strcspn(*other, "=") == len && !strncmp(*other, *at, (size_t)len);
        if (given)
            continue;
        word_add(words, "-x");
        word_add(words, "%.*s", len, *at);
    }
}

static void open_mpi_hosts_add(struct wsh_words *words, const struct wsh_hosts *hosts)
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
    word_add(words, "--host");
    word_add(words, "%s", list);
    free(list);
}

static void output_add(struct wsh_words *words, enum wsh_launcher launcher, const struct wsh_args *args)
{
    if (launcher == WSH_MPIRUN) {
        if (args->tag)
            word_add(words, "--tag-output");
        if (args->timestamp)
            word_add(words, "--timestamp-output");
        if (args->output) {
            word_add(words, "--output-filename");
            word_add(words, "%s", args->output);
        }
        return;
    }
    if (!args->tag && !args->timestamp && !args->output)
        return;
    word_add(words, "--output");
    word_add(words, "%s%s%s%s%s%s", args->tag ? "tag" : "",
             args->tag && (args->timestamp || args->output) ? "," : "", args->timestamp ? "timestamp" : "",
             args->timestamp && args->output ? "," : "", args->output ? "file=" : "",
             args->output ? args->output : "");
}

/* Permits root, and more PEs than cores, as oshrun does. */
static int open_mpi_translate(struct wsh_words *words, enum wsh_launcher launcher,
                              const struct wsh_args *args, const struct wsh_hosts *hosts)
{
    if (geteuid() == 0)
        word_add(words, "--allow-run-as-root");
    if (launcher == WSH_MPIRUN) {
        word_add(words, "--oversubscribe");
    } else {
        word_add(words, "--map-by");
        word_add(words, ":OVERSUBSCRIBE");
    }
    if (args->n_pes) {
        word_add(words, "-n");
        word_add(words, "%d", args->n_pes);
    }
    open_mpi_hosts_add(words, hosts);
    if (args->bind_given) {
        word_add(words, "--bind-to");
        word_add(words, "%s", binding_words[launcher][args->bind]);
    }
    output_add(words, launcher, args);
    exports_add(words, args);
    return 0;
}

/* What stands before the program may be on the other hosts alone. */
static int wrap_add(struct wsh_words *words, const char *wrap)
{
    char *script = wsh_wrap_script(wrap, true);

    if (!script) {
        wsh_say("out of memory");
        return OSHRUN_FAILED;
    }
    word_add(words, "/bin/sh");
    word_add(words, "-c");
    word_add(words, "%s", script);
    word_add(words, "oshrun");
    free(script);
    return 0;
}

int wsh_translate(enum wsh_launcher launcher, const char *path, const struct wsh_args *args,
                  const struct wsh_hosts *hosts, struct wsh_words *words)
{
    int rc;

    *words = (struct wsh_words){0};
    if (args->nodes_given)
        return option_refuse(launcher, "--nodes-emulated");
    if (args->emulate)
        return option_refuse(launcher, "--emulate-efa");
    if (args->top) {
        wsh_say("--top shows PEs that oshrun starts itself, and %s starts these; run `warpshmem-info --top "
                "PID` on "
                "a host of the job, with the process id of a PE there",
                launcher == WSH_SRUN ? "srun" : "another launcher");
        return OSHRUN_USAGE;
    }
    if (args->kill_wait_given)
        return option_refuse(launcher, "--kill-wait");
    if (args->survive)
        return option_refuse(launcher, "--on-pe-failure");
    if (args->gdb) {
        wsh_say(
            "--gdb is for PEs that oshrun starts itself; write --wrap 'gdb -batch -ex run -ex bt --args', "
            "or set OSHRUN_LAUNCHER=local to stay on this machine");
        return OSHRUN_USAGE;
    }
    word_add(words, "%s", path);
    rc = launcher == WSH_SRUN ? srun_translate(words, args, hosts)
                              : open_mpi_translate(words, launcher, args, hosts);
    if (!rc && args->wrap)
        rc = wrap_add(words, args->wrap);
    for (char **at = args->program; *at; at++)
        word_add(words, "%s", *at);
    return rc;
}
