/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of the contract's claims. */
#include "test/contract/suite.h"

#include "test/common/unit.h"

const struct unit_test unit_tests[] = {
    {"every registered transport has a program of this suite", claim_registry_covered},
    {"a put arrives, whatever its size and alignment", claim_put_arrives},
    {"a get brings what is there", claim_get_brings},
    {"done means that the source may be reused", claim_done_means_source_reusable},
    {"operations of no bytes are complete at once", claim_zero_length},
    {"transfers of many MiB are whole", claim_large},
    {"a PE reaches itself", claim_self},
    {"both host segments are reached", claim_both_segments},
    {"blocks some way apart come before their signal, and touch nothing else", claim_strided_signals},
    {"pending falls to 0 only when the target holds the data", claim_pending_until_delivered},
    {"a context does not wait for another one's peers", claim_contexts_independent},
    {"pending counts per PE", claim_pending_per_pe},
    {"describe names the peer and what is under way", claim_describe},
    {"thousands of operations under way end well", claim_thousands_outstanding},
    {"fence orders every kind of operation behind every other", claim_fence_orders_all_pairs},
    {"a get after a fence sees what was put before", claim_fence_orders_get},
    {"put, fence, small put, fence, large put", claim_fence_chain},
    {"every atomic gives the CPU's own result", claim_amo_every_op},
    {"contended atomics lose no update", claim_amo_contended},
    {"a signal never overtakes its data", claim_put_signal_orders},
    {"signals that add are all counted", claim_signal_add_counts},
    {"a transport opens again after close", claim_open_again},
    {"memory is let go of under operations that nobody waits for", claim_stop_in_progress},
    {"an absent peer is unreachable and harms nobody", claim_absent_peer},
    {"a broken memory blob is refused in one line", claim_bad_memory_blob},
    {"a broken address is refused in one line", claim_bad_address},
    {"memory keys are random, and drawn again where one is taken", claim_keys},
    {"another thread's progress serves peers", claim_progress_by_other_thread},
    {"threads with contexts of their own do not disturb each other", claim_threads},
    {"the wait descriptor wakes a sleeper", claim_wait_fd},
    {"a broken message is refused in one line", claim_bad_message},
    {"a message without the job's tag is dropped, and the job goes on", claim_strange_message},
    {"a failed write ends in one line, however often it is reported", claim_failed_write},
    {"an error of the provider's own packets ends in one line", claim_failed_alone},
    {"operations to a killed peer end in an error", claim_dead_peer},
    {0},
};
