/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In programs that oshcc links with AddressSanitizer: leaks that are not the program's own are neither counted nor
 * listed. A program's own definitions win.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

__attribute__((weak, used)) const char *__lsan_default_suppressions(void)
{
    return
#include "tools/lsan.list"
        ;
}

__attribute__((weak, used)) const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
