/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages go out by level and subsystem, each as one whole line with the PE in front. */
#define _GNU_SOURCE
#include "base/log.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_all(void *arg)
{
    (void)arg;
    wsh_error("one");
    wsh_warn("two");
    wsh_info(WSH_SUB_MEM, "three");
    wsh_trace(WSH_SUB_MEM, "four");
    wsh_info(WSH_SUB_COLL, "five");
}

/* What say_all prints under SHMEM_DEBUG=spec. */
static size_t lines_with(const char *spec)
{
    char text[4096];
    int rc = wsh_log_open(spec, NULL);

    CU_ASSERT_EQUAL(rc, 0);
    unit_capture(say_all, NULL, text, sizeof text);
    wsh_log_close();
    return unit_lines(text);
}

static void levels_choose(void)
{
    CU_ASSERT_EQUAL(lines_with(NULL), 2);
    CU_ASSERT_EQUAL(lines_with("error"), 1);
    CU_ASSERT_EQUAL(lines_with("warn"), 2);
    CU_ASSERT_EQUAL(lines_with("info"), 4);
    CU_ASSERT_EQUAL(lines_with("trace"), 5);
}

static void subsystems_choose(void)
{
    CU_ASSERT_EQUAL(lines_with("MEM"), 3);
    CU_ASSERT_EQUAL(lines_with("trace,MEM"), 4);
    CU_ASSERT_EQUAL(lines_with("info,COLL"), 3);
    CU_ASSERT_EQUAL(lines_with("mem,coll"), 4);
    CU_ASSERT_EQUAL(lines_with("TOPO"), 2);
}

static void open_bad(void *arg)
{
    CU_ASSERT(wsh_log_open(arg, NULL) == -EINVAL);
}

static void names_a_bad_word(void)
{
    char text[4096];

    unit_capture(open_bad, "info,banana", text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT(strstr(text, "banana") && strstr(text, "SHMEM_DEBUG"));
    wsh_log_close();
}

static void open_bad_file(void *arg)
{
    CU_ASSERT(wsh_log_open(NULL, arg) < 0);
}

static void names_a_bad_file(void)
{
    char text[4096];

    unit_capture(open_bad_file, "/nonexistent/folder/x", text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT(strstr(text, "/nonexistent/folder/x") && strstr(text, "SHMEM_DEBUG_FILE"));
    wsh_log_close();
}

static void lines_name_the_pe(void)
{
    char text[4096], pid[32];

    wsh_log_set_pe(13);
    unit_capture(say_all, NULL, text, sizeof text);
    snprintf(pid, sizeof pid, ", %d)", (int)getpid());
    CU_ASSERT(strstr(text, "PE 13 (") && strstr(text, pid));
    wsh_log_set_pe(-1);
    unit_capture(say_all, NULL, text, sizeof text);
    CU_ASSERT(!strstr(text, "PE 13"));
}

static void say_long(void *arg)
{
    wsh_error("%s", (const char *)arg);
}

static void long_messages_stay_one_line(void)
{
    static char message[5000], text[8192];

    memset(message, 'x', sizeof message - 1);
    unit_capture(say_long, message, text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT(strlen(text) > 1000 && text[strlen(text) - 1] == '\n');
}

static void say_signal_safe(void *arg)
{
    (void)arg;
    wsh_log_signal_safe("from a handler");
}

static void speaks_from_a_handler(void)
{
    char text[4096];

    unit_capture(say_signal_safe, NULL, text, sizeof text);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT(strstr(text, "from a handler") != NULL);
}

static void writes_to_a_file(void)
{
    char path[] = "/tmp/wsh-unit-log-XXXXXX", pattern[64], text[4096], real[64];
    int fd = mkstemp(path);
    FILE *file;

    snprintf(pattern, sizeof pattern, "%s.%%p", path);
    snprintf(real, sizeof real, "%s.%d", path, (int)getpid());
    CU_ASSERT_EQUAL(wsh_log_open("info", pattern), 0);
    unit_capture(say_all, NULL, text, sizeof text);
    wsh_log_close();
    CU_ASSERT_EQUAL(unit_lines(text), 2);
    file = fopen(real, "r");
    CU_ASSERT_PTR_NOT_NULL(file);
    text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
    CU_ASSERT_EQUAL(unit_lines(text), 4);
    if (file)
        fclose(file);
    close(fd);
    unlink(path);
    unlink(real);
}

static int slower_result;

static void say_slower(void *strict)
{
    slower_result = wsh_log_slower(*(bool *)strict, WSH_LOG_WARN, "small pages");
}

static void slower_is_an_error_only_if_strict(void)
{
    bool strict = false;
    char text[256];

    unit_capture(say_slower, &strict, text, sizeof text);
    CU_ASSERT_EQUAL(slower_result, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "warning: small pages"));
    strict = true;
    unit_capture(say_slower, &strict, text, sizeof text);
    CU_ASSERT_EQUAL(slower_result, -ENOTSUP);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "SHMEM_STRICT"));
}

static void hold_three(void *arg)
{
    (void)arg;
    wsh_log_last_error();
    CU_ASSERT(!wsh_log_hold(true));
    wsh_error("asked for");
    CU_ASSERT_STRING_EQUAL(wsh_log_last_error() + strlen("warpshmem: "), "asked for");
    wsh_error("followed by another");
    wsh_error("kept to the end");
    CU_ASSERT(wsh_log_hold(false));
    wsh_error("not held");
}

/* What somebody asks for is not printed; all else is, in its order. */
static void errors_are_held(void)
{
    char text[4096];

    unit_capture(hold_three, NULL, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(
        text, "warpshmem: followed by another\nwarpshmem: kept to the end\nwarpshmem: not held\n");
}

const struct unit_test unit_tests[] = {
    {"errors are held", errors_are_held},
    {"levels choose", levels_choose},
    {"subsystems choose", subsystems_choose},
    {"names a bad word", names_a_bad_word},
    {"names a bad file", names_a_bad_file},
    {"lines name the PE", lines_name_the_pe},
    {"long messages stay one line", long_messages_stay_one_line},
    {"speaks from a handler", speaks_from_a_handler},
    {"writes to a file", writes_to_a_file},
    {"slower is an error only if strict", slower_is_an_error_only_if_strict},
    {NULL, NULL},
};
