/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs calls in children, with the library's lines in a file. */
#include "test/common/child.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRONG_RESULT = 9, SAID = 4096 };

static _Noreturn void child_run(const struct child_call *call, int flags, FILE *said)
{
    bool right;

    alarm(60);
    setenv("SHMEM_BOOTSTRAP", "single", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    setenv("SHMEM_DEBUG", flags & CHILD_CHECKED ? "check" : "", 1);
    dup2(fileno(said), STDERR_FILENO);
    if (!(flags & CHILD_NO_INIT))
        shmem_init();
    right = call->make();
    if (!(flags & CHILD_NO_INIT))
        shmem_finalize();
    _exit(right ? 0 : WRONG_RESULT);
}

static int lines_of(const char *text)
{
    int lines = 0;

    while ((text = strchr(text, '\n'))) {
        lines++;
        text++;
    }
    return lines;
}

/* NULL where the call ended as it should. */
static const char *what_is_wrong(const struct child_call *call, int status, const char *said)
{
    if (!WIFEXITED(status))
        return "ended by a signal";
    if (WEXITSTATUS(status) == WRONG_RESULT)
        return "not what the contract says";
    if (WEXITSTATUS(status) > 1)
        return "another exit status";
    if (WEXITSTATUS(status) == 1 && !call->line)
        return "ended the job";
    if (lines_of(said) != (call->line ? 1 : 0))
        return "not one line, or one too many";
    return call->line && !strstr(said, call->line) ? "another line" : NULL;
}

static bool call_passes(const struct child_call *call, int flags)
{
    char text[SAID + 1] = "";
    FILE *said = tmpfile();
    const char *wrong;
    int status = 0;
    pid_t pid;

    fflush(stdout);
    pid = said ? fork() : -1;
    if (pid < 0) {
        perror("a child");
        return false;
    }
    if (!pid)
        child_run(call, flags, said);
    waitpid(pid, &status, 0);
    rewind(said);
    text[fread(text, 1, SAID, said)] = 0;
    fclose(said);
    wrong = what_is_wrong(call, status, text);
    if (wrong)
        printf("%s: %s (status %#x), wanted '%s': %s\n", call->name, wrong, (unsigned)status,
               call->line ? call->line : "", text);
    return !wrong;
}

int child_calls(const struct child_call *calls, int flags)
{
    int wrong = 0;

    for (; calls->name; calls++)
        wrong += !call_passes(calls, flags);
    return wrong;
}
