/* SPDX-License-Identifier: BSD-3-Clause */
/* A process counts as dead only when it is: not where a signal cut the look at it short, or none could be made. */
#include "emulator/fabric/process.h"

#include "test/common/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int interrupted; /* looks that a signal cuts short */

/* In place of libc's. */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
    if (interrupted) {
        interrupted--;
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_poll, fds, n, ms);
}

static pid_t child_start(void)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    for (;;)
        pause();
}

static void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_signal_is_no_death(void)
{
    pid_t pid = child_start();
    uint64_t start = emu_process_start_time(pid);
    int fd = emu_process_open(pid);

    CU_ASSERT_TRUE_FATAL(pid > 0 && start);
    interrupted = 3;
    for (int i = 0; i < 5; i++)
        CU_ASSERT_TRUE(emu_process_alive(pid, fd, start));
    interrupted = 0;
    child_end(pid);
    CU_ASSERT_FALSE(emu_process_alive(pid, fd, start));
    if (fd >= 0)
        close(fd);
}

static void no_descriptor_is_no_death(void)
{
    pid_t pid = child_start();
    uint64_t start = emu_process_start_time(pid);
    struct rlimit limit, none;

    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
    CU_ASSERT_EQUAL(emu_process_start_time(pid), EMU_START_UNKNOWN);
    CU_ASSERT_TRUE(emu_process_alive(pid, -1, start));
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CU_ASSERT_TRUE(emu_process_alive(pid, -1, start));
    CU_ASSERT_FALSE(emu_process_alive(pid, -1, start + 1)); /* another one of that number */
    child_end(pid);
    CU_ASSERT_FALSE(emu_process_alive(pid, -1, start));
}

static void a_closed_descriptor_is_no_death(void)
{
    pid_t pid = child_start();
    uint64_t start = emu_process_start_time(pid);
    int fd = emu_process_open(pid);

    if (fd >= 0) {
        close(fd);
        CU_ASSERT_TRUE(emu_process_alive(pid, fd, start));
    }
    child_end(pid);
    CU_ASSERT_FALSE(emu_process_alive(pid, fd, start));
}

const struct unit_test unit_tests[] = {
    {"a look that a signal cuts short finds no death", a_signal_is_no_death},
    {"nor does one without a descriptor", no_descriptor_is_no_death},
    {"nor one at a descriptor that the program has closed", a_closed_descriptor_is_no_death},
    {NULL, NULL},
};
