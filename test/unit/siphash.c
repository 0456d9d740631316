/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 gives the published values; tags differ by every part; a secret survives being written as text. */
#include "base/siphash.h"

#include "base/secret.h"
#include "test/common/unit.h"

#include <errno.h>
#include <string.h>

/* Of the authors' reference implementation: key 00 01 .. 0f, the n-th input is the n bytes 00 01 .. (n - 1). */
static const uint64_t published[] = {
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7,
    0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0,
    0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
    0xa129ca6149be45e5, 0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794, 0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8, 0xb8ad50c6f649af94,
    0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad, 0xde4daaaca71dc9a5, 0xa6a2506687956571,
    0xad87a3535c49ef28, 0x32d892fad841c342, 0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238,
    0x15e034d40fa197ae, 0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c,
    0x0e3ea96b5304a7d0, 0xad0c42d6fc585992, 0x187306c89bc215a9, 0xd4a60abcf3792b95, 0xf935451de4f21df2,
    0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb, 0xe612a3cb9ecba951, 0xc766e62cfcadaf96,
    0xee64435a9752fe72, 0xa192d576b245165a, 0x0a8787bf8ecb74b2, 0x81b3e73d20b49b6f, 0x7fa8220ba3b2ecea,
    0x245731c13ca42499, 0xb78dbfaf3a8d83bd, 0xea1ad565322a1a0b, 0x60e61c23a3795013, 0x6606d7e446282b93,
    0x6ca4ecb15c5f91e1, 0x9f626da15c9625f3, 0xe51b38608ef25f57, 0x958a324ceb064572,
};
enum { N_PUBLISHED = sizeof published / sizeof published[0] };

static void published_values(void)
{
    unsigned char key[WSH_SIPHASH_KEY], input[N_PUBLISHED];

    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    for (unsigned i = 0; i < sizeof input; i++)
        input[i] = (unsigned char)i;
    for (unsigned n = 0; n < N_PUBLISHED; n++)
        CU_ASSERT_EQUAL(wsh_siphash(key, input, n), published[n]);
}

/* Each part in turn differs from the first tag's. */
static void tags_differ(void)
{
    struct wsh_secret secret = {{1}}, other = {{2}};
    const uint64_t tags[] = {wsh_secret_tag(&secret, 0, 1, 1), wsh_secret_tag(&secret, 1, 0, 1),
                             wsh_secret_tag(&secret, 0, 2, 1), wsh_secret_tag(&secret, 0, 1, 2),
                             wsh_secret_tag(&other, 0, 1, 1)};

    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        for (size_t k = 0; k < i; k++)
            CU_ASSERT_NOT_EQUAL(tags[i], tags[k]);
    CU_ASSERT_EQUAL(wsh_secret_tag(&secret, 0, 1, 1), tags[0]);
}

static void text_and_back(void)
{
    struct wsh_secret secret, back;
    char text[WSH_SECRET_TEXT];

    CU_ASSERT_EQUAL(wsh_random_fill(&secret, sizeof secret), 0);
    wsh_secret_print(&secret, text);
    CU_ASSERT_EQUAL(strspn(text, "0123456789abcdef"), WSH_SECRET_TEXT - 1);
    CU_ASSERT_EQUAL(wsh_secret_parse(&back, text), 0);
    CU_ASSERT_FALSE(memcmp(&secret, &back, sizeof secret));
    text[3] = 'x';
    CU_ASSERT_EQUAL(wsh_secret_parse(&back, text), -EINVAL);
    CU_ASSERT_EQUAL(wsh_secret_parse(&back, "0123"), -EINVAL);
    CU_ASSERT_EQUAL(wsh_secret_parse(&back, "00112233445566778899aabbccddeeff0"), -EINVAL);
}

static void drawn_twice(void)
{
    struct wsh_secret a, b;

    CU_ASSERT_EQUAL(wsh_random_fill(&a, sizeof a), 0);
    CU_ASSERT_EQUAL(wsh_random_fill(&b, sizeof b), 0);
    CU_ASSERT(memcmp(&a, &b, sizeof a) != 0);
}

const struct unit_test unit_tests[] = {
    {"all 64 published values", published_values},
    {"another secret, source, target or generation is another tag", tags_differ},
    {"a secret is text of 32 digits and back, and nothing else is one", text_and_back},
    {"two draws differ", drawn_twice},
    {NULL, NULL},
};
