#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every WSH_INVARIANT notices a mistake that breaks it: one edit at a time of a copy of a source, compiled with invariants,
# in a program that reaches the place, which must end with that invariant's line.
# timeout: 300
# shellcheck disable=SC2031
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/common/mutants.sh"
case ${WSH_TEST_VARIANT:-} in asan | tsan) tap_skip_all "the library's objects need their sanitizer" ;; esac
export top_srcdir
base=$top_builddir/.libs/libwshbase.a
flags="-std=gnu11 -O1 -w -fPIC -DWSH_DEBUG -I$top_srcdir -I$top_srcdir/include -I$top_builddir ${LIBFABRIC_CFLAGS:-}"
ring="-DWSH_RING_PIECES=32u -DWSH_RING_CHUNK=64u -DWSH_ASIDE=8"
worlds=$tap_dir/worlds
mkdir "$worlds"
echo 'int main(void) { return 0; }' >"$worlds/empty.c"
${CC:-cc} "$worlds/empty.c" -lcunit -o "$worlds/empty" 2>"$err" || tap_skip_all "no CUnit (libcunit1-dev)"

# Files of two folders may have one name.
object_of()
{
    echo "$1" | sed 's,/,-,g; s,c$,o,'
}

# world NAME SOURCE…: the program around what is mutated.
world()
{
    mkdir "$worlds/$1"
    world=$1
    shift
    for source in "$@"; do
        # shellcheck disable=SC2046,SC2086
        ${CC:-cc} $flags $(world_flags "$world") -c "$top_srcdir/$source" \
            -o "$worlds/$world/$(object_of "$source")" 2>"$err" || tap_fail "$world" "$source does not compile"
    done
}

world_flags()
{
    [ "$1" != calls ] || echo "$ring"
}

# What it is linked with.
world_libs()
{
    case $1 in
        explore | sim) echo "$base" ;;
        efa) echo "-Wl,--wrap=wsh_log_write -Wl,--wrap=clock_gettime -Wl,--wrap=wsh_efa_lib_open -Wl,--wrap=wsh_topo_load $archive $base" ;;
        calls) echo "$archive $base" ;;
        *) echo "$archive $base -lcunit" ;;
    esac
}

# edited FOLDER FILE EDIT
edited()
{
    mkdir -p "$1/$(dirname "$2")"
    sed "$3" "$top_srcdir/$2" >"$1/$2"
    ! cmp -s "$top_srcdir/$2" "$1/$2" || echo "the edit of $2 does not fit the source any more: $3"
}

# judge NAME INVARIANT: the job that was run ended by it.
judge()
{
    if grep -qF ": does not hold: $2: this is a fault of warpshmem" "$err"; then
        tap_ok "$1"
    else
        tap_fail "$1" "the invariant is not reached: $2"
    fi
}

# caught WORLD INVARIANT FILE EDIT [SOURCE…]: SOURCE are compiled with it; they include it, if it is a header.
caught()
{
    world=$1 invariant=$2 file=$3
    name="$(basename "$file"): $invariant"
    folder=$tap_dir/mutant
    rm -rf "$folder"
    why=$(edited "$folder" "$file" "$4")
    [ -z "$why" ] || { tap_fail "$name" "$why"; return; }
    shift 4
    case $file in *.c) set -- "$file" "$@" ;; esac
    for source in "$@"; do
        from=$folder/$source
        [ -e "$from" ] || from=$top_srcdir/$source
        # shellcheck disable=SC2046,SC2086
        ${CC:-cc} -I"$folder" $flags $(world_flags "$world") -c "$from" -o "$folder/$(object_of "$source")" 2>"$err" ||
            { tap_fail "$name" "$source does not compile"; return; }
    done
    for object in "$worlds/$world"/*.o; do
        [ -e "$folder/$(basename "$object")" ] || cp "$object" "$folder/"
    done
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} "$folder"/*.o $(world_libs "$world") $libs -lpthread -ldl -lrt -lm -o "$folder/program" 2>"$err" ||
        { tap_fail "$name" "does not link"; return; }
    case $world in efa) set -- "$top_srcdir"/test/fuzz/corpus/efa_wire/* ;; *) set -- ;; esac
    run_job 20 "$folder/program" "$@"
    judge "$name" "$invariant"
}

# in_job SETTINGS PROGRAM INVARIANT FILE EDIT: the same in a job of 2 PEs, with a library of that copy.
in_job()
{
    settings=$1
    shift
    name="$(basename "$3"): $2"
    folder=$tap_dir/job
    rm -rf "$folder" "$folder.source"
    mkdir "$folder"
    why=$(edited "$folder.source" "$3" "$4")
    [ -z "$why" ] || { tap_fail "$name" "$why"; return; }
    # shellcheck disable=SC2086
    { ${CC:-cc} $flags -c "$folder.source/$3" -o "$folder/$(basename "$3" .c).o" && library "$folder"; } >"$out" 2>"$err" ||
        { tap_fail "$name" "does not compile"; return; }
    # shellcheck disable=SC2086
    run_job 20 env $settings "LD_LIBRARY_PATH=$folder/lib:$LD_LIBRARY_PATH" "$oshrun" -n 2 "$(test_program "$1")"
    judge "$name" "$2"
}

srd=transports/efa/srd
engine="$srd/flow.c $srd/issue.c $srd/rx_flow.c"
# shellcheck disable=SC2086
world explore test/srd/explore.c test/srd/world.c test/srd/world_rules.c test/common/search.c $engine
# shellcheck disable=SC2086
world srd_flow test/unit/srd_flow.c test/common/unit.c $engine
# shellcheck disable=SC2086
world srd_rx_flow test/unit/srd_rx_flow.c test/common/unit.c $engine

# shellcheck disable=SC2086
world sim test/srd/sim.c test/srd/sim_net.c test/srd/sim_books.c $engine
# shellcheck disable=SC2086
world calls test/unit/invariants_calls.c runtime/gpu/proxy/consumer.c runtime/gpu/proxy/ring.c $engine

# --- The ordering engine, source ---
caught explore 'flow->failed || !wsh_srd_before(flow->begun, flow->ended + n)' $srd/flow.c \
    's/^    end_parts(ctx, flow, n);/    end_parts(ctx, flow, n + 1);/'
caught calls 'n <= __atomic_load_n(&flow->puts_begun, __ATOMIC_RELAXED) - flow->puts_ended' $srd/flow.c \
    's/&flow->puts_ended, flow->puts_ended + n,/\&flow->puts_ended, flow->puts_ended + n + 1,/'
caught explore 'op->ended <= op->started' $srd/flow.c 's/^    op->ended++;/    op->ended += 2;/'
caught explore 'flow->out[op->class]' $srd/issue.c 's/^    flow->out\[op->class\] += op->segments;//'
caught explore 'flow->late' $srd/issue.c 's/^        flow->late++;/        ;/'
caught explore '!(flow->free_slots >> slot & 1)' $srd/flow.c \
    's/^        slot_free(flow, names->own);/&&/'
caught explore 'flow->free_slots' $srd/issue.c 's/ && flow->free_slots && op->segments/ \&\& op->segments/'
caught explore 'flow->link->fetches >= flow->fetches' $srd/issue.c 's/^    flow->link->fetches += .*//'
caught explore 'flow->link->msgs >= n' $srd/issue.c 's/^    flow->link->msgs++;//'
caught explore 'flow->link->imms >= counted - flow->imms_acked' $srd/issue.c \
    '/^static void join_group/,/^}/s/^    flow->link->imms += op->segments;//'
caught srd_flow 'link->imms >= counted - link->counter_counted' $srd/issue.c \
    's/^    flow->link->imms += n;//'
caught calls 'flow->write_epoch < epoch' $srd/issue.c 's/op->epoch = ctx->epoch;/op->epoch = ctx->epoch \& 1;/'
caught explore 'op->unordered || flow->write_epoch == op->epoch' $srd/issue.c \
    's/if (!op->unordered && !writes_open(flow, op->epoch))/if (0)/'
caught sim 'flow->sent - flow->acked < flow->window' $srd/issue.c \
    's/ && flow->sent - flow->acked < flow->window//'
caught explore 'flow->link->msgs < flow->link->msgs_max' $srd/issue.c 's/link->msgs < link->msgs_max && //'
caught sim 'op->epoch >= flow->msg_epoch' $srd/issue.c \
    '/^static bool deferred_before/,/^}/s/return (/return 0 \&\& (/'
caught explore 'op->epoch != flow->msg_epoch || condition->number == flow->condition.number' $srd/issue.c \
    '/^static bool condition_for/,/^}/s/if (flow->msg_epoch == epoch)/if (0)/'
caught explore '!closes || (condition->group == flow->open_group && condition->count == flow->open_count)' $srd/issue.c \
    's/condition->count = (uint16_t)flow->open_count;/condition->count = (uint16_t)(flow->open_count + 1);/'
# shellcheck disable=SC2086
caught explore '!queue->head || queue->tail->epoch <= op->epoch' $srd/queue.h 's/if (!queue->head || .*) {/if (1) {/' $engine
# shellcheck disable=SC2086
caught explore 'op->epoch <= queue->head->epoch' $srd/queue.h 's/if (!queue->head || .*) {/if (!queue->head) {/' $engine

# --- The ordering engine, target ---
caught explore '!stamp->own_count || group_complete(rx_flow, stamp->own_group, stamp->own_count) == 1' $srd/rx_flow.c \
    's/if (count->count < rx_flow->held.*/if (0)/'
caught srd_rx_flow '!bit_is(rx_flow->over, index)' $srd/rx_flow.c \
    '/^static int pass_condition/,/^}/s/return apply_held(rx_flow, index, sink);/{ apply_held(rx_flow, index, sink); bit_set(rx_flow->over, index); return apply_held(rx_flow, index, sink); }/'
caught explore 'rx_flow->n_shut == bits_count(rx_flow->shut)' $srd/rx_flow.c 's/rx_flow->n_shut++;/rx_flow->n_shut += 2;/'
caught explore 'bit_is(rx_flow->lacking, index)' $srd/rx_flow.c 's/^    bit_set(rx_flow->lacking, index);//'
# shellcheck disable=SC2086
caught explore '!wsh_srd_before(rx_flow->applied, rx_flow->acked_applied)' $srd/rx_flow.c 's/^        rx_flow->applied++;/        rx_flow->applied--;/'
caught explore '!wsh_srd_before(rx_flow->counted, rx_flow->acked_counted)' $srd/rx_flow.c 's/^    rx_flow->counted++;/    rx_flow->counted--;/'
caught sim '!rx_flow->acking || !in_progress' $srd/rx_flow.h 's/return !rx_flow->acking && /return /' test/srd/sim_net.c

# --- The transport by libfabric ---
common=test/fuzz/common
world efa test/fuzz/efa_wire.c $common/efa_peers.c $common/efa_world.c $common/fake_fabric.c $common/fake_info.c \
    $common/fake_objects.c test/provider/info.c test/provider/objects.c $common/fuzz.c $common/main.c
efa=transports/efa
caught efa '!req == !pool->n_free' $efa/wire/req.h 's/^    req->pool->n_free++;//' $efa/wire/msg.c $efa/wire/req.c
caught efa 'req->pool->n_free <= req->pool->n' $efa/wire/req.h 's/pool->n_free++;/pool->n_free += 2;/' $efa/wire/req.c
caught efa 'set->ops.n_free <= WSH_EFA_OPS_MAX' $efa/ops/op.c 's/^    set->ops.n_free--;//'
in_job 'SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm' test/mp/put_signal_orders 'op->in_flight' $efa/ops/op.c \
    's/^    op->in_flight++;//'
caught efa '*count' $efa/set/flow.c 's/^            wsh_efa_count_sub(&flow->what\[what\]);/&&/'
caught efa 'set->rail[req->wr.rail].taken' $efa/set/set.h 's/^    set->rail\[req->wr.rail\].taken++;//' \
    $efa/wire/msg.c $efa/wire/batch.c $efa/ops/rma.c $efa/progress.c
caught efa 'set->peers[req->pe].posted' $efa/set/set.h 's/^    peer->posted++;//' \
    $efa/wire/msg.c $efa/wire/batch.c $efa/ops/rma.c $efa/progress.c
caught efa '!done || __atomic_load_n(&done->left, __ATOMIC_RELAXED) > 0' $efa/ops/fetch.c 's/^    wsh_efa_done_add(fetch->done);//'
in_job 'SHMEM_TRANSPORTS=efa FI_PROVIDER=tcp,net,ofi_rxm' test/mp/coll_sizes 'set->peers[flow->pe].imm_count.lazy' \
    $efa/ops/imm_count.c 's/imm_count.lazy++;/imm_count.lazy;/'
caught efa 'fetch->flow' $efa/ops/fetch.c '/^static int fetch_end/,/^}/s/^    fetch_free(set, fetch);/&&/'

# --- Queues that kernels write ---
world efa_gda_cq test/unit/efa_gda_cq.c test/common/unit.c
caught efa_gda_cq 'window->mark <= window->count' $efa/gda/cq.c 's/window->mark += run;/window->mark += 64;/'
caught efa_gda_cq 'old.mark + wider.count == old.count' $efa/gda/cq.c 's/if (is_in(&old, i))/if (0)/'
caught efa_gda_cq 'entries >= 64 && !(entries & (entries - 1))' $efa/gda/cq.c 's/entries \*= 2;/entries += entries \/ 2;/'

# --- The proxy's rings ---
proxy=runtime/gpu/proxy
caught calls 'ring->started - ring->freed <= WSH_RING_PIECES' $proxy/ring.c \
    's/ring->started = at + slot->n;/ring->started = at + slot->n + WSH_RING_PIECES;/'
caught calls 'ring->slot[index].state == WSH_RING_SLOT_DUE' $proxy/ring.c \
    's/slot->state = request->answer ? WSH_RING_SLOT_DUE : WSH_RING_SLOT_PLAIN;/slot->state = WSH_RING_SLOT_PLAIN;/'
caught calls 'ring->freed <= ring->started' $proxy/ring.c \
    's/ring->freed += ring->slot\[.*/ring->freed += WSH_RING_PIECES;/'
caught calls 'consumer->n_aside <= WSH_ASIDE' $proxy/ring.c \
    's/n == WSH_ASIDE || count_aside(consumer, n, request->pe) >= WSH_ASIDE_PE || /0 || /; s/aside\[n\] = /aside[n % WSH_ASIDE] = /; s/aside_changed(consumer, n + 1);/aside_changed(consumer, n + 9);/'
caught calls 'count_aside(consumer, consumer->n_aside, request->pe) <= WSH_ASIDE_PE' $proxy/ring.c \
    's/ || count_aside(consumer, n, request->pe) >= WSH_ASIDE_PE//'
caught calls 'ring->done <= ring->started' $proxy/ring.c \
    's/ring->done = ring->started;/ring->done = ring->started + 1;/'
caught calls 'ring->read <= ring->started' $proxy/ring.c \
    's/ring->read = ring->started;/ring->read = ring->started + 1;/'

# --- Memory ---
memory=runtime/memory
world alloc test/unit/alloc.c test/common/unit.c
world heap test/unit/heap.c test/common/unit.c
caught alloc 'is_apart(tree, node)' $memory/alloc.c 's/wsh_range_new(off + len, after)/wsh_range_new(off + len - 64, after)/' $memory/alloc_tree.c
caught alloc 'off % align == 0 && wsh_tree_find(&alloc->tree, off) == node' $memory/alloc.c \
    's/off = round_up(node->off, align);/off = node->off;/'
caught alloc 'wsh_tree_largest(tree) <= alloc->free_bytes' $memory/alloc.c 's/^        alloc->free_bytes += len;//'
caught heap 'heap->committed <= heap->seg[WSH_SEG_HEAP].len' $memory/heap.c \
    's/heap->committed = end;/heap->committed = end + heap->seg[WSH_SEG_HEAP].len;/'

# --- Waits, and the root of a unique id ---
world wait test/unit/wait.c test/common/unit.c test/common/fake_boot.c
world uid_root test/unit/uid_root.c test/common/unit.c
caught wait '__atomic_load_n(&job->waiters, __ATOMIC_RELAXED)' runtime/wait/wait.c \
    's/if (!__atomic_fetch_add(&job->waiters, 1, __ATOMIC_RELAXED)/if (!job->waiters/'
caught uid_root 'gather->have <= gather->n' bootstrap/uid/gather.c 's/gather->have++;/gather->have += gather->n + 1;/'
caught uid_root '!buf || buf->refs > 0' bootstrap/uid/conn.c 's/^    buf->refs++;//'

# --- Collectives ---
caught calls 'unit < 0 || unit + n <= pool->n_units' runtime/coll/memory/pool.c 's/return unit + 1 - n;/return unit + 1;/'
caught calls '!is_free(pool->map, unit)' runtime/coll/memory/pool.c \
    '/^bool wsh_pool_take/,/^}/s/set_row(pool->map, unit, n, false);/;/'
in_job '' test/mp/coll_mixed_epochs 'rc || coll->slots - coll->safe <= WSH_SLOT_COUNT' runtime/coll/memory/share.c \
    's/if (coll->slots + 1 > coll->safe + WSH_SLOT_COUNT)/if (0)/'
in_job '' test/mp/requests_random \
    'of->failed || req->number <= WSH_REQ_SLOTS || req->number + WSH_REQ_IN_FLIGHT <= of->known + WSH_REQ_SLOTS' \
    runtime/coll/request/queue.c 's/of->numbered + 1 - of->synced >= SYNC_EVERY/0/'
in_job '' test/mp/requests_random '!requests->entered' runtime/coll/request/request.c \
    's/requests->entered = requests->locked = false;/requests->locked = false;/'
in_job '' test/mp/alltoall_sizes 'coll->safe <= slots && slots <= coll->slots' runtime/coll/memory/blocks.c \
    's/before = team->coll->slots;/before = team->coll->slots + 99;/'
in_job WSH_TEST_PATH=local test/mp/free_later '!at || releases->list[at - 1].key < key' $memory/free_later.c \
    '/^static size_t index_of/,/^}/s/return low;/return releases->n;/'


there=$(cd "$top_srcdir" && grep -rhE '^ *WSH_INVARIANT\(' bootstrap runtime transports | wc -l)
tap_check "each of the $there invariants has a mutant" test "$there" = "$tap_cases"
tap_done
