# SPDX-License-Identifier: BSD-3-Clause
"""As test/launch/helper/ends.c: ends HOW WHO SECONDS. One PE ends first by sys.exit(0), the others SECONDS later; ID_FILE,
RANK and WORLD_SIZE in the environment: by a unique id that a file carries. HOW kill: it is killed, and the others find
exceptions that say so, and go on."""

import os
import signal
import sys
import time

import warpshmem as shmem



def survive(who):
    dest, source = shmem.zeros(n, "int64"), shmem.zeros(n, "int64")
    ones, places = [1] * n, list(range(n))
    team = shmem.TEAM_WORLD.split_strided(0, 1, n)
    if me == who % n:
        os.kill(os.getpid(), signal.SIGKILL)
    while not shmem.failure_generation():
        time.sleep(0.01)
    for call in (
        lambda: shmem.alltoallv_packed(dest, source, ones, places),
        lambda: shmem.alltoallv(dest, ones, places, source, ones, places),
        lambda: shmem.alltoall_nb(dest, source).wait(),
        lambda: shmem.wait_all([shmem.sync_nb(), shmem.sync_nb(team)]),
        lambda: shmem.reduce(dest, source, team=team),
        lambda: shmem.zeros(4),
        lambda: team.split_strided(0, 1, n),
        team.sync,
        team.barrier,
        shmem.barrier_all,
        shmem.sync_all,
    ):
        try:
            call()
        except shmem.WarpshmemError as error:
            assert "PE %d has failed" % (who % n) in str(error) and "shrink" in str(error), error
        else:
            sys.exit("a call returns without a member of its team")
    assert shmem.failed_pes() == [who % n] and team.broken
    rest = shmem.TEAM_WORLD.shrink()
    assert rest.n_pes == n - 1 and not rest.broken and len(shmem.zeros(4)) == 4
    shmem.reduce(dest, source, team=rest)
    print("PE %d of %d has gone on" % (me, n), flush=True)
    shmem.finalize()
    sys.exit(0)


how, who, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
shmem.init(store=os.environ.get("ID_FILE"))
me, n = shmem.my_pe(), shmem.n_pes()
shmem.barrier_all()
if how == "kill":
    survive(who)
if how == "exit+":
    shmem.finalize()
if me == who % n:
    print("PE %d ends at %d ms" % (me, time.time() * 1000), flush=True)
    sys.exit(0)
time.sleep(seconds)
print("PE %d of %d has gone on" % (me, n), flush=True)
sys.exit(0)
