# SPDX-License-Identifier: BSD-3-Clause
"""The word that the processes of a job share, and ids that are sealed by it: only who knows the
word reads such an id, or makes one that is taken."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from typing import Optional

from . import _lib
from .errors import WarpshmemError, refuse

NAME = "SHMEM_BOOTSTRAP_UID_SECRET"
FILE = "file:"
LEAST = 16  # characters of a word
MARK = b"warpshmem sealed"
NONCE = DIGEST = 32
MOST = 4096  # bytes of any file that is read


def read_own(path: str, what: str, sealed: bool = False) -> bytes:
    """Return what is in a file that nobody but this user can have written or read.

    With `sealed` its content says who has written it, and owner and mode are not looked at. `what`
    names the file in the exception. OSError where there is none.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    with open(os.open(path, flags), "rb") as file:
        seen, why = os.fstat(file.fileno()), ""
        if not stat.S_ISREG(seen.st_mode):
            why = "is no ordinary file"
        elif not sealed and seen.st_uid != os.geteuid():
            why = "is of user %d, and this process of user %d" % (seen.st_uid, os.geteuid())
        elif not sealed and seen.st_mode & 0o077:
            why = "has mode %04o, and others may read or write it" % (seen.st_mode & 0o7777)
        if why:
            raise WarpshmemError(
                "warpshmem.init: %s %s %s; it must be this user's, with mode 0600, or set %s on all"
                " PEs" % (what, path, why, NAME)
            )
        return file.read(MOST)


def word() -> Optional[bytes]:
    """Return the word that is set; None where none is."""
    text = _lib.setting(NAME)
    if not text:
        return None
    if text.startswith(FILE):
        path = text[len(FILE) :]
        try:
            found = read_own(path, "the file of " + NAME).strip()
        except OSError as error:
            raise WarpshmemError(
                "warpshmem.init: %s names the file %s, which cannot be read: %s; write a random "
                "word there, with mode 0600" % (NAME, path, error.strerror)
            ) from None
    else:
        found = text.encode()
    if len(found) < LEAST:
        cure = "give %d characters or more, drawn at random: head -c 24 /dev/urandom | base64"
        raise refuse("init", NAME, "of %d characters" % len(found), cure % LEAST)
    return found


def _key(secret: bytes, use: bytes) -> bytes:
    return hmac.new(secret, b"warpshmem id: " + use, hashlib.sha256).digest()


def _crypt(secret: bytes, nonce: bytes, value: bytes) -> bytes:
    key, stream = _key(secret, b"hide"), b""
    while len(stream) < len(value):
        at = len(stream).to_bytes(8, "big")
        stream += hmac.new(key, nonce + at, hashlib.sha256).digest()
    return bytes(a ^ b for a, b in zip(value, stream))


def seal(value: bytes) -> bytes:
    """Return `value` as it may travel: hidden and signed by the word, where there is one."""
    secret = word()
    if secret is None:
        return value
    nonce = os.urandom(NONCE)
    body = MARK + nonce + _crypt(secret, nonce, value)
    return body + hmac.new(_key(secret, b"sign"), body, hashlib.sha256).digest()


def unseal(value: bytes) -> bytes:
    """Return what seal() was given. WarpshmemError where the words of the two processes differ."""
    secret, sealed = word(), value.startswith(MARK)
    if secret is None and not sealed:
        return value
    if secret is None or not sealed:
        raise WarpshmemError(
            "warpshmem.init: %s is set %s; set the same word on all PEs, or on none"
            % (NAME, "where rank 0 runs, and not here" if sealed else "here, and not at rank 0")
        )
    body, digest = value[:-DIGEST], value[-DIGEST:]
    if not hmac.compare_digest(
        hmac.new(_key(secret, b"sign"), body, hashlib.sha256).digest(), digest
    ):
        raise WarpshmemError(
            "warpshmem.init: the id that has come is not signed by the word of %s; set the same word"
            " on all PEs" % NAME
        )
    nonce = body[len(MARK) : len(MARK) + NONCE]
    return _crypt(secret, nonce, body[len(MARK) + NONCE :])
