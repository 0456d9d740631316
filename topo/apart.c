/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads topology files in a process of their own. hwloc trusts what it reads: a damaged file may end the process that
 * reads it by a signal, or damage its memory. Here the PE goes on, and says which file it was.
 */
#define _GNU_SOURCE
#include "topo/read.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_S 20 /* a file of a large machine takes a tenth of a second */

/* Shared with the reader, which answers by this alone: an exit status may be taken by a handler of the program. */
struct reading {
    bool over;
    int rc;
    struct wsh_topo topo;
};

/* hwloc does not say why it cannot read a file. */
static int file_refuse(const char *xml)
{
    FILE *file = fopen(xml, "re");

    if (file) {
        fclose(file);
        wsh_error(
            "'%s' is not a topology XML that hwloc can read; make one on that machine with: lstopo FILE.xml",
            xml);
        return -EINVAL;
    }
    wsh_error("cannot read the topology XML '%s': %s; make one on that machine with: lstopo FILE.xml", xml,
              wsh_strerror(errno));
    return -ENOENT;
}

static int crash_say(const char *xml, int status)
{
    char why[64] = "ends";

    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(why, sizeof why, "takes more than %d s", READ_S);
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "is ended by signal %d", WTERMSIG(status));
    wsh_error("'%s' is a damaged topology XML: hwloc %s when it reads it; make one on that machine with: "
              "lstopo FILE.xml",
              xml, why);
    return -EINVAL;
}

/* The program's handlers are not for this process, and neither is its standard error: hwloc and libc write there. */
static void reader_prepare(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGTERM, SIGINT};
    const struct rlimit no_core = {0, 0};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    sigset_t none;

    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        signal(fatal[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    if (null >= 0)
        dup2(null, STDERR_FILENO);
    alarm(READ_S);
}

static _Noreturn void reader_run(struct reading *reading, const char *xml)
{
    reader_prepare();
    reading->rc = wsh_topo_read(&reading->topo, xml);
    __atomic_store_n(&reading->over, true, __ATOMIC_RELEASE); /* partner: reader_wait */
    _exit(0);
}

static bool dev_is_sound(const struct wsh_topo_dev *dev)
{
    return memchr(dev->name, 0, sizeof dev->name) && memchr(dev->pci, 0, sizeof dev->pci) &&
           memchr(dev->uuid, 0, sizeof dev->uuid) && dev->location.n_bridges >= 0 &&
           dev->location.n_bridges <= WSH_TOPO_BRIDGES;
}

/* What a reader with damaged memory leaves may be anything. */
static bool topo_is_sound(const struct wsh_topo *topo)
{
    if (topo->n_nics < 0 || topo->n_nics > WSH_TOPO_NICS || topo->n_gpus < 0 ||
        topo->n_gpus > WSH_TOPO_GPUS || topo->packages < 0 || topo->numa_nodes < 0)
        return false;
    for (int i = 0; i < topo->n_nics; i++)
        if (!dev_is_sound(&topo->nic[i]))
            return false;
    for (int i = 0; i < topo->n_gpus; i++)
        if (!dev_is_sound(&topo->gpu[i]))
            return false;
    return true;
}

/* 0, or an error after its line. */
static int reader_wait(pid_t pid, const struct reading *reading, const char *xml)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!__atomic_load_n(&reading->over, __ATOMIC_ACQUIRE)) /* partner: reader_run */
        return crash_say(xml, status);
    if (reading->rc)
        return file_refuse(xml);
    return topo_is_sound(&reading->topo) ? 0 : crash_say(xml, 0);
}

static int read_apart(struct wsh_topo *topo, const char *xml)
{
    struct reading *reading =
        mmap(NULL, sizeof *reading, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = reading == MAP_FAILED ? -1 : fork();
    int rc;

    if (!pid)
        reader_run(reading, xml);
    rc = pid < 0 ? -errno : reader_wait(pid, reading, xml);
    if (pid < 0)
        wsh_error("no process to read the topology XML '%s' in: %s; raise the limit of processes (ulimit -u)",
                  xml, wsh_strerror(-rc));
    else if (!rc)
        *topo = reading->topo;
    if (reading != MAP_FAILED)
        munmap(reading, sizeof *reading);
    return rc;
}

int wsh_topo_load(struct wsh_topo *topo, const char *xml)
{
    const char *why = xml ? wsh_topo_lacks() : NULL;

    memset(topo, 0, sizeof *topo);
    if (!why)
        return xml ? read_apart(topo, xml) : wsh_topo_read(topo, NULL);
    wsh_error("the topology XML '%s' cannot be read without hwloc: %s", xml, why);
    return -ELIBACC;
}
