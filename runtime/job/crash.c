/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler of signals that end a program which is wrong. It allocates nothing and takes no lock but those of the
 * unwinder, and a timer ends the process by the same signal if one of these is held.
 */
#define _GNU_SOURCE
#include "runtime/job/crash.h"

#include "base/log.h"
#include "base/process/crash.h"
#include "base/process/lines.h"
#include "base/process/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#define STACK_BYTES ((size_t)64 << 10)
#define UNWIND_SECONDS \
    1 /* a PE that dies ends its job soon, also where the unwinder waits for a lock of the loader */
#define PRINT_SECONDS 40
#define GDB_SECONDS 60
#define DEPTH 64
#ifndef sigev_notify_thread_id /* glibc's header has the field alone */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define N_SIGNALS (sizeof crash_signals / sizeof crash_signals[0])

static struct {
    char path[PATH_MAX]; /* of the note for oshrun; "": the PE prints itself */
    int how;             /* a number of enum wsh_env_backtrace */
    pid_t pid;
    pid_t thread; /* is at it; others wait for the end of the process. Relaxed: one exchange decides */
    const ucontext_t *at; /* of the crash, while the unwinder is at it */
    int sig;
    bool open;
} crash;

static _Alignas(
    16) char stack[STACK_BYTES]; /* of the thread that opens the job, whose own may be what has overflowed */
static struct wsh_crash note;

static void code_of(const ucontext_t *uc, void **pc, void **caller)
{
#if defined __x86_64__ && defined __GLIBC__
    *pc = (void *)uc->uc_mcontext.gregs[REG_RIP];
    *caller = (void *)uc->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    *pc = (void *)uc->uc_mcontext.pc;
    *caller = (void *)uc->uc_mcontext.regs[30];
#else
    *pc = *caller = NULL;
#endif
}

/*
 * The instruction, and where the program has jumped to no code the caller's address, which is what the call has left.
 * The stack may be what is damaged: the kernel reads the word.
 */
static int stack_top(const ucontext_t *uc, void **pc)
{
    code_of(uc, &pc[0], &pc[1]);
#ifdef __x86_64__
    void *caller = NULL;
    const struct iovec word = {&caller, sizeof caller}, top = {pc[1], sizeof caller};

    if (process_vm_readv(crash.pid, &word, 1, &top, 1, 0) != (ssize_t)sizeof caller)
        return 1;
    pc[1] = caller; /* the innermost word of the stack */
#endif
    return 2;
}

/* The instruction and its callers. */
static int stack_unwind(const ucontext_t *uc, void **pc)
{
    void *all[DEPTH];
    int n = 0, from = 0, top = stack_top(uc, pc);

#ifdef __GLIBC__
    n = backtrace(all, DEPTH);
#endif
    while (from < n && all[from] != pc[0])
        from++;
    if (from + 1 >= n)
        return top;
    for (int i = 0; from + i < n && i < DEPTH; i++)
        pc[i] = all[from + i];
    return n - from;
}

/* A second fault, or a lock that is held for ever, comes as the signal of the first, to this thread. */
static void watch(int sig, int seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = sig};
    const struct itimerspec once = {.it_value.tv_sec = seconds};
    static int timer = -1;
    sigset_t set;

    event.sigev_notify_thread_id = crash.thread;
    sigemptyset(&set);
    sigaddset(&set, sig);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (timer >= 0 || !syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer))
        syscall(SYS_timer_settime, timer, 0, &once, NULL);
}

static const char *name_of(int sig)
{
    switch (sig) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "SIGABRT";
    }
}

static void note_print(int sig)
{
    static char line[768], where[640];
    struct wsh_text text = {line, sizeof line, 0};

    wsh_crash_print(&note, where, sizeof where);
    wsh_text_add(&text, "crashed by ");
    wsh_text_add(&text, name_of(sig));
    wsh_text_add(&text, " ");
    wsh_text_add(&text, where);
    wsh_log_signal_safe(line);
}

static void gdb_print(void)
{
    static char number[24];
    static char *words[] = {"gdb", "-batch", "-nx", "-p", number, "-ex", "thread apply all backtrace", NULL};
    struct wsh_text text = {number, sizeof number, 0};

    wsh_text_add_base(&text, (uint64_t)crash.pid, 10);
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
#endif
    if (wsh_tool_run(words, STDERR_FILENO, -1, NULL, 0, GDB_SECONDS))
        wsh_log_signal_safe("SHMEM_BACKTRACE=gdb: gdb cannot be started; install it, or use execinfo");
}

/* What comes from now on ends the process. */
static void crash_tell(void *const *pc, int n)
{
    crash.at = NULL;
    signal(crash.sig, SIG_DFL);
    wsh_crash_locate(&note, pc, n);
    if (!*crash.path || !wsh_crash_write(crash.path, &note)) {
        watch(crash.sig, PRINT_SECONDS);
        note_print(crash.sig);
    }
    if (crash.how == WSH_BACKTRACE_GDB) {
        watch(crash.sig, GDB_SECONDS);
        gdb_print();
    }
}

static void crash_first(int sig, const siginfo_t *info, const ucontext_t *uc)
{
    static void *pc[DEPTH];

    note.version = WSH_CRASH_VERSION;
    note.sig = crash.sig = sig;
    note.has_address = (sig == SIGSEGV || sig == SIGBUS) && info->si_code > 0 && info->si_code != SI_KERNEL;
    note.address = note.has_address ? (uintptr_t)info->si_addr : 0;
    crash.at = uc;
    watch(sig, UNWIND_SECONDS);
    crash_tell(pc, stack_unwind(uc, pc));
}

/* The unwinder has met a damaged stack, or a lock that the thread holds: at least where it was is known. */
static void crash_again(void)
{
    void *pc[2];

    if (crash.at)
        crash_tell(pc, stack_top(crash.at, pc));
    signal(crash.sig, SIG_DFL);
    syscall(SYS_tgkill, getpid(), crash.thread, crash.sig);
}

/* On return a fault happens again, now with the default action; a signal that was sent is sent again. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
    pid_t thread = (pid_t)syscall(SYS_gettid), none = 0;

    if (getpid() != crash.pid) /* a forked child is no PE */
        signal(sig, SIG_DFL);
    else if (__atomic_compare_exchange_n(&crash.thread, &none, thread, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
        crash_first(sig, info, context);
    else if (none == thread)
        crash_again();
    else
        for (;;)
            poll(NULL, 0, -1);
    signal(sig, SIG_DFL); /* in this handler something else has gone wrong */
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), thread, sig);
}

/* A sanitizer says more, also of what it does not handle. */
static bool has_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") ||
           dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path");
}

/* The unwinder is loaded now, not in the handler; an alternative stack that the program has is kept. */
static void stack_prepare(void)
{
    const stack_t ours = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t before;
#ifdef __GLIBC__
    void *one[2];

    (void)backtrace(one, 2);
#endif
    if (!sigaltstack(NULL, &before) && before.ss_flags & SS_DISABLE)
        sigaltstack(&ours, NULL);
}

int wsh_crash_open(struct wsh_job *job)
{
    struct sigaction old, act = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    crash.how = job->env.backtrace;
    crash.pid = getpid();
    crash.path[0] = '\0';
    if (crash.how == WSH_BACKTRACE_NONE || has_sanitizer())
        return 0;
    if (job->env.oshrun_file)
        wsh_crash_path(job->env.oshrun_file, job->my_pe, crash.path, sizeof crash.path);
    stack_prepare();
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (!sigaction(crash_signals[i], NULL, &old) && !(old.sa_flags & SA_SIGINFO) &&
            old.sa_handler == SIG_DFL)
            sigaction(crash_signals[i], &act, NULL);
    crash.open = true;
    return 0;
}

void wsh_crash_close(struct wsh_job *job)
{
    struct sigaction old, act = {.sa_handler = SIG_DFL};
    stack_t now;

    (void)job;
    if (!crash.open)
        return;
    crash.open = false;
    for (size_t i = 0; i < N_SIGNALS; i++)
        if (!sigaction(crash_signals[i], NULL, &old) && old.sa_flags & SA_SIGINFO &&
            old.sa_sigaction == on_crash)
            sigaction(crash_signals[i], &act, NULL);
    if (!sigaltstack(NULL, &now) && now.ss_sp == stack && !(now.ss_flags & SS_ONSTACK))
        sigaltstack(&(const stack_t){.ss_flags = SS_DISABLE}, NULL);
}
