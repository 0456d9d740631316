/* SPDX-License-Identifier: BSD-3-Clause */
/* The claims of the contract, each one a test that any transport must pass. */
#ifndef WSH_TEST_SUITE_H
#define WSH_TEST_SUITE_H

/* rma_claims.c */
void claim_put_arrives(void);
void claim_get_brings(void);
void claim_done_means_source_reusable(void);
void claim_unread_until_source_reusable(void);
void claim_zero_length(void);
void claim_large(void);
void claim_self(void);
void claim_both_segments(void);
void claim_strided_signals(void);
/* pending_claims.c */
void claim_pending_until_delivered(void);
void claim_contexts_independent(void);
void claim_pending_per_pe(void);
void claim_describe(void);
void claim_thousands_outstanding(void);
/* order_claims.c */
void claim_fence_orders_all_pairs(void);
void claim_fence_orders_get(void);
void claim_fence_chain(void);
/* amo_claims.c */
void claim_amo_every_op(void);
void claim_amo_contended(void);
void claim_put_signal_orders(void);
void claim_signal_add_counts(void);
/* life_claims.c */
void claim_registry_covered(void);
void claim_open_again(void);
void claim_stop_in_progress(void);
void claim_absent_peer(void);
void claim_bad_memory_blob(void);
void claim_bad_address(void);
void claim_keys(void);
void claim_progress_by_other_thread(void);
void claim_threads(void);
void claim_wait_fd(void);
void claim_dead_peer(void);
void claim_bad_message(void);
void claim_strange_message(void);
void claim_failed_write(void);
void claim_failed_alone(void);

#endif
