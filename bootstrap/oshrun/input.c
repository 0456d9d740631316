/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how oshrun's standard input reaches PE 0. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/input.h"

#include "bootstrap/oshrun/say.h"
#include "base/err.h"

#include <fcntl.h>
#include <unistd.h>

int wsh_input_open(struct wsh_input *input, int *pe_fd)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC)) {
        int err = errno;

        wsh_say("cannot make a pipe for PE 0: %s; raise `ulimit -n`", wsh_strerror(err));
        return -err;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *pe_fd = ends[0];
    input->fd = ends[1];
    input->ended = input->paused = false;
    input->from = input->to = 0;
    input->in_index = input->out_index = -1;
    return 0;
}

void wsh_input_close(struct wsh_input *input)
{
    if (input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}

/* A job in the background of its terminal must leave what is typed to the foreground. */
static bool in_background(void)
{
    pid_t foreground = tcgetpgrp(STDIN_FILENO);

    return foreground > 0 && foreground != getpgrp();
}

bool wsh_input_paused(const struct wsh_input *input)
{
    return input->paused;
}

void wsh_input_poll(struct wsh_input *input, struct wsh_pollset *set)
{
    bool hungry = input->fd >= 0 && !input->ended && input->from == input->to;

    input->paused = hungry && in_background();
    input->in_index = hungry && !input->paused ? wsh_pollset_add(set, STDIN_FILENO, POLLIN) : -1;
    /* No events asked for: POLLERR tells that PE 0 closed its end. */
    input->out_index =
        input->fd >= 0 ? wsh_pollset_add(set, input->fd, input->from < input->to ? POLLOUT : 0) : -1;
}

static void feed(struct wsh_input *input)
{
    ssize_t got = read(STDIN_FILENO, input->bytes, sizeof input->bytes);

    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EIO))
        return;
    input->ended = got <= 0;
    input->from = 0;
    input->to = got > 0 ? (size_t)got : 0;
}

static void drain(struct wsh_input *input)
{
    ssize_t done = write(input->fd, input->bytes + input->from, input->to - input->from);

    if (done >= 0)
        input->from += (size_t)done;
    else if (errno != EINTR && errno != EAGAIN)
        wsh_input_close(input);
}

void wsh_input_work(struct wsh_input *input, const struct wsh_pollset *set)
{
    if (wsh_pollset_ready(set, input->out_index) & (POLLERR | POLLNVAL))
        wsh_input_close(input);
    if (input->fd >= 0 && wsh_pollset_ready(set, input->in_index))
        feed(input);
    if (input->fd >= 0 && input->from < input->to)
        drain(input);
    if (input->fd >= 0 && input->ended && input->from == input->to)
        wsh_input_close(input);
}
