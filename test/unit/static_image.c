/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of a program are found in the layouts that linkers and tools which edit programs make. */
#include "runtime/memory/static_image.h"

#include "test/common/unit.h"

#define PAGE ((uintptr_t)0x1000)
#define AT ((uintptr_t)0x500000000000)
#define SEGMENT(type, flags, from, to)                                                    \
    {                                                                                     \
        .p_type = (type), .p_flags = (flags), .p_vaddr = (from), .p_memsz = (to) - (from) \
    }
#define LOAD(flags, from, to) SEGMENT(PT_LOAD, flags, from, to)
#define RELRO(from, to) SEGMENT(PT_GNU_RELRO, PF_R, from, to)
#define FINDS(headers, ...) \
    finds(headers, sizeof headers / sizeof headers[0], (const uintptr_t[]){__VA_ARGS__, 0})

/* Pairs of begin and end, then 0. */
static bool finds(const ElfW(Phdr) * headers, unsigned n, const uintptr_t *ranges)
{
    struct wsh_static_image image;
    unsigned i = 0;

    wsh_static_image_read(&image, headers, n, AT, PAGE);
    for (; ranges[2 * i]; i++)
        if (i >= image.data.n || image.data.range[i].begin != AT + ranges[2 * i] ||
            image.data.range[i].end != AT + ranges[2 * i + 1])
            return false;
    return i == image.data.n && !image.is_cut;
}

static void finds_common_layouts(void)
{
    static const ElfW(Phdr)
        gnu[] = {LOAD(PF_R, 0, 0x688), LOAD(PF_R | PF_X, 0x1000, 0x11c1), LOAD(PF_R, 0x2000, 0x20f4),
                 LOAD(PF_R | PF_W, 0x3dd0, 0x9540), RELRO(0x3dd0, 0x4000)};
    static const ElfW(Phdr)
        lld[] = {LOAD(PF_R, 0, 0x772c), LOAD(PF_R | PF_X, 0x8730, 0x88f0), LOAD(PF_R | PF_W, 0x98f0, 0x9ac8),
                 LOAD(PF_R | PF_W, 0xaac8, 0x15120), RELRO(0x98f0, 0xa000)};
    static const ElfW(Phdr) bare[] = {LOAD(PF_R | PF_W, 0x1000, 0x2000), LOAD(PF_R | PF_X, 0x3000, 0x4000)};

    CU_ASSERT(FINDS(gnu, 0x4000, 0xa000));
    CU_ASSERT(FINDS(lld, 0xa000, 0x16000));
    CU_ASSERT(FINDS(bare, 0x1000, 0x2000));
}

static void finds_several_segments(void)
{
    static const ElfW(Phdr)
        medium[] = {LOAD(PF_R | PF_X, 0, 0x888), LOAD(PF_R | PF_W, 0x1dc0, 0x5540),
                    LOAD(PF_R, 0x6540, 0x7640), LOAD(PF_R | PF_W, 0x8640, 0xa740), RELRO(0x1dc0, 0x2000)};
    static const ElfW(Phdr)
        edited[] = {LOAD(PF_R | PF_X, 0, 0x888), LOAD(PF_R | PF_W, 0x2dd0, 0x5680), RELRO(0x2dd0, 0x3000),
                    LOAD(PF_R | PF_W, 0x6000, 0x6448), LOAD(PF_R | PF_W, 0x9000, 0x9190)};
    static const ElfW(Phdr) between[] = {LOAD(PF_R | PF_W, 0x1000, 0x9000), RELRO(0x3000, 0x5000)};

    CU_ASSERT(FINDS(medium, 0x2000, 0x6000, 0x8000, 0xb000));
    CU_ASSERT(FINDS(edited, 0x3000, 0x7000, 0x9000, 0xa000));
    CU_ASSERT(FINDS(between, 0x1000, 0x3000, 0x5000, 0x9000));
}

static void leaves_out_tables_before_the_code(void)
{
    static const ElfW(Phdr) edited[] = {LOAD(PF_R | PF_W, 0x1000, 0x2000), LOAD(PF_R | PF_X, 0x2000, 0x3185),
                                        LOAD(PF_R | PF_W, 0x4df8, 0x8680), RELRO(0x4df8, 0x5000)};

    CU_ASSERT(FINDS(edited, 0x5000, 0x9000));
}

static void says_where_there_are_too_many(void)
{
    ElfW(Phdr) many[WSH_STATIC_RANGES + 1];
    struct wsh_static_image image;

    for (unsigned i = 0; i <= WSH_STATIC_RANGES; i++)
        many[i] = (ElfW(Phdr))LOAD(PF_R | PF_W, (i + 1) * 0x10000, (i + 1) * 0x10000 + 8);
    wsh_static_image_read(&image, many, WSH_STATIC_RANGES, AT, PAGE);
    CU_ASSERT(image.data.n == WSH_STATIC_RANGES && !image.is_cut);
    wsh_static_image_read(&image, many, WSH_STATIC_RANGES + 1, AT, PAGE);
    CU_ASSERT(image.data.n == WSH_STATIC_RANGES && image.is_cut);
}

static void holds_what_lies_in_one_range(void)
{
    const struct wsh_static_ranges ranges = {2, {{0x1000, 0x3000}, {0x5000, 0x6000}}};

    CU_ASSERT(wsh_static_ranges_hold(&ranges, (void *)0x1000, 0x2000));
    CU_ASSERT(wsh_static_ranges_hold(&ranges, (void *)0x5ff8, 8));
    CU_ASSERT(!wsh_static_ranges_hold(&ranges, (void *)0x2ff8, 16));
    CU_ASSERT(!wsh_static_ranges_hold(&ranges, (void *)0x3000, 8));
    CU_ASSERT(!wsh_static_ranges_hold(&ranges, (void *)0x6000, 1));
    CU_ASSERT(!wsh_static_ranges_hold(&ranges, (void *)0xfff, 1));
}

static void finds_this_program(void)
{
    static int variable = 1;
    static const int constant = 1;
    struct wsh_static_image image;

    wsh_static_image_find(&image);
    CU_ASSERT(wsh_static_ranges_hold(&image.data, &variable, sizeof variable));
    CU_ASSERT(!wsh_static_ranges_hold(&image.data, &constant, sizeof constant));
    CU_ASSERT(wsh_static_ranges_hold(&image.loaded, &constant, sizeof constant));
    CU_ASSERT(wsh_static_is_needed(&image)); /* the tests are linked with it statically */
}

const struct unit_test unit_tests[] = {
    {"finds common layouts", finds_common_layouts},
    {"finds several segments", finds_several_segments},
    {"leaves out tables before the code", leaves_out_tables_before_the_code},
    {"says where there are too many", says_where_there_are_too_many},
    {"holds what lies in one range", holds_what_lies_in_one_range},
    {"finds this program", finds_this_program},
    {NULL, NULL},
};
