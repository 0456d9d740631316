/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the emulator's messages, each one line on standard error. */
#include "emulator/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void emu_say(const char *format, ...)
{
    char line[1024] = "efa-emulator: ";
    size_t head = strlen(line);
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line + head, sizeof line - head - 1, format, args);
    va_end(args);
    if (len < 0)
        return;
    head += (size_t)len < sizeof line - head - 1 ? (size_t)len : sizeof line - head - 2;
    line[head++] = '\n';
    if (write(STDERR_FILENO, line, head) < 0)
        return; /* nowhere else to say it */
}
