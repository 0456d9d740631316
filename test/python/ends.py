# SPDX-License-Identifier: BSD-3-Clause
"""As test/launch/helper/ends.c: ends HOW WHO SECONDS. One PE ends first by sys.exit(0), the others SECONDS later; ID_FILE,
RANK and WORLD_SIZE in the environment: by a unique id that a file carries."""

import os
import sys
import time

import warpshmem as shmem

how, who, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
shmem.init(store=os.environ.get("ID_FILE"))
me, n = shmem.my_pe(), shmem.n_pes()
shmem.barrier_all()
if how == "exit+":
    shmem.finalize()
if me == who % n:
    print("PE %d ends at %d ms" % (me, time.time() * 1000), flush=True)
    sys.exit(0)
time.sleep(seconds)
print("PE %d of %d has gone on" % (me, n), flush=True)
sys.exit(0)
