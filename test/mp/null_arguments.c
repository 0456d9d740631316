/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every routine of the host that takes an address which need not be symmetric answers NULL there with one line and the
 * end of the job, with its error code, or as its contract says: never with a signal.
 *
 * paths: single
 */
#include "test/common/child.h"

#include <nvshmem.h>
#include <nvshmemx.h>
#include <shmemx.h>
#include <shmemx_ep.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* former names too */

#define N SHMEM_TEAM_WORLD

static long word[8], psync[SHMEM_SYNC_SIZE];
static uint64_t bell, u64;
static long here[8];
static int i32;
static shmem_team_t team;
static nvshmem_team_t number;
static shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
static shmemx_uniqueid_t id;
static shmemx_put_t put = {word, NULL, 8, SHMEMX_COUNTER_INVALID, 0};
static nvshmemx_init_attr_t nv_attr;
static nvshmemx_uniqueid_t nv_id;
static shmemx_ep_config_t ep_config = SHMEMX_EP_CONFIG_INITIALIZER;
static shmemx_ep_bytes_t ep_bytes;

static shmemx_ep_t ep(void)
{
    shmemx_ep_t made = NULL;

    ep_config.hidden = 128;
    ep_config.experts = ep_config.topk = ep_config.tokens = 1;
    if (shmemx_ep_create(SHMEM_TEAM_WORLD, &ep_config, &made))
        exit(3);
    return made;
}

/*
 * X(NAME, CALL, LINE): CALL is true where the contract's result came back, "&& false" where it must not return; LINE is
 * what is said.
 */
/* clang-format off */
#define ENDS(call) ((void)(call), false)
#define RETURNS(call) ((void)(call), true)
#define NO_INIT_CALLS(X) \
    X(query_thread, ENDS(shmem_query_thread(NULL)), "shmem_query_thread: provided is NULL") \
    X(query_initialized, ENDS(shmem_query_initialized(NULL)), "shmem_query_initialized: initialized is NULL") \
    X(info_name, ENDS(shmem_info_get_name(NULL)), "shmem_info_get_name: name is NULL") \
    X(info_version, ENDS(shmem_info_get_version(&i32, NULL)), "shmem_info_get_version: major or minor is NULL") \
    X(init_thread, !shmem_init_thread(SHMEM_THREAD_SINGLE, NULL), NULL) \
    X(get_uniqueid, shmemx_get_uniqueid(NULL), "shmemx_get_uniqueid: id is NULL") \
    X(set_attr_id, shmemx_set_attr_uniqueid_args(0, 1, NULL, &attr), "id is NULL") \
    X(set_attr, shmemx_set_attr_uniqueid_args(0, 1, &id, NULL), "attr is NULL") \
    X(init_attr_id, shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, NULL), "shmemx_init_attr: attr is NULL") \
    X(init_attr_comm, shmemx_init_attr(SHMEMX_INIT_WITH_MPI_COMM, NULL), "shmemx_init_attr: attr is NULL") \
    X(nv_get_uniqueid, nvshmemx_get_uniqueid(NULL), "nvshmemx_get_uniqueid: uniqueid is NULL") \
    X(nv_set_attr_id, nvshmemx_set_attr_uniqueid_args(0, 1, NULL, &nv_attr), "uniqueid or attr is NULL") \
    X(nv_set_attr, nvshmemx_set_attr_uniqueid_args(0, 1, &nv_id, NULL), "uniqueid or attr is NULL") \
    X(nv_set_comm, nvshmemx_set_attr_mpi_comm_args(NULL, &nv_attr), "mpi_comm or nvshmem_attr is NULL") \
    X(nv_set_comm_attr, nvshmemx_set_attr_mpi_comm_args(&i32, NULL), "mpi_comm or nvshmem_attr is NULL") \
    X(nv_init_id, nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, NULL), "attr is NULL") \
    X(nv_init_comm, nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, NULL), "attr is NULL") \
    X(nv_init_no_id, nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &nv_attr), "unique id is NULL") \
    X(nv_init_flags, nvshmemx_hostlib_init_attr(0xffffff00, &nv_attr), "no NVSHMEMX_INIT_ constant") \
    X(nv_init_thread, !nvshmem_init_thread(NVSHMEM_THREAD_SERIALIZED, NULL), NULL) \
    X(nv_query_thread, ENDS(nvshmem_query_thread(NULL)), "provided is NULL") \
    X(nv_info_name, ENDS(nvshmem_info_get_name(NULL)), "nvshmem_info_get_name: name is NULL") \
    X(nv_info_version, ENDS(nvshmem_info_get_version(NULL, &i32)), "nvshmem_info_get_version: major or minor is NULL") \
    X(nv_vendor, ENDS(nvshmemx_vendor_get_version_info(&i32, &i32, NULL)), "or patch is NULL") \
    X(ep_bytes, shmemx_ep_bytes(&ep_config, 1, 1, NULL), "bytes is NULL") \
    X(ep_bytes_config, shmemx_ep_bytes(NULL, 1, 1, &ep_bytes), "config is NULL")

#define CALLS(X) \
    X(ctx_create, ENDS(shmem_ctx_create(0, NULL)), "shmem_ctx_create: ctx is NULL") \
    X(team_create_ctx, ENDS(shmem_team_create_ctx(N, 0, NULL)), "shmem_team_create_ctx: ctx is NULL") \
    X(ctx_get_team, ENDS(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, NULL)), "team is NULL") \
    X(session, ENDS(shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS)), \
      "config is NULL") \
    X(session_none, RETURNS(shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0)), NULL) \
    X(get_config, ENDS(shmem_team_get_config(N, SHMEM_TEAM_NUM_CONTEXTS, NULL)), "config is NULL") \
    X(get_config_none, !shmem_team_get_config(N, 0, NULL), NULL) \
    X(split, ENDS(shmem_team_split_strided(N, 0, 1, 1, NULL, 0, NULL)), "new_team is NULL") \
    X(split_config, ENDS(shmem_team_split_strided(N, 0, 1, 1, NULL, SHMEM_TEAM_NUM_CONTEXTS, &team)), \
      "configuration is NULL") \
    X(split_2d_x, ENDS(shmem_team_split_2d(N, 1, NULL, 0, NULL, NULL, 0, &team)), "xaxis_team or yaxis_team is NULL") \
    X(split_2d_y, ENDS(shmem_team_split_2d(N, 1, NULL, 0, &team, NULL, 0, NULL)), "xaxis_team or yaxis_team is NULL") \
    X(put_source, ENDS(shmem_long_put(word, NULL, 1, 0)), "shmem_long_put: source is NULL") \
    X(putmem_source, ENDS(shmem_putmem_nbi(word, NULL, 1, 0)), "shmem_putmem_nbi: source is NULL") \
    X(put64_source, ENDS(shmem_put64(word, NULL, 1, 0)), "shmem_put64: source is NULL") \
    X(iput_source, ENDS(shmem_long_iput(word, NULL, 1, 1, 1, 0)), "shmem_long_iput: source is NULL") \
    X(ibput_source, ENDS(shmem_long_ibput(word, NULL, 1, 1, 1, 1, 0)), "shmem_long_ibput: source is NULL") \
    X(get_dest, ENDS(shmem_long_get(NULL, word, 1, 0)), "shmem_long_get: dest is NULL") \
    X(getmem_dest, ENDS(shmem_getmem_nbi(NULL, word, 1, 0)), "shmem_getmem_nbi: dest is NULL") \
    X(iget_dest, ENDS(shmem_long_iget(NULL, word, 1, 1, 1, 0)), "shmem_long_iget: dest is NULL") \
    X(ibget_dest, ENDS(shmem_long_ibget(NULL, word, 1, 1, 1, 1, 0)), "shmem_long_ibget: dest is NULL") \
    X(put_nothing, RETURNS(shmem_long_put(word, NULL, 0, 0)), NULL) \
    X(put_signal, ENDS(shmem_long_put_signal(word, NULL, 1, &bell, 1, SHMEM_SIGNAL_SET, 0)), "source is NULL") \
    X(put_signal_nbi, ENDS(shmem_putmem_signal_nbi(word, NULL, 1, &bell, 1, SHMEM_SIGNAL_SET, 0)), "source is NULL") \
    X(fetch_nbi, ENDS(shmem_long_atomic_fetch_nbi(NULL, word, 0)), "fetch is NULL") \
    X(fetch_add_nbi, ENDS(shmem_long_atomic_fetch_add_nbi(NULL, word, 1, 0)), "fetch is NULL") \
    X(cswap_nbi, ENDS(shmem_long_atomic_compare_swap_nbi(NULL, word, 0, 1, 0)), "fetch is NULL") \
    X(wait_values, ENDS(shmem_long_wait_until_all_vector(word, 1, NULL, SHMEM_CMP_EQ, NULL)), "cmp_values is NULL") \
    X(test_values, ENDS(shmem_long_test_some_vector(word, 1, (size_t *)here, NULL, SHMEM_CMP_EQ, NULL)), \
      "cmp_values is NULL") \
    X(wait_indices, ENDS(shmem_long_wait_until_some(word, 1, NULL, NULL, SHMEM_CMP_EQ, 0)), "indices is NULL") \
    X(test_indices, ENDS(shmem_long_test_some(word, 1, NULL, NULL, SHMEM_CMP_EQ, 0)), "indices is NULL") \
    X(test_status, shmem_long_test_all(word, 1, NULL, SHMEM_CMP_EQ, 0), NULL) \
    X(pe_quiet, ENDS(shmem_pe_quiet(NULL, 1)), "target_pes is NULL") \
    X(ctx_pe_quiet, ENDS(shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, NULL, 1)), "target_pes is NULL") \
    X(to_all_work, RETURNS(shmem_long_sum_to_all(word, word + 1, 1, 0, 0, 1, NULL, psync)), NULL) \
    X(free_none, RETURNS(shmem_free(NULL)), NULL) \
    X(realloc_none, !shmem_realloc(NULL, 0), NULL) \
    X(free_later, RETURNS(shmemx_free_later(NULL)), NULL) \
    X(free_device, RETURNS(shmemx_free_device(NULL)), NULL) \
    X(team_create, ENDS(shmemx_team_create(N, NULL, 1, NULL, 0, &team)), "pes is NULL") \
    X(team_create_new, ENDS(shmemx_team_create(N, &i32, 1, NULL, 0, NULL)), "new_team is NULL") \
    X(team_get_id, ENDS(shmemx_team_get_id(NULL)), "id is NULL") \
    X(team_init, ENDS(shmemx_team_init(1, 1, 0, NULL, 0, NULL)), "new_team is NULL") \
    X(queue_create, ENDS(shmemx_queue_create(1, NULL)), "queues is NULL") \
    X(module_init, shmemx_module_init(NULL), "the module is NULL") \
    X(module_finalize, !shmemx_module_finalize(NULL), NULL) \
    X(buffer_unregister, shmemx_buffer_unregister(NULL), "addr is NULL") \
    X(proxy_waits, ENDS(shmemx_proxy_waits(NULL, &u64)), "shmemx_proxy_waits: kernels or threads is NULL") \
    X(proxy_waits_second, ENDS(shmemx_proxy_waits(&u64, NULL)), "shmemx_proxy_waits: kernels or threads is NULL") \
    X(proxy_bytes, ENDS(shmemx_proxy_bytes(NULL, NULL)), "shmemx_proxy_bytes: moved or copied is NULL") \
    X(network_counts, ENDS(shmemx_network_counts(NULL, NULL)), "operations or bytes is NULL") \
    X(stats, shmemx_stats(NULL, 8), "shmemx_stats: out is NULL") \
    X(stats_peers, shmemx_stats_peers(NULL, 1), "shmemx_stats_peers: rows is NULL") \
    X(counter_create, ENDS(shmemx_counter_create(N, 1, NULL)), "counters is NULL") \
    X(counter_destroy, ENDS(shmemx_counter_destroy(N, 1, NULL)), "counters is NULL") \
    X(put_list, ENDS(shmemx_putmem_list_nbi(NULL, 1)), "puts is NULL") \
    X(put_list_source, ENDS(shmemx_putmem_list_nbi(&put, 1)), "source is NULL") \
    X(put_list_none, RETURNS(shmemx_putmem_list_nbi(NULL, 0)), NULL) \
    X(report_add, ENDS(shmemx_report_add(NULL, NULL)), "describe is NULL") \
    X(report_remove, shmemx_report_remove(NULL), "no callback has this arg") \
    X(nv_split, ENDS(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, NULL)), "new_team is NULL") \
    X(nv_split_2d, ENDS(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 1, NULL, 0, &number, NULL, 0, NULL)), \
      "yaxis_team is NULL") \
    X(nv_get_config, ENDS(nvshmem_team_get_config(NVSHMEM_TEAM_WORLD, NULL)), "team_get_config: config is NULL") \
    X(nv_team_id, ENDS(nvshmemx_team_get_uniqueid(NULL)), "id is NULL") \
    X(nv_team_init, nvshmemx_team_init(&number, NULL, 0, 1, 0), "team or config is NULL") \
    X(nv_qp_create, nvshmemx_qp_create(1, NULL), "out_qp_array is NULL") \
    X(nv_region, nvshmemx_region_start(NULL, NULL), "handle is NULL") \
    X(nv_region_is_active, ENDS(nvshmemx_region_is_active(0, NULL)), "active is NULL") \
    X(nv_free, RETURNS(nvshmem_free(NULL)), NULL) \
    X(ep_create, shmemx_ep_create(N, &ep_config, NULL), "ep is NULL") \
    X(ep_create_config, shmemx_ep_create(N, NULL, &(shmemx_ep_t){NULL}), "config is NULL") \
    X(ep_destroy, shmemx_ep_destroy(NULL), "ep is NULL") \
    X(ep_dispatch, shmemx_ep_dispatch(NULL, &(shmemx_ep_dispatch_t){0}), "ep is NULL") \
    X(ep_dispatch_call, shmemx_ep_dispatch(ep(), NULL), "call is NULL") \
    X(ep_dispatch_x, \
      shmemx_ep_dispatch(ep(), &(shmemx_ep_dispatch_t){SHMEMX_EP_CALL_VERSION, .halves = 3, .tokens = 1}), \
      "x is NULL") \
    X(ep_combine, shmemx_ep_combine(NULL, &(shmemx_ep_combine_t){0}), "ep is NULL") \
    X(ep_combine_call, shmemx_ep_combine(ep(), NULL), "call is NULL") \
    X(ep_buffer, !shmemx_ep_buffer(NULL, 0), "ep is NULL") \
    X(ep_counts, shmemx_ep_counts(NULL, 0, NULL, NULL), "ep is NULL") \
    X(ep_statistics, shmemx_ep_statistics(NULL, NULL), "ep is NULL") \
    X(ep_statistics_none, shmemx_ep_statistics(ep(), NULL), "statistics is NULL")

#define MAKE(NAME, CALL, LINE) \
    static bool NAME##_null(void) \
    { \
        return CALL; \
    }
NO_INIT_CALLS(MAKE)
CALLS(MAKE)
#define ROW(NAME, CALL, LINE) {#NAME, NAME##_null, LINE},

int main(void)
{
    static const struct child_call before[] = {NO_INIT_CALLS(ROW){0}}, within[] = {CALLS(ROW){0}};

    return child_calls(before, CHILD_NO_INIT) + child_calls(within, 0) ? 1 : 0;
}
