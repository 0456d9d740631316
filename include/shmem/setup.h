/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set-up, exit, queries and threads: sections 9.1 and 9.2 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their
 * names.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/*
 * Start the library. Collective over all PEs; must come before all other calls. Each call needs one
 * finalize of its own; after the last finalize the library may be started again. init gives thread
 * level SHMEM_THREAD_SINGLE; init_thread asks for level `requested`, stores in *provided the level that
 * the first call obtained, and returns 0. If the job cannot start, init ends it with one line of cause
 * and cure, and init_thread returns nonzero after that line. Sections 9.1.1, 9.2.1.
 */
void WSH_NAME(init)(void);
int WSH_NAME(init_thread)(int requested, int *provided);

/* Stores the thread level in force in *provided. Section 9.2.2. */
void WSH_NAME(query_thread)(int *provided);

/* Stores 1 in *initialized between init and its finalize, else 0. May be called at any time. Section 9.1.5. */
void WSH_NAME(query_initialized)(int *initialized);

/*
 * Ends the part of the program that uses the library; collective over all PEs. Every call is a
 * barrier that completes pending communication of the default context; the last one of a series
 * also destroys shareable contexts and teams, frees the symmetric heap and leaves the job. A
 * process that exits without it counts as failed. Section 9.1.4.
 */
void WSH_NAME(finalize)(void);

/*
 * Ends the whole job, from any one PE: standard I/O is flushed, every PE is terminated, and the
 * launcher's exit status is `status` (one of them, where several PEs call it). Does not return. In kernels
 * too, which end with an error. Section 9.1.6.
 */
WSH_NORETURN void WSH_NAME(global_exit)(int status);

/* Return this PE's number, 0 to n_pes - 1, and the number of PEs of the job. Sections 9.1.2, .3. */
int WSH_NAME(my_pe)(void);
int WSH_NAME(n_pes)(void);

/* Returns 1 if routines of the library can reach `pe`, else 0, also for a PE out of range. Section 9.1.7. */
int WSH_NAME(pe_accessible)(int pe);

/* Returns 1 if `addr` is a symmetric address that routines of the library can use for `pe`, else 0. Section 9.1.8. */
int WSH_NAME(addr_accessible)(const void *addr, int pe);

/*
 * Return an address by which this PE can load from and store to the object at symmetric address `dest` of PE `pe` of
 * the world, or of `team`; NULL where there is none (the PE is on another host, `dest` is not symmetric, there is no
 * such PE, SHMEM_TEAM_INVALID). It is valid until the object is freed, and is not itself a symmetric address.
 * Sections 9.1.9, .10.
 */
void *WSH_NAME(ptr)(const void *dest, int pe);
void *WSH_NAME(team_ptr)(shmem_team_t team, const void *dest, int pe);

/* Stores SHMEM_MAJOR_VERSION and SHMEM_MINOR_VERSION, as the library was built. Section 9.1.11. */
void WSH_NAME(info_get_version)(int *major, int *minor);

/* Writes SHMEM_VENDOR_STRING to `name`, which holds at least SHMEM_MAX_NAME_LEN bytes. Section 9.1.12. */
void WSH_NAME(info_get_name)(char *name);

/*
 * Does nothing here; a profiler that defines it learns from `level` what the program wants (0: no
 * profiling, 1: the default, 2: the default, and flush; other values are the profiler's own). May be
 * called at any time. Section 10.
 */
void WSH_NAME(pcontrol)(int level, ...);

/*
 * Deprecated since 1.2. start_pes: init, without effect when repeated; finalize follows by itself
 * at the program's exit. `npes` is not read. Section 9.1.13.
 */
void WSH_OLD_NAME(start_pes)(int npes);
int WSH_OLD_NAME(_my_pe)(void);
int WSH_OLD_NAME(_num_pes)(void);

#endif
