/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kernels do about PEs that have failed, by a thread on a CPU and the very code of device/core: whose word or line
 * a wait answers, in the sync areas of the world, of a team and of one that was split off, on one host and on several;
 * and waits with a limit. Needs no GPU.
 */
#define WSH_DEVICE_PTX "test/device/cpu_block.cuh"
#include <shmem.h>

#include "device/failed/answer.cuh"

#include <cstdio>

enum { PES = 5, LL = 256, AREA = 1 << 14, STEP = AREA };

static int failures;
static struct wsh_device_report report;
static uint8_t failed[PES];
alignas(128) static char world[AREA], team[AREA], split[4 * STEP];
static struct wsh_device_team_row rows[WSH_DEVICE_TEAM_ROWS + 1];

extern "C" void wsh_device_register(const struct wsh_device_module *)
{
}

extern "C" void wsh_device_unregister(const struct wsh_device_module *)
{
}

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "failed_on_cpu: %s\n", what);
    failures++;
}

/* Of loads nothing is asked. */
void cpu_note_load(const void *, size_t)
{
}

/* A team of PEs first, first + 1 …: `n` of them, on one host, or with `ll` 0 on several. */
static void area_make(char *area, int first, int n, uint64_t ll)
{
    struct wsh_device_team_header *header = (struct wsh_device_team_header *)area;
    int32_t *members = (int32_t *)(area + WSH_DEVICE_SYNC_AREA_MEMBERS);

    *header = wsh_device_team_header{7, 0, n, ll, 0, LL};
    for (int i = 0; i < n; i++)
        members[i] = first + i;
}

static uint64_t *word_of(char *area, int n, int member)
{
    return (uint64_t *)(area + WSH_DEVICE_SYNC_AREA_WORDS(n)) + member;
}

static uint64_t *line_of(char *area, int n, int parity, int member, int line)
{
    return (uint64_t *)(area + WSH_DEVICE_SYNC_AREA_LL(n) + (size_t)(parity * n + member) * LL) + 2 * line;
}

/* Whether a wait for the word, or line, that has lasted so long is answered with `value`. */
static bool answers(uint64_t *word, int cmp, uint64_t value, uint64_t ns)
{
    uint64_t lasted = ns < WSH_ANSWER_AFTER ? WSH_ANSWER_AFTER : ns;
    struct wsh_dev_wait wait = {"test", word, value, cmp, wsh_ptx_nanoseconds() - lasted};
    uint64_t wanted = cmp == SHMEM_CMP_EQ ? value << 32 : value;

    word[0] = 3;
    wsh_dev_answer(&wait);
    check(word[0] == 3 || word[0] == wanted, "what is stored is another value");
    check(cmp != SHMEM_CMP_EQ || word[0] == 3 || word[1] == wanted, "half of a line");
    return word[0] == wanted;
}

/* PE 3 has failed. */
static void test_areas(void)
{
    char *unit = split + 2 * STEP;
    uint64_t elsewhere[2] = {0, 0};

    check(answers(word_of(world, PES, 3), SHMEM_CMP_GE, 14, 0), "the world's word of PE 3 is not answered");
    check(!answers(word_of(world, PES, 2), SHMEM_CMP_GE, 14, 0), "a PE that lives is answered for");
    check(answers(word_of(world, PES, 2), SHMEM_CMP_GE, 15, WSH_ANSWER_ALL_AFTER), "one that depends on PE 3 is waited for");
    check(answers(line_of(world, PES, 1, 3, 4), SHMEM_CMP_EQ, 7, 0), "a line of PE 3 is not answered");
    check(!answers(line_of(world, PES, 0, 4, 0), SHMEM_CMP_EQ, 7, 0), "a line of PE 4 is answered");
    check(answers(word_of(team, 3, 1), SHMEM_CMP_GE, 14, 0), "member 1 of the team, PE 3, is not answered");
    check(!answers(word_of(team, 3, 0), SHMEM_CMP_GE, 14, 0), "member 0 of the team is answered for");
    check(answers(word_of(unit, 2, 0), SHMEM_CMP_GE, 14, 0), "a team that was split off is not found");
    check(!answers(word_of(unit, 2, 1), SHMEM_CMP_GE, 14, 0), "its other member is answered for");
    check(!answers(elsewhere, SHMEM_CMP_GE, 14, WSH_ANSWER_ALL_AFTER), "a word of the program is answered");
    check(wsh_dev_area_broken((uint64_t)world) && wsh_dev_area_broken((uint64_t)unit), "broken teams");
}

/* Among several hosts what lay there of an earlier call goes. */
static void test_hosts(void)
{
    uint64_t *stage = line_of(team, 3, 1, 1, 0);

    area_make(team, 2, 3, 0);
    stage[0] = stage[1] = 99;
    check(answers(word_of(team, 3, 1), SHMEM_CMP_GE, 14, 0), "among hosts PE 3 is not answered");
    check(!stage[0] && !stage[1], "counts of an earlier call stay");
}

int main()
{
    wsh_device_view.n_pes = PES;
    wsh_device_view.world = (uint64_t)world;
    wsh_device_view.teams = (uint64_t)rows;
    wsh_device_view.report = (uint64_t)&report;
    report.failures.at = (uint64_t)failed;
    area_make(world, 0, PES, LL);
    area_make(team, 2, 3, LL);
    area_make(split + 2 * STEP, 3, 2, LL);
    rows[17] = wsh_device_team_row{12345, (uint64_t)team};
    rows[WSH_DEVICE_TEAM_ROWS] = wsh_device_team_row{STEP, (uint64_t)split};
    failed[3] = 1;
    report.failures.generation = 1;
    check(!wsh_dev_generation() && !wsh_dev_pe_failed(3), "failures where one ends the job");
    wsh_device_view.flags = WSH_DEVICE_SURVIVES;
    check(wsh_dev_generation() == 1 && wsh_dev_pe_failed(3) && !wsh_dev_pe_failed(2) && !wsh_dev_pe_failed(PES),
          "who has failed");
    test_areas();
    test_hosts();
    report.failures.generation = 0;
    check(!wsh_dev_area_broken((uint64_t)world), "a team is broken before anybody has failed");
    return failures != 0;
}
