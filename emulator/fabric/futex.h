/* SPDX-License-Identifier: BSD-3-Clause */
/* The futex calls wait and wake on words in memory shared between processes. */
#ifndef EMU_FUTEX_H
#define EMU_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word == value, for at most `ns`. */
static inline void emu_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
}

static inline void emu_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

#endif
