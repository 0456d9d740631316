/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the statements of a fault script that apply to a link at a time. */
#include "emulator/wire/faults.h"

#define DEFAULT_LATE_NS 1000000ull
#define DEFAULT_TIMEOUT_NS 250000000ull
#define DEFAULT_RNR_NS 100000ull

static bool end_matches(struct emu_end rule, struct emu_end end)
{
    return (rule.rank == EMU_ANY || rule.rank == end.rank) && (rule.nic == EMU_ANY || rule.nic == end.nic);
}

static bool rule_holds(const struct emu_rule *rule, uint64_t now)
{
    return now >= rule->from_ns && now < rule->until_ns;
}

/* Until when a stall lasts; 0 if the link moves. extra is the period of a recurring one. */
static uint64_t stall_end(const struct emu_rule *rule, uint64_t now)
{
    uint64_t start;

    if (!rule->extra)
        return rule->until_ns;
    start = now - (now - rule->from_ns) % rule->extra;
    return now < start + rule->value ? start + rule->value : 0;
}

static void rule_apply(const struct emu_rule *rule, uint64_t now, struct emu_link *link)
{
    switch (rule->action) {
    case EMU_SEED: break;
    case EMU_REORDER: link->reorder_ns = rule->value; break;
    case EMU_DROP:
        link->drop_ppm = (uint32_t)rule->value;
        link->late_ns = rule->extra ? rule->extra : DEFAULT_LATE_NS;
        break;
    case EMU_DUPLICATE:
        link->duplicate_ppm = (uint32_t)rule->value;
        link->again_ns = rule->extra;
        break;
    case EMU_STALL: link->stalled_until_ns = stall_end(rule, now); break;
    case EMU_DOWN: link->down = true; break;
    case EMU_UP: link->down = false; break;
    case EMU_REMOVE: link->removed = true; break;
    case EMU_TIMEOUT: link->timeout_ns = rule->value; break;
    case EMU_RNR: link->rnr_ns = rule->value; break;
    case EMU_FAIL:
        link->fail_status = (unsigned)rule->extra;
        link->fail_ppm = (uint32_t)rule->value;
        break;
    case EMU_FULL: link->full_ppm = (uint32_t)rule->value; break;
    }
}

void emu_faults_link(const struct emu_faults *faults, uint64_t now, struct emu_end src, struct emu_end dst,
                     uint64_t reorder_ns, struct emu_link *link)
{
    *link = (struct emu_link){.reorder_ns = reorder_ns,
                              .late_ns = DEFAULT_LATE_NS,
                              .timeout_ns = DEFAULT_TIMEOUT_NS,
                              .rnr_ns = DEFAULT_RNR_NS};
    for (unsigned i = 0; i < faults->nrules; i++) {
        const struct emu_rule *rule = &faults->rule[i];

        if (rule->action == EMU_REMOVE && rule_holds(rule, now) && end_matches(rule->src, dst))
            link->down = true; /* seen from its peers, a NIC that is gone is a link that is down */
        else if (rule_holds(rule, now) && end_matches(rule->src, src) && end_matches(rule->dst, dst))
            rule_apply(rule, now, link);
    }
}

bool emu_faults_removed(const struct emu_faults *faults, uint64_t now, struct emu_end nic)
{
    for (unsigned i = 0; i < faults->nrules; i++)
        if (faults->rule[i].action == EMU_REMOVE && rule_holds(&faults->rule[i], now) &&
            end_matches(faults->rule[i].src, nic))
            return true;
    return false;
}
