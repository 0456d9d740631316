/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins a job through PMI-1 or PMI-2, as hydra (MPICH) and Slurm offer them, without their libraries. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/blob/blob.h"
#include "bootstrap/blob/host_blob.h"
#include "bootstrap/pmi/keys.h"
#include "bootstrap/pmi/value.h"
#include "bootstrap/uid/again.h"
#include "base/err.h"
#include "base/log.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * This process as the server knows it, from the first shmem_init on: servers take no PE back that has said finalize.
 * Hydra takes one for failed that ends without that word, by _exit or exec: there shmem_finalize says it, and the next
 * shmem_init goes without the server (again.h). Elsewhere the end of the process does, and keys of each generation have
 * names of their own, as they cannot be put twice.
 */
static struct {
    pid_t pid;      /* the process that joined; a forked child is not in the job. 0 = none */
    bool open;      /* between shmem_init and shmem_finalize */
    bool finalizes; /* shmem_finalize leaves the server */
    const struct wsh_env *env;
    uint32_t generation;
    int barriers; /* of this generation */
    struct wsh_pmi_talk talk;
} client;

/* Numbers of rounds that are not the caller's. */
#define SECRET_ROUND 0xffff
#define AGAIN_ROUND 0xfffe
#define FIRST_BARRIER 0x10000

/* A number of the environment that the launcher must have set. */
static int foreign_number(const char *name, long min, long max, int *number)
{
    const char *text = wsh_env_foreign(name);
    long value;

    if (!wsh_pmi_number(text, min, max, &value)) {
        *number = (int)value;
        return 0;
    }
    wsh_error("%s='%.40s' is not a number from %ld to %ld; keep the launcher's PMI_* variables as they are",
              name, text ? text : "", min, max);
    return -EINVAL;
}

/*
 * Launchers that speak PMI-2, such as Slurm, name the job in PMI_JOBID. Hydra speaks both versions, the first
 * better, and may have been started by Slurm itself. The server's answer decides where this is not to its liking.
 */
static int session_describe(struct wsh_pmi_session *session)
{
    int fd, rc = foreign_number("PMI_FD", 0, 1 << 30, &fd);

    if (!rc)
        rc = foreign_number("PMI_SIZE", 1, 1 << 24, &session->size);
    if (!rc)
        rc = foreign_number("PMI_RANK", 0, session->size - 1, &session->rank);
    session->version = wsh_env_foreign("PMI_JOBID") && !wsh_env_foreign("HYDI_CONTROL_FD") ? 2 : 1;
    return rc ? rc : wsh_pmi_talk_open(&client.talk, fd);
}

/* Agrees on a version: the one asked for, or the only one that the server has. */
static int version_agree(void)
{
    struct wsh_pmi_answer answer;
    int rc = wsh_pmi_talk_request(&client.talk, WSH_PMI_INIT, NULL, NULL, &answer);

    if (rc == -EAGAIN)
        rc = wsh_pmi_talk_request(&client.talk, WSH_PMI_INIT, NULL, NULL, &answer);
    if (rc == -EAGAIN)
        wsh_error(
            "PMI: the launcher speaks neither PMI-1 nor PMI-2; start with oshrun, srun or mpiexec.hydra");
    return rc == -EAGAIN ? -EPROTO : rc;
}

__attribute__((destructor(101))) static void leave_job(void);

static int job_join(double hang_seconds)
{
    struct wsh_pmi_session *session = &client.talk.session;
    struct wsh_pmi_answer answer;
    int rc;

    if (client.pid == getpid())
        return 0;
    if (client.pid) {
        wsh_error("shmem_init in a forked child (pid %d of PE %d) is not possible; exec a program instead",
                  (int)getpid(), session->rank);
        return -EINVAL;
    }
    client.talk.hang_seconds = hang_seconds;
    rc = session_describe(session);
    if (!rc)
        rc = version_agree();
    session->key_max = WSH_PMI_KEY - 1;
    session->value_max = WSH_PMI_VALUE - 1;
    if (!rc)
        rc = wsh_pmi_talk_request(&client.talk, session->version == 2 ? WSH_PMI_JOIN : WSH_PMI_LIMITS, NULL,
                                  session->version == 2 ? wsh_env_foreign("PMI_JOBID") : NULL, &answer);
    if (!rc)
        rc = wsh_pmi_talk_request(&client.talk, WSH_PMI_SPACE, NULL, NULL, &answer);
    client.pid = rc ? 0 : getpid();
    if (!rc)
        at_quick_exit(leave_job);
    return rc;
}

/*
 * Where the launcher put the PEs; the blobs correct it. Some launchers do not say it: then each PE takes itself to
 * be alone on its host, and opens the network first.
 */
static void read_hosts(struct wsh_boot *boot)
{
    struct wsh_pmi_answer answer;
    const char *text = NULL;

    boot->local_rank = 0;
    boot->local_size = 1;
    if (!wsh_pmi_talk_try(&client.talk, WSH_PMI_ATTRIBUTE, "PMI_process_mapping", &answer))
        text = wsh_pmi_value(&answer, "value");
    if (text && wsh_pmi_mapping(text, boot->my_pe, boot->n_pes, &boot->local_rank, &boot->local_size))
        wsh_info(WSH_SUB_BOOTSTRAP, "PMI_process_mapping '%.200s' is not understood", text);
    boot->one_machine = boot->local_size == boot->n_pes;
}

static int pmi_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc;

    if (!wsh_env_foreign("PMI_FD")) {
        if (!wsh_env_foreign("PMI_PORT"))
            return -ENODEV;
        wsh_error(
            "the launcher offers PMI through PMI_PORT only, which is not spoken here; start with oshrun, "
            "mpiexec.hydra without -pmi-port, or srun --mpi=pmix");
        return -EINVAL;
    }
    client.talk.lost = boot->lost;
    rc = job_join(env->hang_seconds);
    if (rc)
        return rc;
    client.talk.what = "shmem_init";
    client.env = env;
    client.generation++;
    client.barriers = 0;
    boot->my_pe = client.talk.session.rank;
    boot->n_pes = client.talk.session.size;
    boot->generation = client.generation;
    boot->has_secret = false;
    snprintf(boot->launcher, sizeof boot->launcher, "pmi");
    read_hosts(boot);
    rc = wsh_pmi_talk_watch(&client.talk);
    client.open = !rc;
    return rc;
}

static void pmi_close(struct wsh_boot *boot)
{
    (void)boot;
    wsh_pmi_talk_unwatch(&client.talk);
    client.open = false;
    if (client.finalizes)
        leave_job();
}

/* A PE that leaves; hydra would take the others down with one that goes without a word. */
static void pmi_leave(struct wsh_boot *boot)
{
    pmi_close(boot);
}

/*
 * Runs after the program's own exit handlers, which may still call shmem_finalize, and after the library's other
 * destructors (hence the number), one of which may finalize. A process that ends while open does not say finalize,
 * so that the launcher sees an exit without it.
 */
static void leave_job(void)
{
    if (client.pid == getpid() && !client.open)
        wsh_pmi_talk_close(&client.talk);
    client.pid = 0;
}

/*
 * PE 0 draws the secret of the job and publishes it with the first blobs. It is as safe as the launcher's key
 * space: the PEs, the launcher's processes on each host, and whoever can read what these send each other (hydra:
 * plain TCP; Slurm: its own connections, which munge authenticates but nobody encrypts).
 */
static int secret_put(struct wsh_boot *boot)
{
    const struct wsh_blob_id id = {client.generation, SECRET_ROUND, 0};
    int rc;

    if (boot->has_secret || boot->my_pe)
        return 0;
    rc = wsh_random_fill(&boot->secret, sizeof boot->secret);
    if (rc) {
        wsh_error("no random bytes from the kernel: getrandom: %s", wsh_strerror(rc));
        return rc;
    }
    rc = wsh_pmi_bytes_put(&client.talk, &id, &boot->secret, sizeof boot->secret);
    boot->has_secret = !rc;
    return rc;
}

static int secret_get(struct wsh_boot *boot)
{
    const struct wsh_blob_id id = {client.generation, SECRET_ROUND, 0};
    void *bytes;
    size_t len;
    int rc;

    if (boot->has_secret)
        return 0;
    rc = wsh_pmi_bytes_get(&client.talk, &id, &bytes, &len);
    if (rc)
        return rc;
    boot->has_secret = len == sizeof boot->secret;
    if (boot->has_secret)
        memcpy(&boot->secret, bytes, len);
    free(bytes);
    return boot->has_secret ? 0 : wsh_pmi_damaged(&id);
}

/* All that was put before it can be read after it. */
static int job_fence(const char *what)
{
    struct wsh_pmi_answer answer;

    client.talk.what = what;
    return wsh_pmi_talk_request(&client.talk, WSH_PMI_FENCE, NULL, NULL, &answer);
}

/* A key without a meaning: that it is there says that PE `pe` has come to barrier number `barrier`. */
static int sign_request(enum wsh_pmi_op op, int barrier, int pe)
{
    const struct wsh_blob_id id = {client.generation, (uint32_t)(FIRST_BARRIER + barrier), (uint32_t)pe};
    struct wsh_pmi_answer answer;
    char key[WSH_PMI_KEY];

    wsh_pmi_key(&id, 0, key);
    return wsh_pmi_talk_request(&client.talk, op, key, op == WSH_PMI_PUT ? "1" : NULL, &answer);
}

/*
 * A PMI-2 server may answer a fence at once, and wait only with a get whose key is not there yet. So PE 0 gets a
 * key of each PE, and each PE one that PE 0 puts thereafter.
 */
static int barrier_by_keys(struct wsh_boot *boot, const char *what)
{
    int n = client.barriers++, rc = sign_request(WSH_PMI_PUT, n, boot->my_pe);

    if (!rc)
        rc = job_fence(what);
    for (int pe = 1; !rc && !boot->my_pe && pe < boot->n_pes; pe++)
        rc = sign_request(WSH_PMI_GET, n, pe);
    if (!rc && !boot->my_pe)
        rc = sign_request(WSH_PMI_PUT, n, boot->n_pes);
    if (!rc)
        rc = job_fence(what);
    return rc || !boot->my_pe ? rc : sign_request(WSH_PMI_GET, n, boot->n_pes);
}

/* PE 0 says with its last barrier how all meet again. */
static int again_put(struct wsh_boot *boot)
{
    const struct wsh_blob_id id = {client.generation, AGAIN_ROUND, 0};
    unsigned char uid[WSH_BOOT_UID_BYTES];

    if (boot->my_pe)
        return 0;
    wsh_again_offer(boot, client.env, uid);
    return wsh_pmi_bytes_put(&client.talk, &id, uid, sizeof uid);
}

static int again_get(struct wsh_boot *boot)
{
    const struct wsh_blob_id id = {client.generation, AGAIN_ROUND, 0};
    void *uid;
    size_t len;
    int rc = wsh_pmi_bytes_get(&client.talk, &id, &uid, &len);

    if (rc)
        return rc;
    client.finalizes = wsh_again_take(boot, uid, len);
    free(uid);
    return 0;
}

static int last_barrier(struct wsh_boot *boot, const char *what)
{
    int rc = again_put(boot);

    if (!rc)
        rc = job_fence(what);
    return rc ? rc : again_get(boot);
}

/* Hydra ends the job where a PE goes that others wait with, so its barriers are for what all come to in the end. */
static int pmi_barrier(struct wsh_boot *boot, const char *what)
{
    if (client.talk.session.version == 1 && !strcmp(what, WSH_BOOT_AT_EXIT))
        return -ENOTSUP;
    if (client.talk.session.version == 2)
        return barrier_by_keys(boot, what);
    return strcmp(what, "shmem_finalize") ? job_fence(what) : last_barrier(boot, what);
}

/*
 * Servers of PMI-1 know no values of a host alone and take all to all hosts: a host's blobs in one would travel beside
 * its PEs' own. So each is packed by itself, without its zeros, which fits one value of most servers.
 */
static int blob_put(const struct wsh_blob_id *id, const void *blob, size_t len)
{
    const struct wsh_host_part part = {id->pe, blob, len};
    void *packed, *bytes;
    size_t packed_size, size;
    int rc = wsh_host_blob_pack(&part, 1, &packed, &packed_size);

    if (rc)
        return rc;
    rc = wsh_blob_wrap(id, packed, packed_size, &bytes, &size);
    free(packed);
    if (rc)
        return rc;
    wsh_info(WSH_SUB_BOOTSTRAP, "addresses of this PE: %zu bytes, of %zu", size, len);
    rc = wsh_pmi_bytes_put(&client.talk, id, bytes, size);
    free(bytes);
    return rc;
}

static int pmi_publish(struct wsh_boot *boot, int round, const void *blob, size_t len)
{
    struct wsh_blob_id id = {client.generation, (uint32_t)round, (uint32_t)boot->my_pe};
    int rc = blob_put(&id, blob, len);

    if (!rc)
        rc = secret_put(boot);
    if (!rc)
        rc = job_fence("exchange of addresses");
    return rc ? rc : secret_get(boot);
}

static int pmi_lookup(struct wsh_boot *boot, int round, int pe, void **blob, size_t *len)
{
    struct wsh_blob_id id = {client.generation, (uint32_t)round, (uint32_t)pe};
    void *bytes, *packed;
    size_t size;
    int rc = wsh_pmi_bytes_get(&client.talk, &id, &bytes, &size);

    (void)boot;
    if (rc)
        return rc;
    rc = wsh_blob_unwrap(&id, bytes, size, &packed, &size);
    free(bytes);
    if (rc)
        return rc;
    rc = wsh_host_blob_find(packed, size, id.pe, blob, len);
    free(packed);
    return rc;
}

/* PMI-2 has a text in place of the exit status, which the launcher then takes from this process where it can. */
static void pmi_abort(struct wsh_boot *boot, int status)
{
    char value[32];

    (void)boot;
    snprintf(value, sizeof value, client.talk.session.version == 2 ? "exit_status_%d" : "%d", status);
    wsh_pmi_talk_say(&client.talk, WSH_PMI_ABORT, value);
}

const struct wsh_boot_ops wsh_boot_pmi_ops = {
    .name = "pmi",
    .open = pmi_open,
    .close = pmi_close,
    .publish = pmi_publish,
    .lookup = pmi_lookup,
    .barrier = pmi_barrier,
    .leave = pmi_leave,
    .abort = pmi_abort,
};
