/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings come from each file in turn, under the environment; a file that others can have written, or that is none of
 * settings, is refused by one line that names it; so are values and names that are none.
 */
#define _GNU_SOURCE
#include "base/env/conf_file.h"

#include "base/env/env.h"
#include "base/env/misspelt.h"
#include "test/common/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

extern char **environ;

static char folder[64], path[3][128];
static struct wsh_env env;
static int load_rc;

static void load(void *arg)
{
    (void)arg;
    load_rc = wsh_env_load(&env);
}

static void file_write(const char *where, const char *text, size_t len, mode_t mode)
{
    FILE *file;

    unlink(where);
    file = fopen(where, "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT_EQUAL(fwrite(text, 1, len, file), len);
    fclose(file);
    chmod(where, mode);
}

static void folder_make(void)
{
    strcpy(folder, "/tmp/wsh-conf-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/%d.conf", folder, i);
}

static void folder_remove(void)
{
    char command[128];

    wsh_conf_load((const char *const[WSH_CONF_PLACES]){NULL, NULL, NULL});
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CU_ASSERT_EQUAL(system(command), 0);
}

/* Loads with these texts as the files in their order, NULL: no such file; and with `vars` as the environment. */
static void load_files(const char *named, const char *home, const char *site, char **vars, char *text,
                       size_t size)
{
    const char *const texts[] = {named, home, site};
    const char *paths[WSH_CONF_PLACES];
    char *nothing[] = {NULL}, **saved = environ;

    for (int i = 0; i < WSH_CONF_PLACES; i++) {
        paths[i] = texts[i] || i ? path[i] : NULL;
        unlink(path[i]);
        if (texts[i])
            file_write(path[i], texts[i], strlen(texts[i]), 0644);
    }
    environ = vars ? vars : nothing;
    wsh_conf_load(paths);
    unit_capture(load, NULL, text, size);
    environ = saved;
}

static const char *origin_of(const char *name)
{
    static struct wsh_env_row row;

    for (size_t i = 0; i < wsh_env_count(); i++)
        if (wsh_env_describe(i, &row) == 0 && !strcmp(row.name, name))
            return row.origin;
    return "";
}

/* The site's file has to be root's. */
static const char *site_text(const char *text)
{
    return geteuid() ? NULL : text;
}

static void takes_each_in_turn(void)
{
    static const char all[] = "SHMEM_TEAM_MEMORY=%dM\n";
    char text[2000], lines[3][64], *vars[] = {(char[]){"SHMEM_TEAM_MEMORY=9M"}, NULL}, where[160];

    folder_make();
    for (int i = 0; i < 3; i++)
        snprintf(lines[i], sizeof lines[i], all, i + 5);
    load_files(lines[0], lines[1], site_text(lines[2]), vars, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.team_memory == 9 << 20);
    load_files(lines[0], lines[1], site_text(lines[2]), NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.team_memory == 5 << 20);
    snprintf(where, sizeof where, "%s:1", path[0]);
    CU_ASSERT_STRING_EQUAL(origin_of("SHMEM_TEAM_MEMORY"), where);
    load_files("# nothing\n", lines[1], site_text(lines[2]), NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.team_memory == 6 << 20);
    load_files(NULL, NULL, site_text(lines[2]), NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.team_memory == (size_t)(geteuid() ? 4 : 7) << 20);
    load_files(NULL, NULL, NULL, NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.team_memory == 4 << 20);
    CU_ASSERT_STRING_EQUAL(origin_of("SHMEM_TEAM_MEMORY"), "default");
    folder_remove();
}

/* Blanks, comments, ends of lines as other systems write them; other names; an empty value is the default again. */
static void reads_lines(void)
{
    char text[2000];

    folder_make();
    load_files("  SHMEM_DEBUG = info,MEM  # what for\r\n\n#SHMEM_STRICT=1\n\t# x=y\nSMA_SYMMETRIC_SIZE=5M\n"
               "NVSHMEM_HCA_LIST=a#b,c\nSHMEM_TEAM_MEMORY=\nSHMEM_STRICT=yes",
               "SHMEM_TEAM_MEMORY=9M\nSHMEM_SYMMETRIC_SIZE=6M\n", NULL, NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text);
    CU_ASSERT_STRING_EQUAL(env.debug, "info,MEM");
    CU_ASSERT(env.strict && env.symmetric_size == 5 << 20 && env.team_memory == 4 << 20);
    CU_ASSERT_STRING_EQUAL(env.nics, "a#b,c");
    CU_ASSERT_STRING_EQUAL(wsh_env_text("SHMEM_NICS"), "a#b,c");
    CU_ASSERT_PTR_NULL(wsh_env_text("SHMEM_TEAM_MEMORY"));
    CU_ASSERT_PTR_NULL(wsh_env_text("SHMEM_NONE"));
    folder_remove();
}

static void finds_unknown_names(void)
{
    static const char *const names[] = {"SHMEM_SYMETRIC_SIZE", "FI_PROVIDER", "SHMEM_OSHRUN_PID", "SMA_DEBG",
                                        "symmetric_size",      "SHMEM_CC"};
    char text[2000], *nothing[] = {NULL}, **saved = environ;
    struct wsh_misspelt it;
    size_t at = 0;

    folder_make();
    load_files(
        "SHMEM_SYMETRIC_SIZE=1G\nFI_PROVIDER=tcp\nSHMEM_OSHRUN_PID=7\nNVSHMEM_DISABLE_NVLS=1\nSMA_DEBG=x\n"
        "symmetric_size=2\nSHMEM_CC=cc\nNVSHMEM_DEBUG=warn\n",
        NULL, NULL, NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.oshrun_pid == -1);
    environ = nothing;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CU_ASSERT_FATAL(wsh_env_misspelt(&at, &it));
        CU_ASSERT(!strcmp(it.name, names[i]) && !strcmp(it.path, path[0]));
        CU_ASSERT(i || (it.number == 1 && !strcmp(it.meant, "SHMEM_SYMMETRIC_SIZE")));
    }
    CU_ASSERT(!wsh_env_misspelt(&at, &it));
    environ = saved;
    folder_remove();
}

/* Texts that are refused, with what the line says. */
static const struct {
    const char *claim, *text, *says;
} wrong_texts[] = {
    {"no equals", "SHMEM_DEBUG info\n", ":1: 'SHMEM_DEBUG info' is no setting; write NAME=value"},
    {"a section", "\n\n[warpshmem]\n", ":3: '[warpshmem]' is no setting"},
    {"a colon", "SHMEM_DEBUG: info\n", ":1: 'SHMEM_DEBUG: info' is no setting"},
    {"no name", "=info\n", ":1: '' is no name"},
    {"a blank in a name", "SHMEM DEBUG=info\n", ":1: 'SHMEM DEBUG' is no name"},
    {"a digit first", "1SHMEM=x\n", "is no name"},
    {"a hyphen", "SHMEM-DEBUG=x\n", "is no name"},
    {"a variable of a shell", "$SHMEM_DEBUG=x\n", "is no name"},
    {"letters of others",
     "SHMEM_D\xc3\x89"
     "BUG=x\n",
     "is no name"},
    {"export", "export SHMEM_DEBUG=info\n", ":1: this is no script: write NAME=value without `export`"},
    {"double quotes", "SHMEM_DEBUG=\"info\"\n", ":1: write the value of SHMEM_DEBUG without quotes"},
    {"single quotes", "SHMEM_DEBUG = 'info'\n", "without quotes"},
    {"twice", "SHMEM_DEBUG=info\n\nSHMEM_DEBUG=warn\n", ":3: line 1 has set SHMEM_DEBUG already"},
    {"a bell", "SHMEM_DEBUG=in\afo\n", ":1: the value of SHMEM_DEBUG has a control character"},
    {"an escape", "SHMEM_DEBUG_FILE=x\x1b[31m\n", "has a control character"},
    {"ends of lines of old", "SHMEM_DEBUG=info\rSHMEM_STRICT=1\r", "has a control character"},
    {"a byte-order mark", "\xef\xbb\xbfSHMEM_DEBUG=info\n",
     ": begins with a byte-order mark; save it without"},
    {"a secret that others read", "SHMEM_BOOTSTRAP_UID_SECRET=0123456789abcdef\n",
     ":1: others can read SHMEM_BOOTSTRAP_UID_SECRET; chmod 600"},
    {"no switch", "SHMEM_STRICT=maybe\n", ":1: SHMEM_STRICT='maybe' is not valid; use 1 or 0"},
    {"no number", "\nSHMEM_SPIN_US=fast\n", ":2: SHMEM_SPIN_US='fast' is not valid; use a whole number"},
    {"out of a range", "SHMEM_NICS_PER_PE=9\n", "use a whole number from 0 to 8"},
    {"no size", "SHMEM_SYMMETRIC_SIZE=1X\n", ":1: SHMEM_SYMMETRIC_SIZE='1X' is not valid; use a size"},
    {"too small a size", "SHMEM_TEAM_MEMORY=1k\n", "use a size in bytes of at least 16k"},
    {"a word that is none", "SHMEM_PROGRESS=often\n", "use auto|thread|call"},
    {"no seconds", "SHMEM_HANG_SECONDS=soon\n", "use a number of seconds"},
    {"a file that is not there", "SHMEM_TOPOLOGY=/nowhere.xml\n", "use a file that can be read"},
    {"a bad value by another name", "NVSHMEM_SYMMETRIC_SIZE=x\n",
     ":1: NVSHMEM_SYMMETRIC_SIZE='x' is not valid"},
};

static void check_refused(const char *claim, const char *text, const char *says)
{
    bool right = load_rc == -EINVAL && strstr(text, folder) && strstr(text, says) &&
                 (unit_lines(text) == 1 || strstr(text, "NVSHMEM_SYMMETRIC_SIZE"));

    if (!right)
        printf("%s: %d, '%s'\n", claim, load_rc, text);
    CU_ASSERT(right);
}

static void refuses_texts(void)
{
    char text[2000];

    folder_make();
    for (size_t i = 0; i < sizeof wrong_texts / sizeof wrong_texts[0]; i++) {
        load_files(wrong_texts[i].text, NULL, NULL, NULL, text, sizeof text);
        check_refused(wrong_texts[i].claim, text, wrong_texts[i].says);
    }
    folder_remove();
}

static void load_path(enum wsh_conf_place place, const char *where, char *text, size_t size)
{
    const char *paths[WSH_CONF_PLACES] = {NULL, NULL, NULL};

    paths[place] = where;
    wsh_conf_load(paths);
    unit_capture(load, NULL, text, size);
}

static void refuse_path(const char *claim, enum wsh_conf_place place, const char *where, const char *says)
{
    char text[2000];

    load_path(place, where, text, sizeof text);
    check_refused(claim, text, says);
}

#define GOOD "SHMEM_STRICT=1\n"

/* A file of settings with a mode and an owner, in a folder with a mode; -1: as they are. */
static const struct {
    const char *claim;
    mode_t mode, folder_mode;
    uid_t owner, folder_owner;
    enum wsh_conf_place place;
    const char *says; /* NULL: it is taken */
} modes[] = {
    {"its user's alone", 0600, 0700, 0, 0, WSH_CONF_NAMED, NULL},
    {"one that all read", 0644, 0755, 0, 0, WSH_CONF_HOME, NULL},
    {"one in a folder like /tmp", 0644, 01777, 0, 0, WSH_CONF_NAMED, NULL},
    {"the site's", 0444, 0755, 0, 0, WSH_CONF_ETC, NULL},
    {"others write it", 0646, 0755, 0, 0, WSH_CONF_NAMED, ": others can write it (mode 0646); chmod go-w it"},
    {"its group writes it", 0664, 0755, 0, 0, WSH_CONF_HOME, ": others can write it (mode 0664)"},
    {"all write it", 0777, 0755, 0, 0, WSH_CONF_ETC, ": others can write it (mode 0777)"},
    {"others write its folder", 0600, 0757, 0, 0, WSH_CONF_NAMED, ": others can write its folder "},
    {"a group writes its folder", 0600, 0775, 0, 0, WSH_CONF_HOME, "(mode 0775); chmod go-w it"},
    {"another's file", 0644, 0755, 4711, 0, WSH_CONF_NAMED,
     ": is of user 4711, and not of the user who reads it"},
    {"another's file in the home", 0644, 0755, 4711, 0, WSH_CONF_HOME, ": is of user 4711"},
    {"another's file in /etc", 0644, 0755, 4711, 0, WSH_CONF_ETC, ": is of user 4711, and not of root"},
    {"another's folder", 0644, 0755, 0, 4711, WSH_CONF_NAMED, " is of user 4711, who could replace it"},
    {"another's folder for the site", 0644, 0755, 0, 4711, WSH_CONF_ETC, "chown it to root"},
};

static void judges_owners_and_modes(void)
{
    char below[80], where[100], text[2000];

    folder_make();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        bool needs_root = modes[i].owner || modes[i].folder_owner || modes[i].place == WSH_CONF_ETC;

        if (needs_root && geteuid())
            continue;
        snprintf(below, sizeof below, "%s/%zu", folder, i);
        snprintf(where, sizeof where, "%s/x.conf", below);
        mkdir(below, 0700);
        file_write(where, GOOD, strlen(GOOD), modes[i].mode);
        CU_ASSERT(!needs_root || !chown(where, modes[i].owner, 0));
        CU_ASSERT(!needs_root || !chown(below, modes[i].folder_owner, 0));
        chmod(below, modes[i].folder_mode);
        load_path(modes[i].place, where, text, sizeof text);
        if (modes[i].says)
            check_refused(modes[i].claim, text, modes[i].says);
        else
            CU_ASSERT(!load_rc && !*text && env.strict);
        CU_ASSERT(!modes[i].says || !env.strict);
        chmod(below, 0700);
    }
    folder_remove();
}

static void socket_make(const char *where)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, where);
    CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void refuses_what_is_no_file(void)
{
    static char large[70000];
    char other[128], longer[400], text[2000];

    folder_make();
    refuse_path("a folder", WSH_CONF_NAMED, folder, ": is no ordinary file");
    CU_ASSERT_EQUAL(mkfifo(path[0], 0600), 0);
    refuse_path("a pipe", WSH_CONF_NAMED, path[0], ": is no ordinary file");
    refuse_path("a pipe in the home", WSH_CONF_HOME, path[0], ": is no ordinary file");
    socket_make(path[1]);
    refuse_path("a socket", WSH_CONF_NAMED, path[1], ": No such device or address; WARPSHMEM_CONF names");
    snprintf(other, sizeof other, "%s/none", folder);
    refuse_path("no file", WSH_CONF_NAMED, other, ": No such file or directory; WARPSHMEM_CONF names a file");
    snprintf(other, sizeof other, "%s/0.conf/x", folder);
    refuse_path("below a file", WSH_CONF_NAMED, other, ": Not a directory");
    load_path(WSH_CONF_HOME, other, text, sizeof text);
    CU_ASSERT(!load_rc && !*text);
    CU_ASSERT_EQUAL(symlink(path[2], path[2]), 0);
    refuse_path("a link to itself", WSH_CONF_HOME, path[2],
                ": Too many levels of symbolic links; let all read it");
    snprintf(longer, sizeof longer, "%s/%0300d", folder, 0);
    refuse_path("a long path", WSH_CONF_NAMED, longer,
                ": the path of a file of settings has at most 255 bytes");
    memset(large, '\n', sizeof large);
    file_write(path[0], large, sizeof large, 0600);
    refuse_path("a large file", WSH_CONF_NAMED, path[0],
                ": has 70000 bytes, and a file of settings at most 65536");
    file_write(path[0], "SHMEM_STRICT=1\0\n", 16, 0600);
    refuse_path("a byte of value 0", WSH_CONF_NAMED, path[0],
                ": has bytes of value 0; save it as plain text");
    file_write(path[0], "S\0H\0M\0E\0M\0", 10, 0600);
    refuse_path("characters of 16 bits", WSH_CONF_NAMED, path[0], ": has bytes of value 0");
    snprintf(other, sizeof other, "%s/open", folder);
    CU_ASSERT_EQUAL(mkdir(other, 0700), 0);
    strcat(other, "/x.conf");
    file_write(other, GOOD, strlen(GOOD), 0600);
    unlink(path[0]);
    CU_ASSERT_EQUAL(symlink(other, path[0]), 0);
    load_path(WSH_CONF_NAMED, path[0], text, sizeof text);
    CU_ASSERT(!load_rc && env.strict);
    *strrchr(other, '/') = '\0';
    chmod(other, 0777);
    refuse_path("a link into a folder that others write", WSH_CONF_NAMED, path[0], "/open (mode 0777)");
    folder_remove();
}

/* A secret is taken from a file that is its user's alone, or named by one. */
static void takes_secrets_that_are(void)
{
    static const char secret[] = "SHMEM_BOOTSTRAP_UID_SECRET=0123456789abcdef\n";
    char text[2000];

    folder_make();
    file_write(path[0], secret, strlen(secret), 0600);
    load_path(WSH_CONF_HOME, path[0], text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.uid_secret);
    load_files("SHMEM_BOOTSTRAP_UID_SECRET=file:/etc/secret\n", NULL, NULL, NULL, text, sizeof text);
    CU_ASSERT(!load_rc && !*text && env.uid_secret);
    folder_remove();
}

const struct unit_test unit_tests[] = {
    {"takes each file in turn", takes_each_in_turn},
    {"reads lines", reads_lines},
    {"finds unknown names", finds_unknown_names},
    {"refuses texts", refuses_texts},
    {"judges owners and modes", judges_owners_and_modes},
    {"refuses what is no file", refuses_what_is_no_file},
    {"takes secrets that are", takes_secrets_that_are},
    {NULL, NULL},
};
