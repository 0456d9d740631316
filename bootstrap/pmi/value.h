/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands in the values of PMI keys: bytes as text, in pieces, and the launcher's description of the hosts. */
#ifndef WSH_BOOTSTRAP_PMI_VALUE_H
#define WSH_BOOTSTRAP_PMI_VALUE_H

#include <stddef.h>

#define WSH_PMI_TEXT_MAX ((size_t)64 << 20) /* characters of one blob as text: more is an error */

/*
 * Bytes as letters, digits, - and _ (base64 of RFC 4648, section 5, without padding), which PMI takes in values;
 * malloc'd, or NULL without memory. *chars: its length.
 */
char *wsh_pmi_encode(const void *bytes, size_t len, size_t *chars);

/* Back, in place: the bytes replace the text. Returns their number, or -EPROTO where `text` is not such a text. */
long wsh_pmi_decode(char *text, size_t chars);

/*
 * Reads a PMI_process_mapping, "(vector,(first host,hosts,PEs of each),…)", which is repeated until all PEs have a
 * host: the place of PE `rank` of `size` among the PEs of its host. 0, or -EPROTO where the text is not one.
 */
int wsh_pmi_mapping(const char *text, int rank, int size, int *local_rank, int *local_size);

#endif
