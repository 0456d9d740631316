/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever a PMI server answers: it is read within its bytes, and the session keeps values that can be used. */
#include "bootstrap/pmi/wire.h"

#include "bootstrap/pmi/value.h"
#include "test/fuzz/common/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void session_check(const struct wsh_pmi_session *session)
{
    struct wsh_pmi_message message;

    FUZZ_CHECK(session->version == 1 || session->version == 2);
    FUZZ_CHECK(session->key_max >= 31 && session->key_max < WSH_PMI_KEY);
    FUZZ_CHECK(session->value_max >= 63 && session->value_max < WSH_PMI_VALUE);
    FUZZ_CHECK(strnlen(session->name, sizeof session->name) < sizeof session->name);
    FUZZ_CHECK(!wsh_pmi_request(session, WSH_PMI_GET, "wsh1.0.0.0", NULL, &message));
}

/* A host list, and a blob as text. */
static void value_read(const char *value, struct fuzz_input *in)
{
    int size = 1 + (int)fuzz_below(in, 64), rank = (int)fuzz_below(in, (unsigned)size), local, together;
    size_t chars = strlen(value), again_chars;
    char *text = malloc(chars + 1), *again;
    long n;

    memcpy(text, value, chars + 1);
    if (!wsh_pmi_mapping(text, rank, size, &local, &together))
        FUZZ_CHECK(local >= 0 && local < together && local <= rank && together <= size);
    n = wsh_pmi_decode(text, chars);
    FUZZ_CHECK(n == -EPROTO || (n >= 0 && (size_t)n == chars * 3 / 4));
    if (n >= 0) {
        again = wsh_pmi_encode(text, (size_t)n, &again_chars);
        FUZZ_CHECK(again_chars == chars);
        free(again);
    }
    free(text);
}

static void answer_read(struct wsh_pmi_session *session, enum wsh_pmi_op op, struct fuzz_input *in)
{
    struct wsh_pmi_answer answer;
    size_t have;
    char *bytes = fuzz_copy(in, in->left, &have);
    long len = wsh_pmi_frame(session, op, bytes, have);
    int rc;

    FUZZ_CHECK(len <= (long)have && len <= WSH_PMI_MESSAGE);
    if (len <= 0) {
        FUZZ_CHECK(!len ? have < WSH_PMI_MESSAGE : len == -EMSGSIZE || len == -EPROTO);
    } else {
        rc = wsh_pmi_read(session, op, bytes, (size_t)len, &answer);
        FUZZ_CHECK(!rc || rc == -EPROTO || rc == -EREMOTEIO || rc == -ERANGE || rc == -EAGAIN);
        for (int i = 0; i < answer.n_pairs; i++)
            value_read(answer.pairs[i].value, &(struct fuzz_input){(const uint8_t *)answer.pairs[i].key, 2});
        FUZZ_CHECK(rc || (op != WSH_PMI_GET && op != WSH_PMI_ATTRIBUTE) || wsh_pmi_value(&answer, "value"));
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct wsh_pmi_session session = {
        .rank = 1, .size = 4, .name = "kvs", .key_max = WSH_PMI_KEY - 1, .value_max = WSH_PMI_VALUE - 1};
    unsigned first = (unsigned)fuzz_take(&in, 1);

    session.version = 1 + first % 2;
    answer_read(&session, (enum wsh_pmi_op)(first / 2 % (WSH_PMI_ABORT + 1)), &in);
    session_check(&session);
    FUZZ_CHECK(!fuzz_lines());
    return 0;
}
