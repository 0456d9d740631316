/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a machine's interfaces the root of a unique id takes loopback and those that other hosts may reach, best first. */
#include "bootstrap/uid/addr.h"

#include "test/common/unit.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* A machine of ours: every kind of interface that has been seen. */
static const struct {
    const char *name, *address;
    bool up, routed;
} rows[] = {
    {"lo", "127.0.0.1", true, false},
    {"docker0", "172.17.0.1", true, false},
    {"br-0a1b2c3d4e5f", "172.18.0.1", true, false},
    {"veth12ab", "169.254.7.7", true, false},
    {"virbr0", "192.168.122.1", true, false},
    {"cni0", "10.244.0.1", true, false},
    {"ib0", "10.1.0.5", true, false},
    {"eth1", "10.2.0.5", false, false},
    {"eth0", "fe80::1", true, true},
    {"eth0", "192.0.2.5", true, true},
    {"eth0", "2001:db8::5", true, true},
    {"eth2", "169.254.9.9", true, false},
    {"lo", "::1", true, false},
};

#define N_ROWS (int)(sizeof rows / sizeof rows[0])

static int nics_make(struct wsh_uid_nic *nics)
{
    for (int i = 0; i < N_ROWS; i++) {
        bool six = strchr(rows[i].address, ':');

        nics[i] = (struct wsh_uid_nic){.up = rows[i].up, .routed = rows[i].routed};
        snprintf(nics[i].name, sizeof nics[i].name, "%s", rows[i].name);
        nics[i].address.family = six ? 6 : 4;
        CU_ASSERT(inet_pton(six ? AF_INET6 : AF_INET, rows[i].address, nics[i].address.bytes) == 1);
    }
    return N_ROWS;
}

/* `wanted`: the addresses chosen, in order, with spaces between. */
static void chooses(const char *names, int family, const char *wanted)
{
    struct wsh_uid_wish wish = {names, family};
    struct wsh_uid_address chosen[WSH_UID_ADDRESSES];
    struct wsh_uid_nic nics[N_ROWS];
    char text[512] = "";
    int n = wsh_uid_addr_choose(nics, nics_make(nics), &wish, chosen);

    for (int i = 0; i < n; i++) {
        char one[WSH_UID_ADDRESS_TEXT];

        wsh_uid_address_print(&chosen[i], one);
        *strrchr(one, ':') = '\0';
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", one);
    }
    CU_ASSERT_STRING_EQUAL(text, wanted);
}

static void by_itself(void)
{
    chooses(NULL, 0, "127.0.0.1 192.0.2.5 [2001:db8::5] 10.1.0.5");
}

static void by_family(void)
{
    chooses(NULL, 4, "127.0.0.1 192.0.2.5 10.1.0.5");
    chooses(NULL, 6, "[::1] [2001:db8::5]");
}

static void by_name(void)
{
    chooses("ib", 0, "127.0.0.1 10.1.0.5");
    chooses("eth", 0, "127.0.0.1 192.0.2.5 [2001:db8::5]");
    chooses("=eth", 0, "127.0.0.1");
    chooses("=ib0,eth0", 4, "127.0.0.1 192.0.2.5 10.1.0.5");
    chooses("docker0", 0, "127.0.0.1 172.17.0.1");
    chooses("^eth,docker,br,v,cni", 0, "127.0.0.1 10.1.0.5");
    chooses("^=eth", 4, "127.0.0.1 192.0.2.5 172.17.0.1 172.18.0.1");
    chooses(",,ib0,", 0, "127.0.0.1 10.1.0.5");
}

static void never_down_or_link_local(void)
{
    chooses("eth1,eth2,veth", 0, "127.0.0.1");
}

static void nothing_of_nothing(void)
{
    struct wsh_uid_wish wish = {NULL, 0};
    struct wsh_uid_address chosen[WSH_UID_ADDRESSES];
    struct wsh_uid_nic down = {.name = "lo", .address = {.family = 4, .bytes = {127, 0, 0, 1}}};

    CU_ASSERT_EQUAL(wsh_uid_addr_choose(NULL, 0, &wish, chosen), 0);
    CU_ASSERT_EQUAL(wsh_uid_addr_choose(&down, 1, &wish, chosen), 0);
}

struct finding {
    struct wsh_env env;
    int rc;
};

static void find(void *arg)
{
    struct finding *finding = arg;
    struct wsh_uid_address chosen[WSH_UID_ADDRESSES];

    finding->rc = wsh_uid_addr_find(&finding->env, chosen);
}

static void of_this_machine(void)
{
    struct finding finding = {0};
    char text[1024];

    unit_capture(find, &finding, text, sizeof text);
    CU_ASSERT(finding.rc >= 1 && finding.rc <= WSH_UID_ADDRESSES);
    CU_ASSERT_EQUAL(unit_lines(text), 0);
    finding.env.uid_ifname = "nosuch";
    unit_capture(find, &finding, text, sizeof text);
    CU_ASSERT_EQUAL(finding.rc, -ENODEV);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "is called nosuch"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "SHMEM_BOOTSTRAP_UID_IFNAME"));
}

const struct unit_test unit_tests[] = {
    {"the default route's interfaces, IPv4 first, then others; no bridges", by_itself},
    {"one family", by_family},
    {"beginnings of names, whole names, all but these", by_name},
    {"never what is down or link-local", never_down_or_link_local},
    {"nothing where there is nothing", nothing_of_nothing},
    {"this machine has some; a name that it has not is one line", of_this_machine},
    {NULL, NULL},
};
