/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals in device code, and puts with a signal: all lanes store and meet at the scope's barrier, then lane 0
 * releases with the signal. Setting a signal is one store, in GPU and host memory; adding is an atomic, in GPU memory.
 */
#ifndef WSH_DEVICE_SIGNAL_CUH
#define WSH_DEVICE_SIGNAL_CUH

#include "put.cuh"

static WSH_DEV uint64_t wsh_dev_signal_reach(const char *what, const struct wsh_dev_signal &signal, int pe)
{
    if (wsh_dev_checks() && signal.op != SHMEM_SIGNAL_SET && signal.op != SHMEM_SIGNAL_ADD)
        wsh_dev_refuse(what, WSH_DEVICE_BAD_VALUE, pe, signal.sym, (uint64_t)(int64_t)signal.op);
    return wsh_dev_reach_word<sizeof *signal.sym>(what, signal.sym, pe, signal.op == SHMEM_SIGNAL_ADD);
}

static WSH_DEV void wsh_dev_signal_release(uint64_t at, uint64_t value, int op)
{
    if (op == SHMEM_SIGNAL_SET)
        wsh_ptx_signal_set((uint64_t *)at, value);
    else
        wsh_ptx_signal_add((uint64_t *)at, value);
}

/* All lanes, behind a barrier: to mapped memory. The signal is in memory, as the copy takes most registers. */
template <int S>
WSH_DEV_CALL void wsh_dev_put_signal_stored(uint64_t to, const void *source, size_t len,
                                            const struct wsh_dev_signal *signal, int pe)
{
    if (len)
        wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0) {
        if (signal->at)
            wsh_dev_signal_release(signal->at, signal->value, signal->op);
        else
            wsh_dev_signal_request(*signal, pe);
    }
    wsh_dev_sync<S>();
}

/* Behind a barrier; the last one makes the signal one of the operations that any lane's later quiet completes. */
template <int S, bool WAITS>
WSH_DEV_CALL void wsh_dev_put_signal_any(const char *what, void *dest, const void *source, size_t len,
                                         uint64_t *sym, uint64_t value, int op, int pe)
{
    struct wsh_dev_signal signal = {sym, value, op, 0};
    uint64_t to = 0;

    signal.at = wsh_dev_signal_reach(what, signal, pe);
    wsh_ptx_again(&signal);
    if (len) {
        to = wsh_dev_reach_or_request(what, dest, len, pe, false);
        wsh_dev_check_local(what, source, len);
    }
    if (len && !to) {
        wsh_dev_put_far<S, WAITS>(dest, source, len, pe, &signal);
        wsh_dev_sync<S>();
    } else {
        wsh_dev_put_signal_stored<S>(to, source, len, &signal, pe);
    }
}

/* All lanes, behind a barrier: both to mapped memory. */
template <int S>
WSH_DEV_CALL void wsh_dev_put_signal_near(uint64_t to, const void *source, size_t len, uint64_t flag, uint64_t value,
                                          int op)
{
    if (len)
        wsh_dev_store<S>(to, source, len);
    wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_signal_release(flag, value, op);
    wsh_dev_sync<S>();
}

/* One unit is lane 0's own store, which its release covers without a barrier. */
template <int S, bool WAITS = true>
static WSH_DEV_MOVE void wsh_dev_put_signal(const char *what, void *dest, const void *source, size_t len, uint64_t *sym,
                                       uint64_t value, int op, int pe)
{
    uint64_t flag, to;
    bool mapped = wsh_dev_reach_fast(sym, sizeof *sym, pe, &flag),
    fast = wsh_dev_reach_fast(dest, len, pe, &to) && mapped;
    unsigned unit = 0;

    wsh_dev_sync<S>();
    if (fast)
        unit = wsh_dev_short_copy<S, wsh_dev_from_generic>(to, source, len);
    if (!unit) {
        if (fast)
            wsh_dev_put_signal_near<S>(to, source, len, flag, value, op);
        else if (WAITS || mapped || !wsh_dev_put_plain_signal<S>(dest, source, len, sym, value, op, pe))
            wsh_dev_put_signal_any<S, WAITS>(what, dest, source, len, sym, value, op, pe);
        return;
    }
    if (len > unit)
        wsh_dev_sync<S>();
    if (wsh_dev_lane<S>() == 0)
        wsh_dev_signal_release(flag, value, op);
    wsh_dev_sync<S>();
}

/* The signal alone, where that is not one access. */
inline WSH_DEV_CALL void wsh_dev_signal_send_any(const char *what, const struct wsh_dev_signal &signal, int pe)
{
    uint64_t at = wsh_dev_signal_reach(what, signal, pe);

    if (!at)
        wsh_dev_signal_request(signal, pe);
    else if (signal.op == SHMEM_SIGNAL_SET)
        wsh_ptx_put((uint64_t *)at, signal.value);
    else
        wsh_ptx_add((uint64_t *)at, signal.value);
}

/* The signal alone, not ordered after earlier puts; relaxed. */
static WSH_DEV void wsh_dev_signal_send(const char *what, const struct wsh_dev_signal &signal, int pe)
{
    uint64_t at;
    bool fast = wsh_dev_reach_fast(signal.sym, sizeof *signal.sym, pe, &at);

    if (fast && signal.op == SHMEM_SIGNAL_SET)
        wsh_ptx_put((uint64_t *)at, signal.value);
    else if (fast && signal.op == SHMEM_SIGNAL_ADD)
        wsh_ptx_add((uint64_t *)at, signal.value);
    else
        wsh_dev_signal_send_any(what, wsh_dev_signal(signal), pe);
}

#endif
