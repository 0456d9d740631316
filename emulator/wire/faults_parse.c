/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of the fault script. */
#include "emulator/wire/faults.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16
#define WORD_BYTES 48

/* One statement, cut into words; `at` is the next one. */
struct words {
    char word[WORDS_MAX][WORD_BYTES];
    unsigned n, at;
    char *why;
    size_t size;
};

static int words_refuse(struct words *w, const char *expected)
{
    snprintf(w->why, w->size, "'%s' where %s is expected", w->at < w->n ? w->word[w->at] : "end of statement",
             expected);
    return -EINVAL;
}

static const char *words_peek(const struct words *w)
{
    return w->at < w->n ? w->word[w->at] : "";
}

static bool words_take(struct words *w, const char *word)
{
    if (strcmp(words_peek(w), word))
        return false;
    w->at++;
    return true;
}

/* A number with its unit at *text, which moves behind it. */
static bool read_time(const char **text, uint64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ms", 1e6}, {"us", 1e3}, {"s", 1e9}};
    char *end;
    double number = strtod(*text, &end);

    if (end == *text || !(number >= 0 && number <= 1e9)) /* NaN is neither */
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t len = strlen(units[i].name);

        if (!strncmp(end, units[i].name, len)) {
            *ns = (uint64_t)(number * units[i].ns);
            *text = end + len;
            return true;
        }
    }
    return false;
}

static int take_time(struct words *w, uint64_t *ns)
{
    const char *text = words_peek(w);

    if (!read_time(&text, ns) || *text)
        return words_refuse(w, "a time such as 20us, 5ms or 1.5s");
    w->at++;
    return 0;
}

static int take_range(struct words *w, struct emu_rule *rule)
{
    const char *text = words_peek(w);

    if (!read_time(&text, &rule->from_ns) || strncmp(text, "..", 2))
        return words_refuse(w, "a span such as 1s..1.5s");
    text += 2;
    if (!read_time(&text, &rule->until_ns) || *text || rule->until_ns <= rule->from_ns)
        return words_refuse(w, "a span such as 1s..1.5s");
    w->at++;
    return 0;
}

static int take_share(struct words *w, uint64_t *ppm)
{
    char *end;
    double number = strtod(words_peek(w), &end);

    if (end == words_peek(w) || strcmp(end, "%") || !(number >= 0 && number <= 100))
        return words_refuse(w, "a share such as 2%");
    *ppm = (uint64_t)(number * 1e4);
    w->at++;
    return 0;
}

static int take_number(struct words *w, uint64_t max, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(words_peek(w), &end, 10);
    if (end == words_peek(w) || *end || errno || *words_peek(w) == '-' || *number > max)
        return words_refuse(w, "a number");
    w->at++;
    return 0;
}

static bool read_index(const char **text, int *index)
{
    char *end;
    long number;

    if (**text == '*') {
        *index = EMU_ANY;
        ++*text;
        return true;
    }
    number = strtol(*text, &end, 10);
    if (end == *text || number < 0 || number > 65535)
        return false;
    *index = (int)number;
    *text = end;
    return true;
}

static int take_end(struct words *w, struct emu_end *link_end)
{
    const char *text = words_peek(w);

    if (!read_index(&text, &link_end->rank))
        return words_refuse(w, "a rank such as 1, 1.0 (with a NIC) or *");
    if (*text == '.') {
        text++;
        if (!read_index(&text, &link_end->nic))
            return words_refuse(w, "a NIC's index after the rank");
    }
    if (*text)
        return words_refuse(w, "a rank such as 1, 1.0 (with a NIC) or *");
    w->at++;
    return 0;
}

static int take_drop(struct words *w, struct emu_rule *rule)
{
    int rc = take_share(w, &rule->value);

    if (!rc && rule->value == 1000000)
        return words_refuse(w, "less than 100% ('down' loses everything); end of statement");
    return !rc && words_take(w, "late") ? take_time(w, &rule->extra) : rc;
}

static int take_duplicate(struct words *w, struct emu_rule *rule)
{
    int rc = take_share(w, &rule->value);

    return !rc && words_take(w, "late") ? take_time(w, &rule->extra) : rc;
}

static int take_stall(struct words *w, struct emu_rule *rule)
{
    int rc;

    if (w->at == w->n && rule->until_ns == UINT64_MAX)
        return words_refuse(w, "'during T..T' before stall, or 'stall T every T'");
    if (w->at == w->n)
        return 0;
    if ((rc = take_time(w, &rule->value)))
        return rc;
    if (!words_take(w, "every"))
        return words_refuse(w, "every");
    if ((rc = take_time(w, &rule->extra)))
        return rc;
    return rule->extra > rule->value ? 0 : words_refuse(w, "a period longer than the stall");
}

static int take_remove(struct words *w, const struct emu_rule *rule)
{
    return rule->src.nic == EMU_ANY ? words_refuse(w, "'from P.N' before remove") : 0;
}

static int take_fail(struct words *w, struct emu_rule *rule)
{
    int rc = take_number(w, 15, &rule->extra);

    return rc ? rc : take_share(w, &rule->value);
}

static int take_values(struct words *w, struct emu_rule *rule)
{
    switch (rule->action) {
    case EMU_SEED: return take_number(w, UINT64_MAX, &rule->value);
    case EMU_DROP: return take_drop(w, rule);
    case EMU_STALL: return take_stall(w, rule);
    case EMU_REMOVE: return take_remove(w, rule);
    case EMU_FAIL: return take_fail(w, rule);
    case EMU_DUPLICATE: return take_duplicate(w, rule);
    case EMU_FULL: return take_share(w, &rule->value);
    case EMU_REORDER:
    case EMU_TIMEOUT:
    case EMU_RNR: return take_time(w, &rule->value);
    case EMU_DOWN:
    case EMU_UP: return 0;
    }
    return -EINVAL;
}

static int take_action(struct words *w, struct emu_rule *rule)
{
    static const struct {
        const char *name;
        enum emu_action action;
    } actions[] = {
        {"seed", EMU_SEED},       {"reorder", EMU_REORDER}, {"drop", EMU_DROP}, {"duplicate", EMU_DUPLICATE},
        {"stall", EMU_STALL},     {"down", EMU_DOWN},       {"up", EMU_UP},     {"remove", EMU_REMOVE},
        {"timeout", EMU_TIMEOUT}, {"rnr", EMU_RNR},         {"fail", EMU_FAIL}, {"full", EMU_FULL}};

    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (words_take(w, actions[i].name)) {
            rule->action = actions[i].action;
            return take_values(w, rule);
        }
    return words_refuse(
        w, "seed, reorder, drop, duplicate, stall, down, up, remove, timeout, rnr, fail or full");
}

static int parse_statement(struct words *w, struct emu_rule *rule)
{
    int rc = 0;

    *rule = (struct emu_rule){.until_ns = UINT64_MAX, .src = {EMU_ANY, EMU_ANY}, .dst = {EMU_ANY, EMU_ANY}};
    if (words_take(w, "at"))
        rc = take_time(w, &rule->from_ns);
    else if (words_take(w, "during"))
        rc = take_range(w, rule);
    if (!rc && words_take(w, "from"))
        rc = take_end(w, &rule->src);
    if (!rc && words_take(w, "to"))
        rc = take_end(w, &rule->dst);
    if (!rc)
        rc = take_action(w, rule);
    return !rc && w->at < w->n ? words_refuse(w, "end of statement") : rc;
}

/* Cuts `len` bytes of a statement into words; a comment ends it. */
static int words_cut(const char *text, size_t len, struct words *w)
{
    const char *end = memchr(text, '#', len);

    if (end)
        len = (size_t)(end - text);
    end = text + len;
    w->n = w->at = 0;
    while (text < end) {
        size_t skip = strspn(text, " \t\r"), bytes;

        text = text + skip < end ? text + skip : end;
        bytes = strcspn(text, " \t\r;\n#");
        if (text == end)
            break;
        if (w->n == WORDS_MAX || bytes >= WORD_BYTES) {
            snprintf(w->why, w->size, "a statement of too many or too long words");
            return -EINVAL;
        }
        snprintf(w->word[w->n++], WORD_BYTES, "%.*s", (int)bytes, text);
        text += bytes;
    }
    return 0;
}

static int add_rule(struct emu_faults *faults, const struct emu_rule *rule, struct words *w)
{
    if (rule->action == EMU_SEED) {
        faults->seeded = true;
        faults->seed = rule->value;
        return 0;
    }
    if (faults->nrules == EMU_RULES_MAX) {
        snprintf(w->why, w->size, "more than %d statements", EMU_RULES_MAX);
        return -EINVAL;
    }
    faults->rule[faults->nrules++] = *rule;
    return 0;
}

/* The end of the statement at `text`: a `;` inside a comment does not end it. */
static size_t statement_bytes(const char *text)
{
    size_t len = strcspn(text, ";\n#");

    return text[len] == '#' ? len + strcspn(text + len, "\n") : len;
}

int emu_faults_parse(const char *text, struct emu_faults *faults, char *why, size_t size)
{
    struct words w = {.why = why, .size = size};
    unsigned number = 0;

    *faults = (struct emu_faults){0};
    while (*text) {
        size_t len = statement_bytes(text);
        struct emu_rule rule;
        int rc = words_cut(text, len, &w);

        number++;
        if (!rc && w.n)
            rc = parse_statement(&w, &rule);
        if (!rc && w.n)
            rc = add_rule(faults, &rule, &w);
        if (rc) {
            size_t used = strlen(why);

            snprintf(why + used, size - used, ", in statement %u", number);
            return rc;
        }
        text += len + (text[len] != 0);
    }
    return 0;
}
