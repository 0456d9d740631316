/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever is given to oshrun: its options are read and translated for other launchers, or refused with one line. An
 * input is one word a line; what follows an empty line is the host file named @.
 */
#define _GNU_SOURCE
#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/command.h"
#include "bootstrap/oshrun/launchers/other_launcher.h"
#include "bootstrap/oshrun/launchers/delegate.h"
#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/spawn.h"
#include "bootstrap/oshrun/launchers/translate.h"
#include "test/fuzz/common/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORDS_MAX = 64 };

static unsigned said;

void wsh_say(const char *fmt, ...)
{
    char line[4096];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    said++;
}

void wsh_say_more(const char *fmt, ...)
{
    (void)fmt;
}

/* No launcher is looked for: OSHRUN_LAUNCHER is local. */
int wsh_program_find(const char *name, char **path)
{
    (void)name, (void)path;
    fuzz_fail("no launcher is started", __FILE__, __LINE__);
}

int wsh_program_is_there(const char *name)
{
    (void)name;
    fuzz_fail("no launcher is looked for", __FILE__, __LINE__);
}

/* Nothing is started, so nothing that --wrap names is looked for, and no stream is given to gdb. */
int wsh_program_check(const char *name)
{
    (void)name;
    fuzz_fail("nothing is started", __FILE__, __LINE__);
}

int wsh_say_fd(void)
{
    fuzz_fail("nothing is started", __FILE__, __LINE__);
}

int wsh_below_run(const char *launcher, const char *path, char **argv)
{
    (void)launcher, (void)path, (void)argv;
    fuzz_fail("no launcher is started", __FILE__, __LINE__);
}

static void words_check(const struct wsh_args *args, char **argv, int argc)
{
    FUZZ_CHECK(args->n_pes >= 0 && args->n_pes <= WSH_OSHRUN_MAX_PES && args->nodes_emulated >= 1);
    FUZZ_CHECK(args->program > argv && args->program <= argv + argc);
    FUZZ_CHECK(args->kill_wait >= 0 && args->kill_wait <= WSH_OSHRUN_MAX_KILL_WAIT);
    FUZZ_CHECK(!args->emulate || wsh_emulate_knows(args->emulate));
    for (char **at = args->exports; *at; at++)
        FUZZ_CHECK(**at && **at != '=');
}

static void launchers_try(const struct wsh_args *args)
{
    static const enum wsh_launcher launchers[] = {WSH_SRUN, WSH_PRTERUN, WSH_MPIRUN};
    struct wsh_host host[] = {{"one", 2}, {"two", 2}};
    const struct wsh_hosts none = {0}, two = {host, 2};

    for (unsigned i = 0; i < 6; i++) {
        struct wsh_words words;
        unsigned before = said;
        int rc = wsh_translate(launchers[i % 3], "/bin/launcher", args, i < 3 ? &none : &two, &words);

        FUZZ_CHECK(said - before == (rc ? 1u : 0u));
        FUZZ_CHECK(rc || (words.n > 1 && !words.word[words.n]));
        wsh_words_free(&words);
    }
}

static void args_try(int argc, char **argv)
{
    struct wsh_args args;
    bool ran = false;
    int rc = wsh_args_parse(&args, argc, argv);

    FUZZ_CHECK((rc == 0 || rc == OSHRUN_USAGE) && said == (rc ? 1u : 0u));
    if (!rc && !args.help && !args.version) {
        words_check(&args, argv, argc);
        launchers_try(&args);
        said = 0;
        rc = wsh_delegate(&args, &ran);
        FUZZ_CHECK(!ran && (rc == 0 || rc == OSHRUN_USAGE) && said == (rc ? 1u : 0u));
    }
    wsh_args_fini(&args);
}

/* The path of a file with this text. */
static int file_make(const char *text, char *path, size_t size)
{
    int fd = memfd_create("hosts", MFD_CLOEXEC);

    FUZZ_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    snprintf(path, size, "/proc/self/fd/%d", fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    char *text = fuzz_text(&in), *hosts = strstr(text, "\n\n"), *argv[WORDS_MAX + 2] = {"oshrun"}, path[64];
    int argc = 1, fd = file_make(hosts ? hosts + 2 : "", path, sizeof path);

    setenv("OSHRUN_LAUNCHER", "local", 1);
    unsetenv("SLURM_JOB_ID");
    if (hosts)
        *hosts = '\0';
    for (char *rest = text, *word; argc <= WORDS_MAX && (word = strsep(&rest, "\n"));)
        argv[argc++] = strcmp(word, "@") ? word : path;
    argv[argc] = NULL;
    said = 0;
    args_try(argc, argv);
    close(fd);
    free(text);
    return 0;
}
