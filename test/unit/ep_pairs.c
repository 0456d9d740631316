/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of pairs: each case can be, each two values that can occur together do, and the text is up to date. */
#include "test/ep/pairs.h"

#include "test/common/unit.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 64, TEXT = 1 << 16 };

static struct pairs_case cases[PAIRS_MOST];

/* A bit for each value of each parameter; of a set of pairs, a mask for each bit. */
static int first_bit[PAIRS_PARAMETERS], bits;
static int numbers[PAIRS_PARAMETERS][BITS];

static void number_values(void)
{
    bits = 0;
    for (int p = 0; p < PAIRS_PARAMETERS; p++) {
        first_bit[p] = bits;
        bits += pairs_values(p);
        for (int value = 0; value < pairs_values(p); value++)
            numbers[p][value] = atoi(pairs_parameters[p].values[value]);
    }
    CU_ASSERT_FATAL(bits <= BITS);
}

/* The constraints once more, in words and numbers of the text. */
static bool can_be(const struct pairs_case *one)
{
    const unsigned char *value = one->value;
    int pes = numbers[PAIRS_PES][value[PAIRS_PES]], hosts = numbers[PAIRS_HOSTS][value[PAIRS_HOSTS]];

    if (value[PAIRS_CODED] == 1 && value[PAIRS_DTYPE] == 0)
        return false;
    if (numbers[PAIRS_TOPK][value[PAIRS_TOPK]] > numbers[PAIRS_EXPERTS][value[PAIRS_EXPERTS]] * pes)
        return false;
    if (hosts == 1)
        return value[PAIRS_PATH] == 0 && value[PAIRS_ROUTE] == 0;
    return value[PAIRS_PATH] > 0 && pes / hosts * hosts == pes;
}

static void mark(uint64_t set[BITS], const struct pairs_case *one)
{
    uint64_t mask = 0;

    for (int p = 0; p < PAIRS_PARAMETERS; p++)
        mask |= (uint64_t)1 << (first_bit[p] + one->value[p]);
    for (int p = 0; p < PAIRS_PARAMETERS; p++)
        set[first_bit[p] + one->value[p]] |= mask;
}

/* The next one in the order of all combinations; false after the last. */
static bool advance(struct pairs_case *one)
{
    for (int p = 0; p < PAIRS_PARAMETERS; p++) {
        if (++one->value[p] < pairs_values(p))
            return true;
        one->value[p] = 0;
    }
    return false;
}

static void cases_can_be(void)
{
    int n = pairs_make(cases);

    number_values();
    for (int i = 0; i < n; i++) {
        struct pairs_meaning is = pairs_meaning(&cases[i]);
        CU_ASSERT(can_be(&cases[i]) && pairs_valid(&cases[i]));
        CU_ASSERT_PTR_NULL(ref_job_wrong(&is.job));
    }
}

/* Of all combinations those that can be; what they have, and what the table has. */
static void pairs_are_covered(void)
{
    static uint64_t possible[BITS], covered[BITS];
    struct pairs_case one = {{0}};
    int n = pairs_make(cases), pairs = 0, missing = 0, differ = 0;

    number_values();
    for (long at = 0; at == 0 || advance(&one); at++) {
        bool can = can_be(&one);
        if (at % 97 == 0)
            differ += can != pairs_valid(&one);
        if (can)
            mark(possible, &one);
    }
    for (int i = 0; i < n; i++)
        mark(covered, &cases[i]);
    for (int bit = 0; bit < bits; bit++) {
        pairs += __builtin_popcountll(possible[bit] >> bit >> 1);
        missing += __builtin_popcountll(possible[bit] ^ covered[bit]);
    }
    printf("%d pairs in %d cases\n", pairs, n);
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(pairs > 1000);
    CU_ASSERT_EQUAL(missing, 0);
    CU_ASSERT(n < 60);
}

static void text_is_up_to_date(void)
{
    static char made[TEXT], kept[TEXT];
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *to = fmemopen(made, sizeof made, "w");

    for (int i = 0, n = pairs_make(cases); i < n; i++) {
        pairs_print(&cases[i], to);
        fputc('\n', to);
    }
    fclose(to);
    snprintf(path, sizeof path, "%s/test/ep/pairs.txt", top ? top : ".");
    FILE *from = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(from);
    CU_ASSERT(fread(kept, 1, sizeof kept - 1, from) > 0);
    fclose(from);
    CU_ASSERT_STRING_EQUAL(made, kept); /* else: test/ep/print_pairs >test/ep/pairs.txt */
}

/* The words of a case, in `text`. */
static int split(const struct pairs_case *one, char *text, size_t size, char **words)
{
    FILE *to = fmemopen(text, size, "w");
    int n = 0;

    pairs_print(one, to);
    fclose(to);
    for (char *word = strtok(text, " "); word && n < PAIRS_PARAMETERS; word = strtok(NULL, " "))
        words[n++] = word;
    return n;
}

static void words_are_read(void)
{
    char text[512], *words[PAIRS_PARAMETERS];
    int n = pairs_make(cases);

    for (int i = 0; i < n; i++) {
        struct pairs_case back = {{9}};
        int n_words = split(&cases[i], text, sizeof text, words);
        CU_ASSERT_EQUAL(n_words, PAIRS_PARAMETERS);
        CU_ASSERT_EQUAL(pairs_read(&back, n_words, words), 0);
        CU_ASSERT_FALSE(memcmp(&back, &cases[i], sizeof back));
    }
}

/* Reads the words of the first case with word 3 replaced. */
static void read_with(void *word)
{
    char text[512], *words[PAIRS_PARAMETERS];
    struct pairs_case back;
    int n_words = split(&cases[0], text, sizeof text, words);

    words[3] = word;
    CU_ASSERT_EQUAL(pairs_read(&back, word ? n_words : 3, words), -1);
}

static void wrong_words_are_refused(void)
{
    char *const wrong[] = {"pes=5", "pes", "pe=4", "mode=low", NULL};
    char line[512];

    pairs_make(cases);
    for (int i = 0; i < 5; i++) {
        unit_capture(read_with, wrong[i], line, sizeof line);
        CU_ASSERT_EQUAL(unit_lines(line), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(line, wrong[i] ? wrong[i] : "pes="));
    }
}

const struct unit_test unit_tests[] = {
    {"every case can be", cases_can_be},
    {"every two values that can occur together do", pairs_are_covered},
    {"test/ep/pairs.txt is what the table is made to", text_is_up_to_date},
    {"words are read back", words_are_read},
    {"wrong words are refused with a line", wrong_words_are_refused},
    {NULL, NULL},
};
