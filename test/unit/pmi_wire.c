/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of PMI-1 and PMI-2: as the protocols have them; cut, endless, foreign and hostile ones are refused. */
#include "bootstrap/pmi/wire.h"

#include "bootstrap/pmi/value.h"
#include "test/common/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct wsh_pmi_session session_of(int version)
{
    return (struct wsh_pmi_session){
        .version = version, .rank = 1, .size = 4, .name = "kvs_1", .key_max = 63, .value_max = 1023};
}

static void requests(int version, enum wsh_pmi_op op, const char *key, const char *value, const char *wanted)
{
    struct wsh_pmi_session session = session_of(version);
    struct wsh_pmi_message message;

    CU_ASSERT_EQUAL_FATAL(wsh_pmi_request(&session, op, key, value, &message), 0);
    CU_ASSERT_EQUAL(message.len, strlen(wanted));
    CU_ASSERT(!memcmp(message.text, wanted, strlen(wanted)));
}

static void requests_in_pmi_1(void)
{
    requests(1, WSH_PMI_INIT, NULL, NULL, "cmd=init pmi_version=1 pmi_subversion=1\n");
    requests(1, WSH_PMI_LIMITS, NULL, NULL, "cmd=get_maxes\n");
    requests(1, WSH_PMI_PUT, "a.b", "c-_", "cmd=put kvsname=kvs_1 key=a.b value=c-_\n");
    requests(1, WSH_PMI_GET, "a.b", NULL, "cmd=get kvsname=kvs_1 key=a.b\n");
    requests(1, WSH_PMI_FENCE, NULL, NULL, "cmd=barrier_in\n");
    requests(1, WSH_PMI_ABORT, NULL, "7", "cmd=abort exitcode=7\n");
    requests(1, WSH_PMI_FINALIZE, NULL, NULL, "cmd=finalize\n");
}

static void requests_in_pmi_2(void)
{
    requests(2, WSH_PMI_INIT, NULL, NULL, "cmd=init pmi_version=2 pmi_subversion=0\n");
    requests(2, WSH_PMI_JOIN, NULL, "7.0", "    51cmd=fullinit;pmijobid=7.0;pmirank=1;threaded=FALSE;");
    requests(2, WSH_PMI_JOIN, NULL, NULL, "    38cmd=fullinit;pmirank=1;threaded=FALSE;");
    requests(2, WSH_PMI_PUT, "a.b", "c-_", "    30cmd=kvs-put;key=a.b;value=c-_;");
    requests(2, WSH_PMI_GET, "a.b", NULL, "    41cmd=kvs-get;jobid=kvs_1;srcid=-1;key=a.b;");
    requests(2, WSH_PMI_FENCE, NULL, NULL, "    14cmd=kvs-fence;");
    requests(2, WSH_PMI_ATTRIBUTE, "k", NULL, "    26cmd=info-getjobattr;key=k;");
}

static void requests_nothing_that_cannot_be_sent(void)
{
    struct wsh_pmi_session session = session_of(1);
    struct wsh_pmi_message message;
    char many[2000];

    memset(many, 'x', sizeof many);
    many[sizeof many - 1] = '\0';
    CU_ASSERT_EQUAL(wsh_pmi_request(&session, WSH_PMI_PUT, "a", many, &message), -EMSGSIZE);
    CU_ASSERT_EQUAL(wsh_pmi_request(&session, WSH_PMI_GET, many, NULL, &message), -EMSGSIZE);
    CU_ASSERT_EQUAL(wsh_pmi_request(&session, WSH_PMI_JOIN, NULL, NULL, &message), -ENOTSUP);
    for (const char *bad = " ;=\n\t\x7f\x80"; *bad; bad++) {
        const char value[] = {'a', *bad, '\0'};

        CU_ASSERT_EQUAL(wsh_pmi_request(&session, WSH_PMI_PUT, "a", value, &message), -EINVAL);
        CU_ASSERT_EQUAL(wsh_pmi_request(&session, WSH_PMI_PUT, value, "a", &message), -EINVAL);
    }
}

/* Frames and reads the text, from memory of just that size. */
static int reads(struct wsh_pmi_session *session, enum wsh_pmi_op op, const char *text,
                 struct wsh_pmi_answer *answer)
{
    size_t len = strlen(text);
    char *bytes = malloc(len ? len : 1);
    long n;
    int rc;

    memcpy(bytes, text, len);
    for (size_t have = 0; have < len; have++)
        CU_ASSERT_EQUAL(wsh_pmi_frame(session, op, bytes, have), 0);
    n = wsh_pmi_frame(session, op, bytes, len);
    CU_ASSERT_EQUAL(n, (long)len);
    rc = n > 0 ? wsh_pmi_read(session, op, bytes, (size_t)n, answer) : (int)n;
    free(bytes);
    return rc;
}

static int reads_as(int version, enum wsh_pmi_op op, const char *text)
{
    struct wsh_pmi_session session = session_of(version);
    struct wsh_pmi_answer answer;

    return reads(&session, op, text, &answer);
}

static void reads_answers(void)
{
    struct wsh_pmi_session session = session_of(1);
    struct wsh_pmi_answer answer;

    CU_ASSERT_EQUAL(
        reads(&session, WSH_PMI_LIMITS, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=100\n", &answer),
        0);
    CU_ASSERT(session.key_max == 63 && session.value_max == 99);
    CU_ASSERT_EQUAL(reads(&session, WSH_PMI_SPACE, "cmd=my_kvsname kvsname=kvs_2\n", &answer), 0);
    CU_ASSERT_STRING_EQUAL(session.name, "kvs_2");
    CU_ASSERT_EQUAL(reads(&session, WSH_PMI_GET, "cmd=get_result rc=0 msg=success value=abc\n", &answer), 0);
    CU_ASSERT_STRING_EQUAL(wsh_pmi_value(&answer, "value"), "abc");
    session.version = 2;
    CU_ASSERT_EQUAL(
        reads(&session, WSH_PMI_GET, "51    cmd=kvs-get-response;found=TRUE;value=(v,(0));rc=0;", &answer),
        0);
    CU_ASSERT_STRING_EQUAL(wsh_pmi_value(&answer, "value"), "(v,(0))");
    CU_ASSERT_EQUAL(
        reads(&session, WSH_PMI_JOIN, "    42cmd=fullinit-response;rank=1;size=4;rc=0;;", &answer), 0);
}

static void follows_the_servers_version(void)
{
    struct wsh_pmi_session session = session_of(1);
    struct wsh_pmi_answer answer;

    CU_ASSERT_EQUAL(
        reads(&session, WSH_PMI_INIT, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n", &answer),
        0);
    CU_ASSERT_EQUAL(
        reads(&session, WSH_PMI_INIT, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n", &answer),
        -EAGAIN);
    CU_ASSERT_EQUAL(session.version, 2);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_INIT, "cmd=response_to_init pmi_version=1 rc=-1\n"), -EREMOTEIO);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_INIT, "cmd=response_to_init pmi_version=3 rc=0\n"), -EPROTO);
}

static void refuses_other_answers(void)
{
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_PUT, "cmd=get_result rc=0\n"), -EPROTO);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_PUT, "cmd=put_result rc=-1\n"), -EREMOTEIO);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_PUT, "\n"), -EPROTO);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_GET, "cmd=get_result rc=0\n"), -EPROTO);
    CU_ASSERT_EQUAL(reads_as(2, WSH_PMI_GET, "    38cmd=kvs-get-response;found=FALSE;rc=0;"), -EREMOTEIO);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_LIMITS, "cmd=maxes keylen_max=8 vallen_max=1024\n"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_LIMITS, "cmd=maxes keylen_max=64 vallen_max=-1\n"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_SPACE, "cmd=my_kvsname kvsname=\n"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(1, WSH_PMI_SPACE, "cmd=my_kvsname kvsname=a;b\n"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(2, WSH_PMI_JOIN, "    41cmd=fullinit-response;rank=2;size=4;rc=0;"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(2, WSH_PMI_JOIN, "    41cmd=fullinit-response;rank=1;size=5;rc=0;"), -ERANGE);
    CU_ASSERT_EQUAL(reads_as(2, WSH_PMI_JOIN, "    34cmd=fullinit-response;rank=1;rc=0;"), -ERANGE);
}

static void refuses_what_never_ends(void)
{
    struct wsh_pmi_session one = session_of(1), two = session_of(2);
    char many[WSH_PMI_MESSAGE + 10];

    memset(many, 'x', sizeof many);
    CU_ASSERT_EQUAL(wsh_pmi_frame(&one, WSH_PMI_PUT, many, WSH_PMI_MESSAGE - 1), 0);
    CU_ASSERT_EQUAL(wsh_pmi_frame(&one, WSH_PMI_PUT, many, WSH_PMI_MESSAGE), -EMSGSIZE);
    many[sizeof many - 1] = '\n';
    CU_ASSERT_EQUAL(wsh_pmi_frame(&one, WSH_PMI_PUT, many, sizeof many), -EMSGSIZE);
    CU_ASSERT_EQUAL(wsh_pmi_frame(&two, WSH_PMI_PUT, "999999", 6), -EMSGSIZE);
    for (const char *const *bad =
             (const char *const[]){"     0", "    -1", "1 2   ", "      ", "0x1234", "12 ab ", NULL};
         *bad; bad++)
        CU_ASSERT_EQUAL(wsh_pmi_frame(&two, WSH_PMI_PUT, *bad, 6), -EPROTO);
}

static void survives_a_zero_and_many_words(void)
{
    struct wsh_pmi_session session = session_of(1);
    struct wsh_pmi_answer answer;
    char text[WSH_PMI_MESSAGE];

    CU_ASSERT_EQUAL(wsh_pmi_read(&session, WSH_PMI_PUT, "cmd=put_result\0rc=0\n", 20, &answer), -EPROTO);
    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "= ", 2);
    text[sizeof text - 1] = '\n';
    CU_ASSERT_EQUAL(wsh_pmi_read(&session, WSH_PMI_PUT, text, sizeof text, &answer), -EPROTO);
}

static void bytes_come_back(void)
{
    unsigned char bytes[256];
    char bad[] = "AAA=", *text;
    size_t chars;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + 3);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        text = wsh_pmi_encode(bytes, len, &chars);
        CU_ASSERT_EQUAL(strlen(text), chars);
        CU_ASSERT_EQUAL(wsh_pmi_decode(text, chars), (long)len);
        CU_ASSERT(!memcmp(text, bytes, len));
        free(text);
    }
    CU_ASSERT_EQUAL(wsh_pmi_decode(bad, 4), -EPROTO);
    CU_ASSERT_EQUAL(wsh_pmi_decode(bad, 1), -EPROTO);
}

static void mapped(const char *text, int rank, int size, int local_rank, int local_size)
{
    int place = -1, together = -1;

    CU_ASSERT_EQUAL(wsh_pmi_mapping(text, rank, size, &place, &together), 0);
    CU_ASSERT_EQUAL(place, local_rank);
    CU_ASSERT_EQUAL(together, local_size);
}

static void mappings_are_read(void)
{
    mapped("(vector,(0,1,4))", 2, 4, 2, 4);
    mapped("(vector,(0,2,2))", 2, 4, 0, 2);
    mapped("(vector,(0,2,1))", 2, 5, 1, 3);
    mapped("(vector,(0,2,2),(1,1,3))", 6, 7, 4, 5);
    mapped("(vector,(0,2,2),(1,1,3))", 1, 7, 1, 2);
    mapped("(vector,(0,999999999,999999999))", 1, 3, 1, 3);
    for (const char *const *bad =
             (const char *const[]){"", "(vector)", "(vector,(0,1", "(vector,(0,1,4)", "(vector,(0,0,4))",
                                   "(vector,(-1,1,4))", "(vector,(0,1,0))", "(vector,(0,1,4))x", NULL};
         *bad; bad++) {
        int place, together;

        CU_ASSERT_EQUAL(wsh_pmi_mapping(*bad, 0, 4, &place, &together), -EPROTO);
    }
}

const struct unit_test unit_tests[] = {
    {"questions of PMI-1", requests_in_pmi_1},
    {"questions of PMI-2", requests_in_pmi_2},
    {"what is too long or has characters of the protocol is not sent", requests_nothing_that_cannot_be_sent},
    {"answers are read, whole ones only", reads_answers},
    {"the server's version is taken", follows_the_servers_version},
    {"answers to something else, refusals and impossible numbers", refuses_other_answers},
    {"answers without end", refuses_what_never_ends},
    {"a zero byte, and more words than there is room for", survives_a_zero_and_many_words},
    {"bytes of every length come back", bytes_come_back},
    {"process mappings", mappings_are_read},
    {NULL, NULL},
};
