/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs addr2line, and reads two lines of it for each address. In a process that crashes: nothing here allocates. */
#define _GNU_SOURCE
#include "base/process/lines.h"

#include "base/env/env.h"
#include "base/process/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 10

/* The first file of PATH that can be executed; "" where there is none. */
static void tool_find(const char *name, char *path, size_t size)
{
    const char *at = wsh_env_foreign("PATH");

    for (at = at ? at : "/usr/bin:/bin"; *at; at += *at == ':') {
        size_t len = strcspn(at, ":");
        struct wsh_text text = {path, size, 0};

        wsh_text_add_n(&text, at, len);
        wsh_text_add(&text, "/");
        wsh_text_add(&text, name);
        if (len && text.used + 1 < size && !access(path, X_OK))
            return;
        at += len;
    }
    *path = '\0';
}

static long long now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

/* What is preloaded into this process is not for the tool, and it looks nothing up in the network. */
static pid_t tool_start(const char *path, char *const *words, int out)
{
    static char *const env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
    pid_t pid = vfork();

    if (pid)
        return pid < 0 ? -errno : pid;
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execve(path, words, env);
    _exit(127);
}

/* 0 at the end of the output, -ETIMEDOUT. */
static int output_read(int fd, char *text, size_t size, long long until)
{
    size_t used = 0;

    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        long long left = until - now_ms();
        char rest[256];
        ssize_t got;

        if (left <= 0)
            return -ETIMEDOUT;
        if (poll(&ready, 1, (int)left) <= 0)
            continue;
        got = used + 1 < size ? read(fd, text + used, size - used - 1) : read(fd, rest, sizeof rest);
        if (got <= 0 && errno != EINTR)
            return 0;
        if (got > 0 && used + 1 < size)
            text[used += (size_t)got] = '\0';
    }
}

/* A program that waits for its children in a handler may have taken this one. */
static int tool_wait(pid_t pid, long long until)
{
    pid_t ended;

    while (!(ended = waitpid(pid, NULL, WNOHANG)) && now_ms() < until)
        poll(NULL, 0, 10);
    if (ended)
        return 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -ETIMEDOUT;
}

int wsh_tool_run(char *const *words, int out, int read, char *text, size_t size, int seconds)
{
    long long until = now_ms() + seconds * 1000LL;
    char path[PATH_MAX];
    pid_t pid;
    int rc = 0, waited;

    tool_find(words[0], path, sizeof path);
    pid = *path ? tool_start(path, words, out) : -ENOENT;
    if (read >= 0)
        close(out);
    if (pid < 0)
        return pid;
    if (read >= 0)
        rc = output_read(read, text, size, until);
    waited = tool_wait(pid, rc ? 0 : until);
    return rc ? rc : waited;
}

/* "relax\n/src/halo.c:42 (discriminator 3)\n"; addr2line writes ?? for what it does not know. */
static const char *answer_take(const char *at, struct wsh_line *line)
{
    size_t len = strcspn(at, "\n");
    const char *place = at + len + (at[len] == '\n'), *name = place, *end;

    for (end = place; *end && *end != '\n' && *end != ' '; end++)
        if (*end == '/')
            name = end + 1;
    if (*at != '?')
        wsh_text_set(line->routine, sizeof line->routine, at, len);
    if (*name != '?' && end > name && end[-1] != '?')
        wsh_text_set(line->place, sizeof line->place, name, (size_t)(end - name));
    end = strchrnul(place, '\n');
    return end + (*end == '\n');
}

void wsh_lines_find(const char *file, struct wsh_line *line, int n)
{
    static char text[WSH_LINES * 1024];
    char address[WSH_LINES][24],
        *words[WSH_LINES + 8] = {"addr2line", "-f", "-C", "-e", (char *)(size_t)file};
    const char *at = text;
    int fds[2], rc;

    if (n > WSH_LINES || pipe2(fds, O_CLOEXEC))
        return;
    for (int i = 0; i < n; i++) {
        struct wsh_text hex = {address[i], sizeof address[i], 0};

        wsh_text_add_hex(&hex, line[i].address);
        words[5 + i] = address[i];
    }
    text[0] = '\0';
    rc = wsh_tool_run(words, fds[1], fds[0], text, sizeof text, SECONDS);
    close(fds[0]);
    for (int i = 0; i < n && !rc && *at; i++)
        at = answer_take(at, &line[i]);
}
