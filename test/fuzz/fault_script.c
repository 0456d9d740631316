/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever is given to the emulator as a fault script: rules within their ranges, or a text that says what is wrong. */
#include "emulator/wire/faults.h"

#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MAX UINT64_C(1000000000000000000) /* ns: the longest time that a script can name */

static void rule_check(const struct emu_rule *rule)
{
    FUZZ_CHECK(rule->from_ns <= AGE_MAX && rule->until_ns > rule->from_ns);
    FUZZ_CHECK(rule->src.rank >= EMU_ANY && rule->src.rank <= 65535);
    FUZZ_CHECK(rule->dst.nic >= EMU_ANY && rule->dst.nic <= 65535);
    FUZZ_CHECK(rule->action > EMU_SEED && rule->action <= EMU_FULL);
}

/* How a link is, at times and places that the input chooses. */
static void links_look(struct fuzz_input *in, const struct emu_faults *faults)
{
    for (unsigned i = 0; i < 4; i++) {
        uint64_t now = fuzz_take(in, 8) % AGE_MAX;
        struct emu_end src = {(int)fuzz_below(in, 3), (int)fuzz_below(in, 2)}, dst = {1 - src.rank % 2, 0};
        struct emu_link link;

        emu_faults_link(faults, now, src, dst, 1000, &link);
        FUZZ_CHECK(link.drop_ppm <= 1000000 && link.duplicate_ppm <= 1000000 && link.full_ppm <= 1000000);
        FUZZ_CHECK(link.fail_ppm <= 1000000 && link.fail_status <= 15);
        emu_faults_removed(faults, now, src);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size}, head = {data, size};
    struct emu_faults *faults = malloc(sizeof *faults);
    char *text = fuzz_text(&in), why[256] = "";
    int rc = emu_faults_parse(text, faults, why, sizeof why);

    FUZZ_CHECK(rc == 0 || rc == -EINVAL);
    FUZZ_CHECK((rc == 0) == !*why);
    FUZZ_CHECK(faults->nrules <= EMU_RULES_MAX);
    for (unsigned i = 0; i < faults->nrules; i++)
        rule_check(&faults->rule[i]);
    if (!rc)
        links_look(&head, faults);
    free(text);
    free(faults);
    return 0;
}
