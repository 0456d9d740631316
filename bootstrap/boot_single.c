/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstrap of a job of one PE, which needs no launcher. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "base/err.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What this PE published, by round. */
struct single {
    struct {
        void *bytes;
        size_t len;
    } * rounds;
    int n_rounds;
};

static int out_of_memory(size_t len)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", len);
    return -ENOMEM;
}

static void single_close(struct wsh_boot *boot)
{
    struct single *single = boot->priv;

    for (int i = 0; i < single->n_rounds; i++)
        free(single->rounds[i].bytes);
    free(single->rounds);
    free(single);
    boot->priv = NULL;
}

static int single_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc;

    boot->priv = calloc(1, sizeof(struct single));
    if (!boot->priv)
        return out_of_memory(sizeof(struct single));
    boot->my_pe = boot->local_rank = 0;
    boot->n_pes = boot->local_size = 1;
    boot->one_machine = boot->has_secret = true;
    rc = wsh_random_fill(&boot->secret, sizeof boot->secret);
    if (rc) {
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
        single_close(boot);
        return rc;
    }
    snprintf(boot->launcher, sizeof boot->launcher, "%s", env->oshrun_pid > 0 ? "oshrun" : "none");
    return 0;
}

static int rounds_grow(struct single *single, int n_rounds)
{
    void *more = realloc(single->rounds, (size_t)n_rounds * sizeof *single->rounds);

    if (!more)
        return out_of_memory((size_t)n_rounds * sizeof *single->rounds);
    single->rounds = more;
    for (; single->n_rounds < n_rounds; single->n_rounds++)
        memset(&single->rounds[single->n_rounds], 0, sizeof *single->rounds);
    return 0;
}

static void *bytes_copy(const void *bytes, size_t len)
{
    void *to = malloc(len ? len : 1);

    if (to && len)
        memcpy(to, bytes, len);
    return to;
}

static int single_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct single *single = boot->priv;

    if (round >= single->n_rounds && rounds_grow(single, round + 1))
        return -ENOMEM;
    free(single->rounds[round].bytes);
    single->rounds[round].bytes = bytes_copy(blob, len);
    single->rounds[round].len = len;
    return single->rounds[round].bytes ? 0 : out_of_memory(len);
}

static int single_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    const struct single *single = boot->priv;

    if (pe || round >= single->n_rounds || !single->rounds[round].bytes) {
        wsh_error("bootstrap: nothing was published by PE %d in round %d", pe, round);
        return -ENOENT;
    }
    *blob = bytes_copy(single->rounds[round].bytes, single->rounds[round].len);
    *len = single->rounds[round].len;
    return *blob ? 0 : out_of_memory(*len);
}

static int single_barrier(struct wsh_boot *boot, const char *what)
{
    (void)boot, (void)what;
    return 0;
}

/* The end of this process is the end of the job. */
static void single_abort(struct wsh_boot *boot, int status)
{
    (void)boot, (void)status;
}

const struct wsh_boot_ops wsh_boot_single_ops = {
    .name = "single",
    .open = single_open,
    .close = single_close,
    .publish = single_publish,
    .lookup = single_lookup,
    .barrier = single_barrier,
    .abort = single_abort,
};
