/* SPDX-License-Identifier: BSD-3-Clause */
/* A bootstrap of several PEs inside one process. */
#include "test/common/fake_boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void boot_close(struct wsh_boot *boot)
{
    boot->priv = NULL;
}

static int boot_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct fake_board *board = boot->priv;
    void *copy = malloc(len ? len : 1);

    if (!copy)
        return -ENOMEM;
    memcpy(copy, blob, len);
    free(board->blob[round][boot->my_pe]);
    board->blob[round][boot->my_pe] = copy;
    board->len[round][boot->my_pe] = len;
    return 0;
}

static int boot_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct fake_board *board = boot->priv;

    if (!board->blob[round][pe])
        return -ENOENT;
    *len = board->len[round][pe];
    *blob = malloc(*len ? *len : 1);
    if (!*blob)
        return -ENOMEM;
    memcpy(*blob, board->blob[round][pe], *len);
    return 0;
}

static int boot_barrier(struct wsh_boot *boot, const char *what)
{
    struct fake_board *board = boot->priv;

    (void)what;
    board->barriers++;
    return 0;
}

static void boot_abort(struct wsh_boot *boot, int status)
{
    struct fake_board *board = boot->priv;

    board->aborted = status;
}

static const struct wsh_boot_ops fake_boot_ops = {
    .name = "fake",
    .close = boot_close,
    .publish = boot_publish,
    .lookup = boot_lookup,
    .barrier = boot_barrier,
    .abort = boot_abort,
};

void fake_boot_open(struct wsh_boot *boot, struct fake_board *board, int my_pe, int n_pes)
{
    *boot = (struct wsh_boot){.ops = &fake_boot_ops,
                              .priv = board,
                              .my_pe = my_pe,
                              .n_pes = n_pes,
                              .local_rank = my_pe,
                              .local_size = n_pes,
                              .launcher = "fake"};
}

void fake_board_init(struct fake_board *board)
{
    memset(board, 0, sizeof *board);
    board->aborted = -1;
}

void fake_board_fini(struct fake_board *board)
{
    for (int round = 0; round < FAKE_BOOT_ROUNDS; round++) {
        for (int pe = 0; pe < FAKE_BOOT_PES; pe++)
            free(board->blob[round][pe]);
    }
    fake_board_init(board);
}
