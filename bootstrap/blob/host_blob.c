/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packs blobs by what they share: a part is its length, then runs, each a number of bytes that are those of the
 * reference at the same place and a number of bytes that follow as they are. Behind its end the reference is zeros;
 * that of the first part is empty. Numbers are of 7 bits a byte, the last byte below 128.
 */
#include "bootstrap/blob/host_blob.h"

#include "base/err.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A head of `n`, then n of these, then the parts. In the byte order of the machine, as all start-up data. */
struct entry {
    uint32_t pe, end; /* where the part ends, from the first part's begin on */
};

#define SAME_MIN 3    /* a shorter run of equal bytes costs more than it saves */
#define NUMBER_MAX 10 /* bytes of a number */

/* Bytes, and how far they are read or written; `ok` is false once they did not suffice. */
struct bytes {
    const unsigned char *at;
    size_t len, used;
    bool ok;
};

static unsigned char byte_at(const struct bytes *from, size_t at)
{
    return at < from->len ? from->at[at] : 0;
}

static size_t number_put(unsigned char *to, size_t number)
{
    size_t n = 0;

    for (; number >= 128; number >>= 7)
        to[n++] = (unsigned char)(number | 128);
    to[n++] = (unsigned char)number;
    return n;
}

static size_t number_take(struct bytes *from)
{
    uint64_t number = 0;
    unsigned shift = 0;

    for (; from->used < from->len && shift < 35; shift += 7) {
        unsigned char byte = from->at[from->used++];

        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return (size_t)number;
    }
    from->ok = false;
    return 0;
}

/* How many bytes from `at` on are those of the reference. */
static size_t same_count(const struct bytes *part, const struct bytes *reference, size_t at)
{
    size_t n = 0;

    while (at + n < part->len && part->at[at + n] == byte_at(reference, at + n))
        n++;
    return n;
}

/* How many are to be written as they are: up to the next run that is worth it, or the end. */
static size_t literal_count(const struct bytes *part, const struct bytes *reference, size_t at)
{
    size_t n = 0;

    while (at + n < part->len && same_count(part, reference, at + n) < SAME_MIN)
        n++;
    return n;
}

/* Every second byte a run of its own is the worst: each run has SAME_MIN equal ones or is the last. */
static size_t packed_max(size_t len)
{
    return len + 2 * NUMBER_MAX * (len / (SAME_MIN + 1) + 2);
}

static size_t part_pack(const struct bytes *part, const struct bytes *reference, unsigned char *to)
{
    size_t used = number_put(to, part->len);

    for (size_t at = 0; at < part->len;) {
        size_t same = same_count(part, reference, at), literal = literal_count(part, reference, at + same);

        used += number_put(to + used, same);
        used += number_put(to + used, literal);
        if (literal)
            memcpy(to + used, part->at + at + same, literal);
        used += literal;
        at += same + literal;
    }
    return used;
}

static struct bytes bytes_of(const struct wsh_host_part *part)
{
    return (struct bytes){part->blob, part->len, 0, true};
}

static int no_memory(size_t size)
{
    wsh_error("bootstrap: out of memory (%zu bytes)", size);
    return -ENOMEM;
}

/* Room for the worst. 0: it is too much. */
static size_t room_of(const struct wsh_host_part *parts, int n)
{
    size_t room = sizeof(uint32_t) + (size_t)n * sizeof(struct entry);

    for (int i = 0; i < n; i++) {
        if (parts[i].len > WSH_HOST_BLOB_PART) {
            wsh_error("PE %u publishes %zu bytes, at most %zu are possible; use fewer NICs a PE "
                      "(SHMEM_NICS_PER_PE)",
                      parts[i].pe, parts[i].len, WSH_HOST_BLOB_PART);
            return 0;
        }
        room += packed_max(parts[i].len);
    }
    if (room > UINT32_MAX)
        wsh_error(
            "the %d PEs of a host publish too many bytes together; use fewer NICs a PE (SHMEM_NICS_PER_PE)",
            n);
    return room > UINT32_MAX ? 0 : room;
}

int wsh_host_blob_pack(const struct wsh_host_part *parts, int n, void **bytes, size_t *size)
{
    size_t room = room_of(parts, n), begin = sizeof(uint32_t) + (size_t)n * sizeof(struct entry), end = 0;
    struct bytes first = bytes_of(&parts[0]), reference = {.len = 0};
    uint32_t count = (uint32_t)n;
    unsigned char *to;

    if (!room)
        return -EMSGSIZE;
    *bytes = to = malloc(room);
    if (!to)
        return no_memory(room);
    memcpy(to, &count, sizeof count);
    for (int i = 0; i < n; i++) {
        struct bytes part = bytes_of(&parts[i]);
        struct entry entry;

        end += part_pack(&part, &reference, to + begin + end);
        entry = (struct entry){parts[i].pe, (uint32_t)end};
        memcpy(to + sizeof count + (size_t)i * sizeof entry, &entry, sizeof entry);
        reference = first;
    }
    *size = begin + end;
    return 0;
}

/* The parts of what was received. */
struct packed {
    const unsigned char *entries, *parts;
    size_t n, parts_len;
};

static bool packed_open(struct packed *packed, const void *bytes, size_t size)
{
    uint32_t n;

    if (size < sizeof n)
        return false;
    memcpy(&n, bytes, sizeof n);
    if (!n || n > (size - sizeof n) / sizeof(struct entry))
        return false;
    packed->entries = (const unsigned char *)bytes + sizeof n;
    packed->parts = packed->entries + n * sizeof(struct entry);
    packed->n = n;
    packed->parts_len = size - sizeof n - n * sizeof(struct entry);
    return true;
}

static struct entry entry_at(const struct packed *packed, size_t i)
{
    struct entry entry;

    memcpy(&entry, packed->entries + i * sizeof entry, sizeof entry);
    return entry;
}

/* By halves, as the PEs rise; where they do not, it is not found. */
static size_t entry_find(const struct packed *packed, uint32_t pe)
{
    size_t low = 0, high = packed->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (entry_at(packed, middle).pe < pe)
            low = middle + 1;
        else
            high = middle;
    }
    return low < packed->n && entry_at(packed, low).pe == pe ? low : packed->n;
}

bool wsh_host_blob_pe(const void *bytes, size_t size, size_t i, uint32_t *pe)
{
    struct packed packed;

    if (!packed_open(&packed, bytes, size) || i >= packed.n)
        return false;
    *pe = entry_at(&packed, i).pe;
    return true;
}

static struct bytes part_at(const struct packed *packed, size_t i)
{
    size_t begin = i ? entry_at(packed, i - 1).end : 0, end = entry_at(packed, i).end;

    if (begin > end || end > packed->parts_len)
        return (struct bytes){.ok = false};
    return (struct bytes){packed->parts + begin, end - begin, 0, true};
}

static bool run_unpack(struct bytes *from, const struct bytes *reference, unsigned char *to, size_t room,
                       size_t *done)
{
    size_t same = number_take(from), literal = number_take(from), known;

    if (!from->ok || same + literal == 0 || same > room || literal > room - same ||
        literal > from->len - from->used)
        return false;
    known = *done < reference->len ? reference->len - *done : 0;
    if (known > same)
        known = same;
    if (known)
        memcpy(to, reference->at + *done, known);
    memset(to + known, 0, same - known);
    if (literal)
        memcpy(to + same, from->at + from->used, literal);
    from->used += literal;
    *done += same + literal;
    return true;
}

/* 0, -EPROTO or -ENOMEM without a line; *blob is malloc'd. */
static int part_unpack(struct bytes from, const struct bytes *reference, unsigned char **blob, size_t *len)
{
    size_t done = 0;

    *len = from.ok ? number_take(&from) : 0;
    if (!from.ok || *len > WSH_HOST_BLOB_PART)
        return -EPROTO;
    *blob = malloc(*len ? *len : 1);
    if (!*blob)
        return -ENOMEM;
    while (done < *len)
        if (!run_unpack(&from, reference, *blob + done, *len - done, &done))
            break;
    if (done == *len && from.used == from.len)
        return 0;
    free(*blob);
    return -EPROTO;
}

static int find(const struct packed *packed, size_t i, unsigned char **blob, size_t *len)
{
    struct bytes nothing = {.len = 0}, reference = {.len = 0};
    unsigned char *first;
    int rc = part_unpack(part_at(packed, 0), &nothing, &first, &reference.len);

    if (rc)
        return rc;
    if (i) {
        reference.at = first;
        rc = part_unpack(part_at(packed, i), &reference, blob, len);
        free(first);
        return rc;
    }
    *blob = first;
    *len = reference.len;
    return 0;
}

int wsh_host_blob_find(const void *bytes, size_t size, uint32_t pe, void **blob, size_t *len)
{
    struct packed packed = {.n = 0};
    unsigned char *found = NULL;
    size_t i = packed_open(&packed, bytes, size) ? entry_find(&packed, pe) : 0;
    int rc = i < packed.n ? find(&packed, i, &found, len) : -EPROTO;

    if (rc == -ENOMEM)
        return no_memory(size);
    if (rc)
        wsh_error("what PE %u's host published (%zu bytes) has no start-up data of it; run one warpshmem on "
                  "all hosts",
                  pe, size);
    *blob = found;
    return rc;
}
