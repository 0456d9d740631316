/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every test that runs as several PEs needs: begin and end, checks that name the PE, patterns,
 * random numbers that all PEs share, time. The head of a test names the paths that test/run sends it over.
 */
#ifndef WSH_TEST_MP_H
#define WSH_TEST_MP_H

#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MP_PASSED = 0, MP_FAILED = 1, MP_SKIPPED = 77 };

extern int mp_me, mp_npes;

/* shmem_init, or shmem_init_thread with `level`; the latter skips the test where the level is not provided. */
void mp_begin(void);
void mp_begin_thread(int level);

/* shmem_finalize; the exit status of main. */
int mp_end(void);

/* Ends the test as skipped, with the reason from PE 0. All PEs must come to the same decision. */
_Noreturn void mp_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line with PE, place and message when `ok` is false; the test then fails. Returns ok. Thread-safe. */
bool mp_check_at(bool ok, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define mp_check(cond, ...) mp_check_at(cond, __FILE__, __LINE__, __VA_ARGS__)

/* A line of information, from PE 0 only. */
void mp_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* `quick`, or `thorough` where WSH_TEST_LONG is set (make check-long). */
long mp_rounds(long quick, long thorough);

/* True while the test runs over that path (the word in its head: "local", "tcp", "mixed" …). */
bool mp_path_is(const char *path);

/* What this PE has given to the network so far (shmemx_stats). */
void mp_network_counts(uint64_t *operations, uint64_t *bytes);

/* Neighbours in a ring of all PEs. */
int mp_right(void);
int mp_left(void);

/* Symmetric memory, zeroed; ends the job when there is none. Collective. */
void *mp_alloc(size_t len);

/* A byte pattern that depends on `seed` and the position, and the number of bytes that differ from it. */
void mp_fill(void *buf, size_t len, uint64_t seed);
size_t mp_wrong(const void *buf, size_t len, uint64_t seed);

/* Random numbers: the same sequence on all PEs for the same state. mp_seed is WSH_TEST_SEED or a constant. */
uint64_t mp_seed(void);
uint64_t mp_random(uint64_t *state);
size_t mp_random_below(uint64_t *state, size_t limit);

/* The head of a test's main; where several tests are one program, the head of NAME_main. */
#ifdef MP_SEVERAL
#define MP_MAIN(name)      \
    int name##_main(void); \
    int name##_main(void)
#else
#define MP_MAIN(name) int main(void)
#endif

/*
 * A helper process, started before mp_begin, that stops this PE (SIGSTOP) for some seconds when asked: a target
 * that does nothing at all. mp_stopper_stop_me returns at some time around the stop.
 */
void mp_stopper_start(void);
void mp_stopper_stop_me(double seconds);
void mp_stopper_end(void);

/* Monotonic seconds. */
double mp_now(void);
void mp_sleep(double seconds);

#endif
