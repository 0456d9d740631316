/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The examples of the manual pages. make-pages takes each block to the pages that the comment in front of it names,
 * without the lines that CHECK; test/mp/man_examples.c runs them all.
 */

/* shmem_put: Each PE sends four elements to its right neighbour. */
static void example_put(int me, int n)
{
    static long row[4]; /* symmetric, as all global and static variables */
    long mine[4] = {me, me, me, me};

    shmem_put(row, mine, 4, (me + 1) % n); /* C++ and old C: shmem_long_put */
    shmem_barrier_all();                   /* now all rows have arrived */
    CHECK(row[3] == (me + n - 1) % n);
}

/* shmem_get: Each PE reads what its right neighbour has. */
static void example_get(int me, int n)
{
    static long row[4];
    long theirs[4];

    for (int i = 0; i < 4; i++)
        row[i] = 10 * me + i;
    shmem_barrier_all(); /* all have written theirs */
    shmem_get(theirs, row, 4, (me + 1) % n);
    CHECK(theirs[3] == 10 * ((me + 1) % n) + 3);
}

/* shmem_iput: Column 0 of a matrix becomes column 1 of that of the right neighbour. */
static void example_iput(int me, int n)
{
    static long matrix[4][8];
    long mine[4][8] = {{me}, {me}, {me}, {me}};

    shmem_iput(&matrix[0][1], &mine[0][0], 8, 8, 4, (me + 1) % n);
    shmem_barrier_all();
    CHECK(matrix[3][1] == (me + n - 1) % n);
}

/* shmem_malloc shmem_calloc shmem_free: A symmetric array that is as long as the number of PEs. */
static void example_malloc(int me, int n)
{
    long *seen = shmem_malloc((size_t)n * sizeof *seen); /* all PEs, with the same size */

    if (!seen)
        shmem_global_exit(1); /* SHMEM_SYMMETRIC_SIZE was too little */
    for (int pe = 0; pe < n; pe++)
        shmem_p(&seen[me], (long)me, pe);
    shmem_barrier_all();
    CHECK(seen[n - 1] == n - 1);
    shmem_free(seen);
}

/* shmem_ptr: Memory of PEs on this host is stored to, that of others is put to. */
static void example_ptr(int me, int n)
{
    static long box;
    int right = (me + 1) % n;
    long *direct = shmem_ptr(&box, right);

    if (direct)
        *direct = me;
    else
        shmem_p(&box, (long)me, right);
    shmem_barrier_all();
    CHECK(box == (me + n - 1) % n);
}

/* shmem_put_nbi shmem_get_nbi shmem_quiet: Two transfers are under way while the PE computes. */
static void example_quiet(int me, int n)
{
    static double halo[2][1000];
    double edge[1000] = {me};

    shmem_put_nbi(halo[0], edge, 1000, (me + 1) % n);
    shmem_put_nbi(halo[1], edge, 1000, (me + n - 1) % n);
    /* compute what does not need the halo; leave edge as it is */
    shmem_quiet();       /* both have arrived, and edge may be used again */
    shmem_barrier_all(); /* those of the neighbours too */
    CHECK(halo[0][0] == (me + n - 1) % n);
}

/* shmem_fence shmem_p: A flag is seen only after the data. */
static void example_fence(int me, int n)
{
    static long data, flag;

    shmem_p(&data, 42L, (me + 1) % n);
    shmem_fence(); /* what follows arrives after it */
    shmem_p(&flag, 1L, (me + 1) % n);
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
    CHECK(data == 42);
}

/* shmem_put_signal shmem_signal_wait_until: A message with its signal: no fence is needed. */
static void example_put_signal(int me, int n)
{
    static long letter[16];
    static uint64_t bell;
    long mine[16] = {100 + me};

    shmem_put_signal(letter, mine, 16, &bell, 1, SHMEM_SIGNAL_SET, (me + 1) % n);
    shmem_signal_wait_until(&bell, SHMEM_CMP_EQ, 1);
    CHECK(letter[0] == 100 + (me + n - 1) % n);
}

/* shmem_wait_until shmem_atomic_inc: PE 0 waits until all have been there. */
static void example_wait_until(int me, int n)
{
    static int arrived;

    shmem_atomic_inc(&arrived, 0);
    if (me == 0)
        shmem_wait_until(&arrived, SHMEM_CMP_GE, n);
    CHECK(me != 0 || arrived == n);
    shmem_barrier_all();
}

/* shmem_wait_until_any: Messages are taken in the order in which they come. */
static void example_wait_until_any(int me, int n)
{
    long *from = shmem_calloc((size_t)n, sizeof *from);
    int *done = calloc((size_t)n, sizeof *done);

    for (int pe = 0; pe < n; pe++)
        shmem_p(&from[me], 100L + me, pe);
    for (int i = 0; i < n; i++) {
        size_t pe = shmem_wait_until_any(from, (size_t)n, done, SHMEM_CMP_NE, 0);

        /* from[pe] has come: use it */
        CHECK(from[pe] == 100 + (long)pe);
        done[pe] = 1; /* looked at no more */
    }
    free(done);
    shmem_free(from);
}

/* shmem_atomic_fetch_add: Work is dealt by a counter of PE 0. */
static void example_fetch_add(int me, int n)
{
    static long next;
    long did = 0;

    while (shmem_atomic_fetch_add(&next, 1L, 0) < 100)
        did++; /* work on one piece */
    shmem_barrier_all();
    CHECK(did <= 100 && (me != 0 || next == 100 + n));
}

/* shmem_atomic_compare_swap: Who finds -1 there is the leader. */
static void example_compare_swap(int me, int n)
{
    static int leader = -1;
    int before = shmem_atomic_compare_swap(&leader, -1, me, 0);

    if (before == -1) {
        /* only one PE comes here */
    }
    shmem_barrier_all();
    CHECK(me != 0 || (leader >= 0 && leader < n));
}

/* shmem_lock shmem_g: One PE at a time. */
static void example_lock(int me, int n)
{
    static long lock, total; /* the lock begins as 0 on all PEs */

    shmem_set_lock(&lock);
    shmem_p(&total, shmem_g(&total, 0) + 1, 0);
    shmem_clear_lock(&lock); /* which completes the put first */
    shmem_barrier_all();
    CHECK(me != 0 || total == n);
}

/* shmem_barrier_all shmem_sync_all: All PEs meet; a barrier completes what they have put, too. */
static void example_barrier(int me, int n)
{
    static int from[2];

    shmem_p(&from[0], me, (me + 1) % n);
    shmem_barrier_all(); /* from[0] has arrived everywhere */
    from[1] = from[0];
    shmem_sync_all(); /* enough where only memory of one's own was written */
    CHECK(shmem_g(&from[1], (me + 1) % n) == me);
    shmem_barrier_all();
}

/* shmem_broadcast: PE 0 tells all. */
static void example_broadcast(int me, int n)
{
    static double parameter[3], all[3];

    if (me == 0)
        parameter[2] = 0.5;
    shmem_broadcast(SHMEM_TEAM_WORLD, all, parameter, 3, 0);
    CHECK(all[2] == 0.5 && n > 0);
}

/* shmem_collect: Every PE has every PE's number; shmem_collect allows another length on each PE. */
static void example_fcollect(int me, int n)
{
    static int mine;
    int *all = shmem_malloc((size_t)n * sizeof *all);

    mine = me;
    shmem_fcollect(SHMEM_TEAM_WORLD, all, &mine, 1);
    CHECK(all[n - 1] == n - 1);
    shmem_free(all);
}

/* shmem_alltoall: PE i gets the i-th element of each. */
static void example_alltoall(int me, int n)
{
    int *in = shmem_malloc((size_t)n * sizeof *in), *out = shmem_malloc((size_t)n * sizeof *out);

    for (int pe = 0; pe < n; pe++)
        out[pe] = 100 * me + pe;
    shmem_alltoall(SHMEM_TEAM_WORLD, in, out, 1);
    CHECK(in[n - 1] == 100 * (n - 1) + me);
    shmem_free(out);
    shmem_free(in);
}

/* shmem_reductions: The sum and the largest of what the PEs have. */
static void example_reduce(int me, int n)
{
    static double mine, sum, largest;

    mine = me;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1);
    shmem_max_reduce(SHMEM_TEAM_WORLD, &largest, &mine, 1);
    CHECK(sum == n * (n - 1) / 2.0 && largest == n - 1);
}

/* shmem_scan: Where the elements of this PE begin when all are laid one after the other. */
static void example_scan(int me, int n)
{
    static long have, before;

    have = me + 1;
    shmem_sum_exscan(SHMEM_TEAM_WORLD, &before, &have, 1);
    CHECK(before == (long)me * (me + 1) / 2 && n > 0);
}

/* shmem_team_split_strided shmem_team_destroy: The even PEs are a team with collectives of its own. */
static void example_team(int me, int n)
{
    static int one = 1, count;
    shmem_team_t even;

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even); /* all PEs */
    if (even != SHMEM_TEAM_INVALID) {                                              /* the members */
        shmem_sum_reduce(even, &count, &one, 1);
        shmem_team_destroy(even);
    }
    CHECK(count == (me % 2 ? 0 : (n + 1) / 2));
}

/* shmem_ctx_create shmem_ctx_destroy: Puts of a context are completed apart from all others. */
static void example_ctx(int me, int n)
{
    static long box;
    shmem_ctx_t ctx;

    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
        shmem_global_exit(1); /* SHMEM_CTX_DEFAULT would do too */
    shmem_p(ctx, &box, 7L, (me + 1) % n);
    shmem_ctx_quiet(ctx); /* waits for this one alone */
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    CHECK(box == 7);
}
