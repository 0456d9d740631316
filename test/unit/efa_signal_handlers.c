/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that takes signals when it is loaded is kept from it by its variables, and undone where it insists. */
#include "transports/efa/nic/signal_handlers.h"

#include "test/common/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int taken[] = {SIGSEGV, SIGABRT, SIGTERM, SIGUSR2, SIGINT};

static void own_handler(int sig)
{
    (void)sig;
}

static void (*handler_of(int sig))(int)
{
    struct sigaction action;

    return sigaction(sig, NULL, &action) ? SIG_ERR : action.sa_handler;
}

/* Loads it, which runs its constructor, and unloads it. */
static void load_taker(struct wsh_efa_handlers *saved)
{
    char path[512];
    void *library;

    snprintf(path, sizeof path, "%s/test/unit/efa_signal_handlers_taker.so",
             getenv("top_builddir") ? getenv("top_builddir") : ".");
    if (saved)
        wsh_efa_handlers_save(saved, true);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CU_ASSERT_PTR_NOT_NULL_FATAL(library);
    if (saved)
        wsh_efa_handlers_restore(saved);
    dlclose(library);
}

static void set_own(void)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        signal(taken[i], i % 2 ? own_handler : SIG_DFL);
    signal(SIGRTMAX, SIG_DFL);
}

static void check_own(void)
{
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        CU_ASSERT(handler_of(taken[i]) == (i % 2 ? own_handler : SIG_DFL));
    CU_ASSERT(handler_of(SIGRTMAX) == SIG_DFL);
}

static void clear_variables(void)
{
    unsetenv("IPATH_NO_BACKTRACE");
    unsetenv("HFI_NO_BACKTRACE");
    unsetenv("TAKE_ANYWAY");
}

static void the_library_takes_signals(void)
{
    set_own();
    clear_variables();
    load_taker(NULL);
    CU_ASSERT(handler_of(SIGSEGV) != SIG_DFL);
    CU_ASSERT(handler_of(SIGABRT) != own_handler);
    CU_ASSERT(handler_of(SIGINT) == SIG_IGN);
}

static void what_is_taken_is_given_back(void)
{
    struct wsh_efa_handlers saved;

    set_own();
    clear_variables();
    setenv("TAKE_ANYWAY", "1", 1);
    load_taker(&saved);
    check_own();
}

/* Also one that is set to nothing. */
static void variables_are_taken_back(void)
{
    struct wsh_efa_handlers saved;

    set_own();
    clear_variables();
    load_taker(&saved);
    check_own();
    CU_ASSERT_PTR_NULL(getenv("IPATH_NO_BACKTRACE"));
    CU_ASSERT_PTR_NULL(getenv("HFI_NO_BACKTRACE"));
    setenv("IPATH_NO_BACKTRACE", "mine", 1);
    setenv("HFI_NO_BACKTRACE", "", 1);
    wsh_efa_handlers_save(&saved, true);
    CU_ASSERT_STRING_EQUAL(getenv("IPATH_NO_BACKTRACE"), "mine");
    wsh_efa_handlers_restore(&saved);
    CU_ASSERT_STRING_EQUAL(getenv("IPATH_NO_BACKTRACE"), "mine");
    CU_ASSERT_STRING_EQUAL(getenv("HFI_NO_BACKTRACE"), "");
}

/* Providers read them while they are loaded and asked. */
static void provider_variables_are_taken_back(void)
{
    struct wsh_efa_handlers saved;

    for (int sockets = 0; sockets < 2; sockets++) {
        unsetenv("FI_EFA_ENABLE_SHM_TRANSFER");
        unsetenv("FI_OFI_RXM_MSG_RX_SIZE");
        setenv("FI_OFI_RXM_BUFFER_SIZE", "65536", 1);
        wsh_efa_handlers_save(&saved, sockets);
        CU_ASSERT_STRING_EQUAL(getenv("FI_EFA_ENABLE_SHM_TRANSFER"), "0");
        CU_ASSERT(!getenv("FI_OFI_RXM_MSG_RX_SIZE") == !sockets);
        CU_ASSERT_STRING_EQUAL(getenv("FI_OFI_RXM_BUFFER_SIZE"), "65536");
        wsh_efa_handlers_restore(&saved);
        CU_ASSERT_PTR_NULL(getenv("FI_EFA_ENABLE_SHM_TRANSFER"));
        CU_ASSERT_PTR_NULL(getenv("FI_OFI_RXM_MSG_RX_SIZE"));
        CU_ASSERT_STRING_EQUAL(getenv("FI_OFI_RXM_BUFFER_SIZE"), "65536");
    }
}

static void others_stay(void)
{
    struct wsh_efa_handlers saved;

    set_own();
    wsh_efa_handlers_save(&saved, true);
    wsh_efa_handlers_restore(&saved);
    check_own();
}

const struct unit_test unit_tests[] = {
    {"the library takes signals where nothing is done about it", the_library_takes_signals},
    {"what is taken is given back", what_is_taken_is_given_back},
    {"variables are set for the call alone, and the user's own stay", variables_are_taken_back},
    {"variables of providers are set for the call alone too", provider_variables_are_taken_back},
    {"other handlers stay", others_stay},
    {NULL, NULL},
};
