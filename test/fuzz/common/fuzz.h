/* SPDX-License-Identifier: BSD-3-Clause */
/* What every fuzz target uses: bytes taken from the input, the lines that the library logs, claims that must hold. */
#ifndef WSH_TEST_FUZZ_H
#define WSH_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A target defines this, for libFuzzer or for common/main.c; it returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input, taken from its front; what is missing at its end reads as zeros. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* The next `bytes` (at most 8) as a little-endian number; one below `n`, which is at most 2^16; bytes into `to`. */
uint64_t fuzz_take(struct fuzz_input *in, unsigned bytes);
unsigned fuzz_below(struct fuzz_input *in, unsigned n);
void fuzz_bytes(struct fuzz_input *in, void *to, size_t len);

/* The next `len` bytes, or all that are left, in malloc'd memory of that size, so that a read past it is seen. */
void *fuzz_copy(struct fuzz_input *in, size_t len, size_t *got);
/* All that is left as malloc'd text. */
char *fuzz_text(struct fuzz_input *in);

/* Reads every byte, so that AddressSanitizer sees those that must not be read. */
void fuzz_read(const void *bytes, size_t len);

/* Lines that the library logged since this was last called, with errors and warnings alone. */
unsigned fuzz_lines(void);
/* The last of them. */
const char *fuzz_line(void);

/* Ends the process with a line, so that the input is kept. */
#define FUZZ_CHECK(claim) ((claim) ? (void)0 : fuzz_fail(#claim, __FILE__, __LINE__))
_Noreturn void fuzz_fail(const char *claim, const char *file, int line);

#endif
