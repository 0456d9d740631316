/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of SHMEM_STATS_FILE. */
#include "runtime/stats/report.h"

#include <inttypes.h>

void wsh_stats_json_begin(struct wsh_text *text, const char *job, int n_pes)
{
    wsh_text_add(text, "{\"warpshmem_statistics\": 1, \"job\": ");
    wsh_text_add_json(text, job);
    wsh_text_add(text, ", \"n_pes\": %d, \"pes\": [", n_pes);
}

/* clang-format off */

#define FIGURES(X) \
    X(elapsed_ns) X(network_operations) X(network_bytes) X(network_retries) X(network_stalls) X(waits) X(wait_ns) \
    X(longest_wait_ns) X(collectives) X(collective_calls) X(kernel_waits) X(proxy_waits) X(proxy_bytes) \
    X(proxy_copied_bytes) X(gda_operations) X(expert_calls) X(expert_rows) X(heap_bytes) X(heap_used_bytes) \
    X(device_heap_bytes) X(network_doorbells) X(puts) X(put_bytes) X(gets) X(get_bytes) X(atomics)

/* clang-format on */

static void figures_add(struct wsh_text *text, const shmemx_stats_t *all)
{
#define FIGURE(name) wsh_text_add(text, ", \"" #name "\": %" PRIu64, all->name);
    FIGURES(FIGURE)
#undef FIGURE
}

static void longest_add(struct wsh_text *text, const struct wsh_stats_longest *longest)
{
    wsh_text_add(text, ",\n  \"longest\": [");
    for (int i = 0; i < WSH_STATS_LONGEST && longest[i].ns; i++) {
        wsh_text_add(text, "%s{\"ns\": %" PRIu64 ", \"for_pe\": %d, \"routine\": ", i ? ", " : "",
                     longest[i].ns, longest[i].pe);
        wsh_text_add_json(text, longest[i].routine);
        wsh_text_add(text, ", \"for\": ");
        wsh_text_add_json(text, longest[i].whom);
        wsh_text_add(text, "}");
    }
    wsh_text_add(text, "]");
}

enum { OPERATIONS, BYTES, WAITED };

static void cells_add(struct wsh_text *text, const char *name, const struct wsh_stats_row *row, int n_pes,
                      int what)
{
    wsh_text_add(text, ",\n  \"%s\": [", name);
    for (int pe = 0; pe < n_pes; pe++) {
        const struct wsh_stats_cell *cell = &row->cell[pe];

        wsh_text_add(text, "%s%" PRIu64, pe ? ", " : "",
                     what == OPERATIONS ? cell->operations
                     : what == BYTES    ? cell->bytes
                                        : cell->wait_ns);
    }
    wsh_text_add(text, "]");
}

void wsh_stats_json_pe(struct wsh_text *text, const struct wsh_stats_row *row, int pe, int before, int n_pes)
{
    wsh_text_add(text, "%s\n {\"pe\": %d, \"host\": ", before ? "," : "", pe);
    wsh_text_add_json(text, row->host);
    figures_add(text, &row->all);
    longest_add(text, row->longest);
    cells_add(text, "operations_to", row, n_pes, OPERATIONS);
    cells_add(text, "bytes_to", row, n_pes, BYTES);
    cells_add(text, "waited_ns_for", row, n_pes, WAITED);
    wsh_text_add(text, "}");
}

void wsh_stats_json_end(struct wsh_text *text)
{
    wsh_text_add(text, "\n]}\n");
}
