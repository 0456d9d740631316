/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the table as words, and what they mean. */
#include "test/ep/pairs.h"

#include <stdlib.h>
#include <string.h>

void pairs_print(const struct pairs_case *one, FILE *to)
{
    for (int p = 0; p < PAIRS_PARAMETERS; p++) {
        const struct pairs_parameter *parameter = &pairs_parameters[p];
        fprintf(to, "%s%s=%s", p ? " " : "", parameter->name, parameter->values[one->value[p]]);
    }
}

/* Of "NAME=VALUE": the number of the parameter, and *value; -1 where there is none such. */
static int read_word(const char *word, int *value)
{
    size_t len = strcspn(word, "=");

    for (int p = 0; p < PAIRS_PARAMETERS; p++) {
        if (strlen(pairs_parameters[p].name) != len || strncmp(pairs_parameters[p].name, word, len))
            continue;
        for (*value = 0; *value < pairs_values(p); ++*value)
            if (word[len] && !strcmp(word + len + 1, pairs_parameters[p].values[*value]))
                return p;
    }
    return -1;
}

int pairs_read(struct pairs_case *one, int n_words, char *const *words)
{
    bool seen[PAIRS_PARAMETERS] = {false};

    for (int i = 0; i < n_words; i++) {
        int value, p = read_word(words[i], &value);
        if (p < 0 || seen[p]) {
            fprintf(stderr, "%s: no word of test/ep/pairs.txt, or twice\n", words[i]);
            return -1;
        }
        seen[p] = true;
        one->value[p] = (unsigned char)value;
    }
    for (int p = 0; p < PAIRS_PARAMETERS; p++) {
        if (!seen[p]) {
            fprintf(stderr, "%s=… is missing: give all words of a line of test/ep/pairs.txt\n",
                    pairs_parameters[p].name);
            return -1;
        }
    }
    return 0;
}

struct pairs_meaning pairs_meaning(const struct pairs_case *one)
{
    int numbers[PAIRS_PARAMETERS];

    for (int p = 0; p < PAIRS_PARAMETERS; p++)
        numbers[p] = atoi(pairs_parameters[p].values[one->value[p]]);
    return (struct pairs_meaning){
        .job = {.pes = numbers[PAIRS_PES],
                .hosts = numbers[PAIRS_HOSTS],
                .experts = numbers[PAIRS_PES] * numbers[PAIRS_EXPERTS],
                .topk = numbers[PAIRS_TOPK],
                .tokens = numbers[PAIRS_TOKENS],
                .hidden = numbers[PAIRS_HIDDEN],
                .dtype = (enum ref_dtype)one->value[PAIRS_DTYPE],
                .routing = (enum ref_routing)one->value[PAIRS_ROUTING],
                .seed = 1},
        .mode = (enum ref_mode)one->value[PAIRS_MODE],
        .route = (enum ref_route)one->value[PAIRS_ROUTE],
        .path = (enum pairs_path)one->value[PAIRS_PATH],
        .window = numbers[PAIRS_WINDOW],
        .halves = one->value[PAIRS_HALVES],
        .coded = one->value[PAIRS_CODED],
        .kept = one->value[PAIRS_KEPT],
        .buffers = one->value[PAIRS_BUFFERS],
    };
}
