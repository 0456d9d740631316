/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids and messages of the start by unique id: what is cut, changed, of another version or of a stranger is refused. */
#include "bootstrap/uid/wire.h"

#include "test/common/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct reading {
    unsigned char bytes[128];
    int rc;
};

static void id_make(struct reading *reading)
{
    struct wsh_uid uid = {.n_addresses = 1, .machine = 5, .address = {{4, 4711, {10, 0, 0, 1}}}};

    memset(reading, 0, sizeof *reading);
    memset(&uid.secret, 7, sizeof uid.secret);
    wsh_uid_seal(&uid);
    memcpy(reading->bytes, &uid, sizeof uid);
}

static void read_id(void *arg)
{
    struct reading *reading = arg;
    struct wsh_uid uid;

    reading->rc = wsh_uid_read(&uid, reading->bytes);
    if (!reading->rc)
        CU_ASSERT(uid.machine == 5 && uid.address[0].port == 4711);
}

static void refused(struct reading *reading, const char *word)
{
    char text[512];

    unit_capture(read_id, reading, text, sizeof text);
    CU_ASSERT_EQUAL(reading->rc, -EINVAL);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, word));
}

static void id_reads_back(void)
{
    struct reading reading;

    id_make(&reading);
    read_id(&reading);
    CU_ASSERT_EQUAL(reading.rc, 0);
}

static void id_is_refused(void)
{
    struct reading reading;

    for (size_t at = 0; at < sizeof(struct wsh_uid); at++) {
        bool version = at == offsetof(struct wsh_uid, version) || at == offsetof(struct wsh_uid, version) + 1;

        id_make(&reading);
        reading.bytes[at] ^= 0x10;
        refused(&reading, version ? "another version of warpshmem" : "pass on all 128 bytes");
    }
    memset(&reading, 0, sizeof reading);
    refused(&reading, "pass on all 128 bytes");
}

static void id_without_address(void)
{
    struct wsh_uid uid = {.n_addresses = 0};
    struct reading reading = {0};

    for (int n = 0; n <= WSH_UID_ADDRESSES + 1; n += WSH_UID_ADDRESSES + 1) {
        uid.n_addresses = (uint16_t)n;
        wsh_uid_seal(&uid);
        memcpy(reading.bytes, &uid, sizeof uid);
        refused(&reading, "pass on all 128 bytes");
    }
}

static void secrets_differ(void)
{
    struct wsh_uid uid = {0};
    struct wsh_secret one, two;

    wsh_uid_job_secret(&uid, &one);
    CU_ASSERT(memcmp(&one, &uid.secret, sizeof one) && memcmp(one.key, one.key + 8, 8));
    uid.secret.key[3] = 1;
    wsh_uid_job_secret(&uid, &two);
    CU_ASSERT(memcmp(&one, &two, sizeof one));
}

/* A hello as it should be. */
static void greet(const struct wsh_secret *secret, struct wsh_uid_challenge *challenge,
                  struct wsh_uid_hello *hello)
{
    CU_ASSERT_EQUAL_FATAL(wsh_uid_challenge_make(challenge), 0);
    CU_ASSERT_EQUAL_FATAL(wsh_uid_hello_make(hello, 2, 4, 5, 6), 0);
    hello->tag = wsh_uid_hello_tag(secret, challenge, hello);
}

static void hello_is_taken(void)
{
    struct wsh_secret secret = {{1, 2, 3}};
    struct wsh_uid_challenge challenge;
    struct wsh_uid_hello hello;

    greet(&secret, &challenge, &hello);
    CU_ASSERT(wsh_uid_hello_is_valid(&secret, &challenge, &hello));
    CU_ASSERT_EQUAL(wsh_uid_challenge_check(&challenge), 0);
    challenge.version++;
    CU_ASSERT_EQUAL(wsh_uid_challenge_check(&challenge), -EPROTONOSUPPORT);
    challenge.magic++;
    CU_ASSERT_EQUAL(wsh_uid_challenge_check(&challenge), -EPROTO);
}

static void hello_is_refused(void)
{
    struct wsh_secret secret = {{1, 2, 3}}, other = {{1, 2, 4}};
    struct wsh_uid_challenge challenge, later;
    struct wsh_uid_hello hello, changed;

    greet(&secret, &challenge, &hello);
    for (size_t at = 0; at < sizeof hello; at++) {
        changed = hello;
        ((unsigned char *)&changed)[at] ^= 1;
        CU_ASSERT_FALSE(wsh_uid_hello_is_valid(&secret, &challenge, &changed));
    }
    CU_ASSERT_FALSE(wsh_uid_hello_is_valid(&other, &challenge, &hello));
    CU_ASSERT_EQUAL_FATAL(wsh_uid_challenge_make(&later), 0);
    CU_ASSERT_FALSE(wsh_uid_hello_is_valid(&secret, &later, &hello)); /* recorded and sent again */
    CU_ASSERT(wsh_uid_proof_tag(&secret, &challenge, &hello) != hello.tag);
    CU_ASSERT(wsh_uid_proof_tag(&secret, &challenge, &hello) != wsh_uid_proof_tag(&secret, &later, &hello));
}

/* Whoever knows the secret may still be wrong. */
static void hello_with_impossible_ranks(void)
{
    static const int ranks[][2] = {{-1, 4}, {4, 4}, {0, 0}, {0, -1}, {0, WSH_UID_PES_MAX + 1}};
    struct wsh_secret secret = {{9}};
    struct wsh_uid_challenge challenge;
    struct wsh_uid_hello hello;

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        greet(&secret, &challenge, &hello);
        hello.rank = ranks[i][0];
        hello.n_ranks = ranks[i][1];
        hello.tag = wsh_uid_hello_tag(&secret, &challenge, &hello);
        CU_ASSERT_FALSE(wsh_uid_hello_is_valid(&secret, &challenge, &hello));
    }
    greet(&secret, &challenge, &hello);
    memset(hello.name, 'x', sizeof hello.name);
    hello.tag = wsh_uid_hello_tag(&secret, &challenge, &hello);
    CU_ASSERT_FALSE(wsh_uid_hello_is_valid(&secret, &challenge, &hello));
}

static void heads_are_checked(void)
{
    static const struct {
        uint32_t type;
        uint64_t len;
        int n_pes;
        bool valid;
    } cases[] = {
        {0, 0, 1, false},
        {WSH_UID_TYPES, 0, 1, false},
        {UINT32_MAX, 0, 1, false},
        {WSH_UID_START, sizeof(struct wsh_uid_start), 1, true},
        {WSH_UID_START, sizeof(struct wsh_uid_start) + 1, 1, false},
        {WSH_UID_PUBLISH, WSH_UID_BODY_MAX, 1, true},
        {WSH_UID_PUBLISH, 2ull * WSH_UID_BODY_MAX, 1, false},
        {WSH_UID_PUBLISH, 2ull * WSH_UID_BODY_MAX, 2, true},
        {WSH_UID_HOST, UINT64_MAX, WSH_UID_PES_MAX, false},
        {WSH_UID_BARRIER, 1, 1, false},
        {WSH_UID_ABORT, 1, 1, false},
        {WSH_UID_BEAT, 1, 1, false},
        {WSH_UID_FAILED, WSH_UID_TEXT_MAX, 1, false},
        {WSH_UID_TELL, sizeof(uint64_t), 1, false},
        {WSH_UID_TELL, WSH_UID_TELL_MAX, 1, true},
        {WSH_UID_TELL, WSH_UID_TELL_MAX + 1, 1, false},
        {WSH_UID_DECIDE, sizeof(struct wsh_uid_decide), 1, true},
        {WSH_UID_DECIDE, sizeof(struct wsh_uid_decide) + 1, 1, false},
        {WSH_UID_END, WSH_UID_TEXT_MAX - 1, 1, true},
        {WSH_UID_END, WSH_UID_TEXT_MAX, 1, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wsh_uid_head head = wsh_uid_head_make(WSH_UID_START, 0, cases[i].len);

        head.type = cases[i].type;
        CU_ASSERT_EQUAL(wsh_uid_head_is_valid(&head, cases[i].n_pes), cases[i].valid);
        head.magic ^= 1;
        CU_ASSERT_FALSE(wsh_uid_head_is_valid(&head, cases[i].n_pes));
    }
}

static void parts_are_found(void)
{
    struct {
        uint64_t len[3];
        char bytes[8];
    } body = {{3, 0, 5}, {"abcdefg"}};
    size_t len = 99;

    CU_ASSERT(wsh_uid_part((char *)&body, sizeof body, 3, 0, &len) == body.bytes && len == 3);
    CU_ASSERT(wsh_uid_part((char *)&body, sizeof body, 3, 1, &len) == body.bytes + 3 && len == 0);
    CU_ASSERT(wsh_uid_part((char *)&body, sizeof body, 3, 2, &len) == body.bytes + 3 && len == 5);
    CU_ASSERT_PTR_NULL(wsh_uid_part((char *)&body, sizeof body - 1, 3, 2, &len));
    CU_ASSERT_PTR_NULL(wsh_uid_part((char *)&body, 23, 3, 0, &len));
    body.len[0] = UINT64_MAX;
    CU_ASSERT_PTR_NULL(wsh_uid_part((char *)&body, sizeof body, 3, 2, &len));
}

const struct unit_test unit_tests[] = {
    {"an id reads back", id_reads_back},
    {"an id with any byte changed is refused in one line", id_is_refused},
    {"an id without an address, or with too many, is refused", id_without_address},
    {"the job's secret is another than the id's", secrets_differ},
    {"who knows the secret is taken in", hello_is_taken},
    {"who does not, or sends again what was recorded, is not", hello_is_refused},
    {"nor who has an impossible rank", hello_with_impossible_ranks},
    {"heads of messages are checked", heads_are_checked},
    {"parts of an answer lie within it", parts_are_found},
    {NULL, NULL},
};
