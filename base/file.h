/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are written under names which others know, in folders that others can write: no link that another user
 * has made is followed, and no file of another user is written.
 */
#ifndef WSH_BASE_FILE_H
#define WSH_BASE_FILE_H

/*
 * A new file, in the place of one that this user has left there. A descriptor for reading and writing, or a negative
 * errno: -EEXIST: something else has that name.
 */
int wsh_file_create(const char *path, unsigned mode);

/*
 * What the user has named, made where it is not there; `how` is O_APPEND, or O_TRUNC for an empty one. Links of root
 * and of this user are followed (/dev/stderr). A descriptor for writing, or a negative errno: -ELOOP: it is a link of
 * another user; -EPERM: a file of another user, in a folder that others can write.
 */
int wsh_file_open(const char *path, int how, unsigned mode);

/* Opens for reading a file, not a link, a pipe or a device. A descriptor or a negative errno. */
int wsh_file_read(const char *path);

/* Text for what these return. As wsh_strerror. */
const char *wsh_file_strerror(int err);

#endif
