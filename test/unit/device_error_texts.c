/* SPDX-License-Identifier: BSD-3-Clause */
/* Every reason that device code can give has words with its values, in one line, also where the record is damaged. */
#include "runtime/gpu/view/error_texts.h"

#include "test/common/unit.h"

#include <string.h>

static void has_words_for_every_reason(void)
{
    char text[512], before[512] = "";

    for (uint32_t reason = WSH_DEVICE_BAD_PE; reason < WSH_DEVICE_REASONS; reason++) {
        const struct wsh_device_record record = {.reason = reason,
                                                 .pe = 77,
                                                 .thread = 5,
                                                 .block = 6,
                                                 .addr = 0xabc,
                                                 .len = 99,
                                                 .what = "shmem_int_p: dest"};

        wsh_report_text(&record, 4, text, sizeof text);
        CU_ASSERT(!strncmp(text, "shmem_int_p: dest in a kernel (block 6, thread 5): ", 50));
        CU_ASSERT(strcmp(text, before) && !strchr(text, '\n') && !strstr(text, "does not know"));
        CU_ASSERT(strstr(text, "77") || strstr(text, "0xabc") || strstr(text, "99") ||
                  (reason == WSH_DEVICE_ONE_HOST && strstr(text, "SHMEMX_ONE_HOST")));
        strcpy(before, text);
    }
}

static void survives_a_damaged_record(void)
{
    struct wsh_device_record record = {.reason = 12345};
    char text[128];

    memset(record.what, 'x', sizeof record.what);
    wsh_report_text(&record, 4, text, sizeof text);
    CU_ASSERT(strlen(text) == sizeof text - 1 && !strncmp(text, "xxxx", 4));
    memset(record.what, 0, sizeof record.what);
    wsh_report_text(&record, 4, text, sizeof text);
    CU_ASSERT(strstr(text, "reason 12345") != NULL);
}

const struct unit_test unit_tests[] = {
    {"has words for every reason", has_words_for_every_reason},
    {"survives a damaged record", survives_a_damaged_record},
    {NULL, NULL},
};
