/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams and communication contexts: sections 9.4 and 9.5 of OpenSHMEM 1.6. Read by shmem.h and pshmem.h under their
 * names.
 *
 * A team is an ordered set of PEs, numbered from 0; a context is a set of operations that are ordered and completed
 * together. A handle that was destroyed, or a pointer that is NULL where a result goes, ends the job with one line.
 */
#ifndef WSH_NAME
#include <shmem.h>
#else

/* Return this PE's number in `team`, and the team's number of PEs; -1 for SHMEM_TEAM_INVALID. Sections 9.4.1, .2. */
int WSH_NAME(team_my_pe)(shmem_team_t team);
int WSH_NAME(team_n_pes)(shmem_team_t team);

/*
 * Writes the fields named by `config_mask` (bits SHMEM_TEAM_*) to *config; `config` may be NULL
 * when the mask is 0. Returns 0, nonzero for SHMEM_TEAM_INVALID. Sections 9.4.3, .4.
 */
int WSH_NAME(team_get_config)(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/*
 * Returns the number in `dest_team` of the PE whose number in `src_team` is `src_pe`; -1 where the PE is not in both
 * teams, or a team is SHMEM_TEAM_INVALID. Section 9.4.5.
 */
int WSH_NAME(team_translate_pe)(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/*
 * Collective over `parent_team`, with equal arguments but for the configurations. Split off a team of the PEs `start`,
 * `start` + `stride` … (`size` of them, in this order) of the parent; or, the parent's PEs being laid out in rows of
 * `xrange`, a team for each row (xaxis) and each column (yaxis). Configurations may be NULL where their mask is 0.
 * Return 0 and the handle, SHMEM_TEAM_INVALID at PEs that are no members; or nonzero and SHMEM_TEAM_INVALID at all
 * PEs: the PEs do not exist in the parent, the parent is SHMEM_TEAM_INVALID, or there is no room (a line says so).
 * No synchronization is needed before the new teams are used. Sections 9.4.6, .7.
 */
int WSH_NAME(team_split_strided)(shmem_team_t parent_team, int start, int stride, int size,
                                 const shmem_team_config_t *config, long config_mask, shmem_team_t *new_team);
int WSH_NAME(team_split_2d)(shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config,
                            long xaxis_mask, shmem_team_t *xaxis_team,
                            const shmem_team_config_t *yaxis_config, long yaxis_mask,
                            shmem_team_t *yaxis_team);

/*
 * Destroys `team`, and the contexts that were created from it; collective over the team. Does nothing for
 * SHMEM_TEAM_INVALID. A predefined team ends the job with one line. Section 9.4.8.
 */
void WSH_NAME(team_destroy)(shmem_team_t team);

/*
 * Create a context of the world team, or of `team`: PE numbers given with it are the team's.
 * `options` is 0 or SHMEM_CTX_* bits. Not collective. Returns 0 and the handle in *ctx, or nonzero
 * and SHMEM_CTX_INVALID, which does not end the job. Sections 9.5.1, .2.
 */
int WSH_NAME(ctx_create)(long options, shmem_ctx_t *ctx);
int WSH_NAME(team_create_ctx)(shmem_team_t team, long options, shmem_ctx_t *ctx);

/*
 * Completes all operations on `ctx`, as quiet does, and destroys it. Does nothing for SHMEM_CTX_INVALID. A private
 * context is destroyed by its own thread. Section 9.5.3.
 */
void WSH_NAME(ctx_destroy)(shmem_ctx_t ctx);

/*
 * Stores the team of `ctx` in *team and returns 0; for SHMEM_CTX_INVALID stores SHMEM_TEAM_INVALID and returns nonzero.
 * Section 9.5.4.
 */
int WSH_NAME(ctx_get_team)(shmem_ctx_t ctx, shmem_team_t *team);

#endif
