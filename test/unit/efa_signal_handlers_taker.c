/* SPDX-License-Identifier: BSD-3-Clause */
/* A library like libinfinipath: its constructor takes signals unless told not to; TAKE_ANYWAY: even then. */
#include <signal.h>
#include <stdlib.h>

static void end_badly(int sig)
{
    (void)sig;
    exit(1);
}

static void end_worse(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    exit(1);
}

__attribute__((constructor)) static void take_signals(void)
{
    const struct sigaction plain = {.sa_handler = end_badly};
    const struct sigaction detailed = {.sa_sigaction = end_worse, .sa_flags = SA_SIGINFO};

    if (getenv("IPATH_NO_BACKTRACE") && getenv("HFI_NO_BACKTRACE") && !getenv("TAKE_ANYWAY"))
        return;
    sigaction(SIGSEGV, &plain, NULL);
    sigaction(SIGABRT, &plain, NULL);
    sigaction(SIGTERM, &plain, NULL);
    sigaction(SIGUSR2, &detailed, NULL);
    sigaction(SIGRTMAX, &detailed, NULL);
    signal(SIGINT, SIG_IGN);
}
