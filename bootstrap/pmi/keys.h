/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of any number in the key space of a PMI server, whose values are short texts. */
#ifndef WSH_BOOTSTRAP_PMI_KEYS_H
#define WSH_BOOTSTRAP_PMI_KEYS_H

#include "bootstrap/blob/blob.h"
#include "bootstrap/pmi/talk.h"

/* The key of one piece, of at most WSH_PMI_KEY bytes. No two ids or pieces have the same. */
void wsh_pmi_key(const struct wsh_blob_id *id, int piece, char *key);

/* Puts them as text, in as many pieces as it takes. 0 or a negative errno after one line. */
int wsh_pmi_bytes_put(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, const void *bytes, size_t len);

/* What that PE put; *bytes is malloc'd. 0 or a negative errno after one line. */
int wsh_pmi_bytes_get(struct wsh_pmi_talk *talk, const struct wsh_blob_id *id, void **bytes, size_t *len);

/* Says that what stands there is not what this library puts there. Returns -EPROTO. */
int wsh_pmi_damaged(const struct wsh_blob_id *id);

#endif
