/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process of a PE executes: the program, or gdb or the words of --wrap before it. */
#ifndef WSH_OSHRUN_COMMAND_H
#define WSH_OSHRUN_COMMAND_H

#include "bootstrap/oshrun/args.h"

#include <stddef.h>
#include <termios.h>

struct wsh_command {
    char **program, **before; /* argv of the program, and of what stands before it, where something does */
    char *path, *before_path;
    int only;             /* the PE that has it; -1: every PE */
    bool terminal;        /* that PE talks with the terminal itself */
    struct termios modes; /* of the terminal, as they were */
};

/*
 * What --wrap puts before the program, as the script of a shell whose arguments are the program and its own; malloc'd.
 * With `names` it first names the PE by SHMEM_PE and SHMEM_HOST_PE, as far as another launcher says which it is.
 */
char *wsh_wrap_script(const char *words, bool names);

/* 0, or an exit status of oshrun after one line: the command that --wrap names is not there. */
int wsh_wrap_check(const char *words);

/* Finds the program, and what is to stand before it. 0, or an exit status of oshrun after one line. */
int wsh_command_open(struct wsh_command *command, const struct wsh_args *args);
void wsh_command_close(struct wsh_command *command);

/* The path and the arguments for one PE. */
const char *wsh_command_of(const struct wsh_command *command, int pe, char ***argv);

/* The PE that has the terminal, in oshrun's own process group; -1: none. */
int wsh_command_terminal(const struct wsh_command *command);

/* Copies of oshrun's own three streams for that PE. 0 or -errno after one line. */
int wsh_command_streams(int std[3]);

#endif
