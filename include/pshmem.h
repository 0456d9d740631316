/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiling interface (section 10): every routine of shmem.h under the name pshmem_x, with the
 * same contract. A profiler defines shmem_x itself and calls pshmem_x; C11 generic forms are macros
 * and end in shmem_x.
 */
#ifndef WSH_PSHMEM_H
#define WSH_PSHMEM_H

#include <shmem.h>

#define WSH_NAME(name) pshmem_##name
#define WSH_OLD_NAME(name) pshmem_##name

#ifdef __cplusplus
extern "C" {
#endif

#include <shmem/setup.h>

#include <shmem/memory.h>

#include <shmem/team.h>

#include <shmem/rma.h>

#include <shmem/amo.h>

#include <shmem/signal.h>

#include <shmem/session.h>

#include <shmem/coll.h>

#include <shmem/p2p.h>

#include <shmem/order.h>

#include <shmem/lock.h>

#ifdef __cplusplus
}
#endif

#undef WSH_NAME
#undef WSH_OLD_NAME

#endif
