/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point synchronization: comparing symmetric words with values, once (test) or until true (wait). */
#ifndef WSH_P2P_H
#define WSH_P2P_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wsh_job;

enum wsh_word { WSH_WORD_I16, WSH_WORD_U16, WSH_WORD_I32, WSH_WORD_U32, WSH_WORD_I64, WSH_WORD_U64 };

/* Bytes of a word. */
static inline size_t wsh_word_width(enum wsh_word word)
{
    return word >= WSH_WORD_I64 ? 8 : word >= WSH_WORD_I32 ? 4 : 2;
}

/* Values as those of SHMEM_CMP_EQ and the like in shmem.h. */
enum wsh_cmp { WSH_CMP_EQ, WSH_CMP_NE, WSH_CMP_GT, WSH_CMP_LE, WSH_CMP_LT, WSH_CMP_GE, WSH_CMPS };

#define WSH_P2P_NONE ((size_t)-1) /* no index: SIZE_MAX of the specification */

/*
 * A set of words: ivars[i] (of kind `word`) is in the set where status is NULL or status[i] == 0. Compared with
 * *values (every = false) or with values[i] (every = true).
 */
struct wsh_p2p {
    const char *routine; /* for the hang reporter */
    const void *ivars;
    size_t nelems;
    const int *status;
    const void *values;
    bool every;
    enum wsh_word word;
    enum wsh_cmp cmp;
};

/* One word (nelems, status and every are not read). The read that satisfies it is an acquire. */
int wsh_p2p_wait(struct wsh_job *job, const struct wsh_p2p *p2p);
bool wsh_p2p_test(struct wsh_job *job, const struct wsh_p2p *p2p);
/* Of a word of WSH_WORD_U64: also the value that satisfied, since the word may change right afterwards. */
int wsh_p2p_wait_signal(struct wsh_job *job, const struct wsh_p2p *p2p, uint64_t *seen);

/*
 * All: an empty set is satisfied at once. Any: one satisfied index, searched fairly (not always from the first), or
 * WSH_P2P_NONE when the set is empty (wait) or none is satisfied (test). Some: writes the satisfied indices
 * and returns their number; 0 when the set is empty (wait) or none is satisfied (test).
 */
int wsh_p2p_wait_all(struct wsh_job *job, const struct wsh_p2p *p2p);
int wsh_p2p_wait_any(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *index);
int wsh_p2p_wait_some(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *indices, size_t *n);

/*
 * The same for at most so many seconds: -ETIMEDOUT then, and -ECANCELED where a PE has failed since the call began.
 * `found`: the value, of WSH_P2P_SIGNAL, which waits for one word of WSH_WORD_U64; the index; or how many `indices`.
 */
enum wsh_p2p_kind { WSH_P2P_ONE, WSH_P2P_SIGNAL, WSH_P2P_ALL, WSH_P2P_ANY, WSH_P2P_SOME, WSH_P2P_KINDS };
struct wsh_p2p_limit {
    enum wsh_p2p_kind kind;
    double seconds;
    size_t *indices; /* of WSH_P2P_SOME */
    uint64_t found;
};
int wsh_p2p_wait_timed(struct wsh_job *job, const struct wsh_p2p *p2p, struct wsh_p2p_limit *limit);

bool wsh_p2p_test_all(struct wsh_job *job, const struct wsh_p2p *p2p);
size_t wsh_p2p_test_any(struct wsh_job *job, const struct wsh_p2p *p2p);
size_t wsh_p2p_test_some(struct wsh_job *job, const struct wsh_p2p *p2p, size_t *indices);

#endif
