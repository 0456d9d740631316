/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how oshrun speaks to its user: one line a message on standard error, each beginning with "oshrun: ". */
#ifndef WSH_OSHRUN_SAY_H
#define WSH_OSHRUN_SAY_H

enum {
    OSHRUN_FAILED = 1,       /* the job, or something oshrun needs, failed */
    OSHRUN_USAGE = 2,        /* the command line is wrong */
    OSHRUN_CANNOT_RUN = 126, /* the program is there and cannot be executed */
    OSHRUN_NOT_FOUND = 127   /* the program is not there */
};

/* Writes one whole line in one write. */
void wsh_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same only after wsh_say_verbose() (-v). */
void wsh_say_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void wsh_say_verbose(void);

/*
 * From now on only wsh_say and who writes to wsh_say_fd() reach standard error; what writes to descriptor 2 does not:
 * libpmix has a line for each connection that a PE breaks off when the job is ended.
 */
void wsh_say_alone(void);
int wsh_say_fd(void);

#endif
