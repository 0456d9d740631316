/* SPDX-License-Identifier: BSD-3-Clause */
/* Of libpmix's lines oshrun knows the one after which no connection is taken, as each version of libpmix words it. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/server/pmix_lines.h"

#include "test/common/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What libpmix prints, and what oshrun makes of it. */
struct words {
    const char *lines;
    bool last;
    char said[2048];
};

static bool words_read(const char *lines, bool failed)
{
    struct wsh_pollset set = {0};
    struct wsh_pmix_words words;
    size_t len = strlen(lines);
    bool last;

    wsh_pmix_words_begin(&words);
    CU_ASSERT_FATAL(words.fds[0] >= 0 && getenv("PMIX_OUTPUT_STDERR_FD"));
    CU_ASSERT(write(atoi(getenv("PMIX_OUTPUT_STDERR_FD")), lines, len) == (ssize_t)len);
    wsh_pmix_words_begun(&words);
    CU_ASSERT(!getenv("PMIX_OUTPUT_STDERR_FD"));
    wsh_pmix_words_poll(&words, &set);
    wsh_pollset_wait(&set, 0);
    last = wsh_pmix_words_work(&words, &set);
    wsh_pmix_words_say(&words, failed, false);
    wsh_pmix_words_say(&words, failed, true);
    CU_ASSERT(wsh_pmix_words_wait(&words) < 0);
    close(words.fds[0]);
    close(words.fds[1]);
    wsh_pollset_free(&set);
    return last;
}

static struct words words_take_of(const char *lines, bool failed)
{
    int to = wsh_say_fd(), saved = dup(to), file = memfd_create("said", MFD_CLOEXEC);
    struct words these = {.lines = lines};

    dup2(file, to);
    these.last = words_read(lines, failed);
    dup2(saved, to);
    CU_ASSERT(pread(file, these.said, sizeof these.said - 1, 0) >= 0);
    close(saved);
    close(file);
    return these;
}

static struct words words_take(const char *lines)
{
    return words_take_of(lines, false);
}

static void last_word(void)
{
    static const char *const lines[] = {
        "[vm:1] PMIX ERROR: OUT-OF-RESOURCE in file ptl_base_listener.c at line 282\n",
        "[vm:1] PMIX ERROR: PMIX_ERR_OUT_OF_RESOURCE in file ../src/mca/ptl/base/ptl_base_listener.c at line "
        "151\n",
        "[vm:1] PMIX ERROR: PMIX_ERR_OUT_OF_RESOURCE in file ../src/mca/ptl/base/ptl_base_listener.c at line "
        "289\n"
        "-----------\nWARNING: The accept(3) system call failed on a TCP socket.  While this\n-----------\n",
        "ptl:base:listener: accept() failed: Too many open files (24).\n"};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct words these = words_take(lines[i]);

        CU_ASSERT(these.last && !*these.said);
    }
}

static void one_line_of_errors(void)
{
    struct words these =
        words_take("[vm:1] PMIX ERROR: PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER in file unpack.c\n"
                   "[vm:1] PMIX ERROR: PMIX_ERR_OUT_OF_RESOURCE in file unpack.c\n");

    CU_ASSERT(!these.last && unit_lines(these.said) == 1);
    CU_ASSERT(strstr(these.said, "oshrun: libpmix: [vm:1] PMIX ERROR: PMIX_ERR_UNPACK") == these.said);
    CU_ASSERT(strstr(these.said, "of another program, which it refused, or of a PE with an older libpmix") !=
              NULL);
}

static void of_a_pe_that_has_failed(void)
{
    const char *line = "[vm:1] PMIX ERROR: UNREACHABLE in file ptl_base_connection_hdlr.c at line 388\n";
    struct words gone = words_take_of(line, true), other = words_take_of(line, false);

    CU_ASSERT(!*gone.said && unit_lines(other.said) == 1);
}

static void said_later(void)
{
    struct wsh_pmix_words words = {.fds = {-1, -1}, .held = "line", .until = wsh_now() + 0.05};

    wsh_pmix_words_say(&words, false, false);
    CU_ASSERT(*words.held && wsh_pmix_words_wait(&words) > 0);
    usleep(60000);
    CU_ASSERT(wsh_pmix_words_wait(&words) == 0);
    wsh_pmix_words_say(&words, true, false); /* not printed by the test */
    CU_ASSERT(!*words.held);
}

static void what_was_asked_for(void)
{
    struct words these = words_take("[vm:1] pmix:server init called\n[vm:1] psec: native\n");

    CU_ASSERT(!these.last && !strcmp(these.said, these.lines));
}

const struct unit_test unit_tests[] = {
    {"the last word of libpmix 4 to 7 is known, and left out with all behind it", last_word},
    {"of other errors the first one is said", one_line_of_errors},
    {"none of a PE that has failed", of_a_pe_that_has_failed},
    {"an error is held back for a while", said_later},
    {"what is no error comes as it is", what_was_asked_for},
    {NULL, NULL},
};
