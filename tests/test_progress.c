/* test_progress.c: progress lines have the right content, fit the width, come at the right
   times, and are written correctly to a terminal or a file. */
#define _GNU_SOURCE /* posix_openpt */
#include "run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "meter.h"

/* ---- what is said ------------------------------------------------------------------- */

static void check_line(const struct progress *p, int64_t done, const char *text, double now,
                       int width, const char *line)
{
    char got[1024];
    progress_line(p, done, text, now, width, got, sizeof got);
    assert_string_equal(got, line);
}

#define ALL " 46%  loss 13.912  rate 0.001  46.0 steps/s  00:12 left"

static void parts(void **state)
{
    (void)state;
    struct progress p;
    const char *text = "loss 13.912  rate 0.001";
    progress_begin(&p, 0, 1000, 1, 100);
    check_line(&p, 460, text, 110, 200, "[#############.................] " ALL);
    check_line(&p, 460, text, 110, 80, "[##########............] " ALL);
    check_line(&p, 460, text, 110, 60, ALL);
    check_line(&p, 460, text, 110, 50, " 46%  loss 13.912  rate 0.001  00:12 left");
    check_line(&p, 460, text, 110, 30, " 46%  loss 13.912  00:12 left");
    check_line(&p, 460, text, 110, 20, " 46%  00:12 left");
    check_line(&p, 460, text, 110, 10, " 46%");
    check_line(&p, 460, text, 110, 3, "");
    check_line(&p, 460, text, 110, 0, "");
    check_line(&p, 460, text, 110, -5, "");
    check_line(&p, 460, NULL, 110, 45, "[#####.......]  46%  46.0 steps/s  00:12 left");
    progress_begin(&p, 0, 1000, 0, 100); /* a file: no bar */
    check_line(&p, 460, text, 110, 200, ALL);
    check_line(&p, 460, "loss nan", 110, 200, " 46%  loss nan  46.0 steps/s  00:12 left");
    check_line(&p, 0, "loss nan", 100, 200, "  0%  loss nan"); /* no time, no speed */
    check_line(&p, 0, "", 130, 200, "  0%");
    check_line(&p, 999, "", 130, 200, " 99%  33.3 steps/s  00:01 left");
    check_line(&p, 1000, "", 130, 200, "100%  33.3 steps/s  in 00:30");
    check_line(&p, 1001, "", 130, 200, "100%  33.4 steps/s  in 00:30");
    progress_begin(&p, 900, 1000, 0, 100); /* continued */
    check_line(&p, 900, "", 130, 200, " 90%");
    check_line(&p, 910, "", 110, 200, " 91%  1.00 steps/s  01:30 left");
    progress_begin(&p, 0, 0, 1, 100); /* nobody knows how many */
    check_line(&p, 0, "a", 100, 200, "0 steps  a  00:00");
    check_line(&p, 50, "a", 110, 200, "50 steps  a  5.00 steps/s  00:10");
    check_line(&p, INT64_MAX, "", 110, 200, "9223372036854775807 steps  1000000000 steps/s  00:10");
    progress_begin(&p, 0, INT64_MAX, 0, 100);
    check_line(&p, INT64_MAX - 1, "", 110, 200, " 99%  1000000000 steps/s  00:01 left");
    /* text that is not ASCII: columns are characters */
    progress_begin(&p, 0, 10, 0, 100);
    check_line(&p, 0, "σ äöü  x", 100, 14, "  0%  σ äöü  x");
    check_line(&p, 0, "σ äöü  x", 100, 13, "  0%  σ äöü");
    check_line(&p, 0, "σ äöü  x", 100, 11, "  0%  σ äöü");
    check_line(&p, 0, "σ äöü  x", 100, 10, "  0%");
}

static void times(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } known[] = {{1, "00:01"},           {1.2, "00:02"},      {59, "00:59"},
                 {60, "01:00"},          {3599, "59:59"},     {3599.5, "1:00:00"},
                 {3600, "1:00:00"},      {7322, "2:02:02"},   {86400, "24:00:00"},
                 {3599999, "999:59:59"}, {3600000, ">999 h"}, {1e30, ">999 h"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct progress p;
        char want[64], got[256];
        progress_begin(&p, 0, 2, 0, 0);
        double s = known[i].seconds, v = 1 / s;
        progress_line(&p, 1, "", s, 100, got, sizeof got);
        snprintf(want, sizeof want, "%s%s left", v < 0.1 ? " s/step  " : " steps/s  ",
                 known[i].text);
        if (!strstr(got, want)) fail_msg("%g s: '%s', not '%s'", s, got, want);
    }
    struct progress p;
    progress_begin(&p, 0, 100, 0, 0);
    check_line(&p, 1, "", 20, 80, "  1%  20.0 s/step  33:00 left");
    check_line(&p, 2, "", 0.00001, 80, "  2%  200000 steps/s  00:01 left");
    check_line(&p, 1, "", 123, 80, "  1%  123 s/step  3:22:57 left");
}

/* At most so many columns, whatever there is to say; valid UTF-8; all there is if it fits. */
static void fits(void **state)
{
    (void)state;
    static const char *const texts[] = {
        NULL,
        "",
        "loss nan",
        "loss -inf  rate 0",
        "loss 13.912  rate 0.001  σ² 0.3  grad 1e-300",
        "a text without gaps that is longer than many terminals are wide, to be left out or kept",
        "  ",
        "    a    b    ",
        "ääääääääääääääääääää  öööööööööööööööö"};
    static const int64_t dones[] = {0, 1, 7, 500, 999, 1000, 1001, INT64_MAX};
    static const int64_t totals[] = {0, 1, 1000, INT64_MAX};
    static const double nows[] = {0, 1e-9, 0.5, 100, 3e6, 1e300};
    for (int width = 10; width <= 200; width++)
        for (int k = 0; k < 9 * 8 * 4 * 6 * 2; k++) {
            struct progress p;
            char s[1024];
            int64_t done = dones[k / 9 % 8], total = totals[k / 72 % 4];
            progress_begin(&p, 0, total, k / 1728, 0);
            progress_line(&p, done, texts[k % 9], nows[k / 288 % 6], width, s, sizeof s);
            if (str_width(s) > width) fail_msg("%d columns of %d: %s", str_width(s), width, s);
            for (size_t i = 0, n, len = strlen(s); i < len; i += n)
                if ((n = str_char(s + i, len - i)) == 1 && (unsigned char)s[i] >= 128)
                    fail_msg("a cut character: %s", s);
            if (strstr(s, "inf s") || strstr(s, "nan s")) fail_msg("no speed: %s", s);
            if (total && !strstr(s, "%")) fail_msg("no share: %s", s);
            if (width == 200 && texts[k % 9] && !strstr(s, texts[k % 9]))
                fail_msg("no text: %s", s);
        }
}

/* ---- when --------------------------------------------------------------------------- */

static void when(void **state)
{
    (void)state;
    static const int times[] = {1, 3, 7, 15, 31, 63, 123, 183, 243, 303};
    struct progress p;
    int n = 0;
    progress_begin(&p, 0, 100, 0, 1000);
    for (int t = 0; t <= 303; t++)
        if (progress_due(&p, 1000 + t)) {
            assert_true(n < 10);
            assert_int_equal(t, times[n]);
            n++;
        }
    assert_int_equal(n, 10);
    progress_begin(&p, 0, 100, 1, 1000);
    n = 0;
    for (int t = 0; t < 10000; t++) n += progress_due(&p, 1000 + t * 1e-3);
    assert_true(n >= 90 && n <= 100);
    assert_true(progress_due(&p, 2000)); /* after a long step: one line, not many */
    assert_false(progress_due(&p, 2000.01));
}

/* ---- to a file, to a terminal -----------------------------------------------------------------
 */

/* What a meter prints while standard error is fd, which is then read from `from`. */
static void run_meter(int fd, int from, int quiet, struct str *got)
{
    struct meter m;
    char buf[4096];
    fflush(stderr);
    int old = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    meter_begin(&m, 0, 10, quiet);
    m.p.next = 0;
    if (meter_due(&m)) meter_show(&m, 4, "loss 1");
    meter_hide(&m);
    meter_hide(&m);
    meter_show(&m, 5, "loss 2");
    meter_end(&m, 10, "loss 3");
    dup2(old, STDERR_FILENO);
    close(old);
    close(fd);
    ssize_t n;
    while ((n = read(from, buf, sizeof buf)) > 0) str_putn(got, buf, (size_t)n);
    close(from);
    str_putn(got, "", 0);
}

static void to_file(void **state)
{
    (void)state;
    struct str got = {0};
    int fd[2];
    assert_int_equal(pipe(fd), 0);
    run_meter(fd[1], fd[0], 0, &got);
    char *line = strtok(got.s, "\n");
    static const char *const begin[] = {" 40%  loss 1  ", " 50%  loss 2  ", "100%  loss 3  "};
    for (int i = 0; i < 3; i++, line = strtok(NULL, "\n")) {
        assert_non_null(line);
        if (strncmp(line, begin[i], 14) != 0) fail_msg("%s", line);
    }
    assert_null(line);
    str_free(&got);
    assert_int_equal(pipe(fd), 0);
    run_meter(fd[1], fd[0], 1, &got); /* quiet */
    assert_int_equal(got.n, 0);
    str_free(&got);
}

static void to_terminal(void **state)
{
    (void)state;
    struct str got = {0};
    struct winsize w = {.ws_col = 40, .ws_row = 10};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) skip();
    int fd = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (fd < 0) skip();
    assert_int_equal(ioctl(fd, TIOCSWINSZ, &w), 0);
    setenv("TERM", "xterm", 1);
    run_meter(fd, master, 0, &got);
    /* begins again with \r each time; the second time the line was taken away before */
    static const char *const want[] = {" 40%  loss 1", "", " 50%  loss 2", "100%  loss 3"};
    char *at = got.s;
    for (int i = 0; i < 4; i++) {
        if (strncmp(at, "\r\x1B[K", 4) != 0) fail_msg("not begun again: %s", at);
        at += 4;
        char *end = strstr(at, i < 3 ? "\r\x1B[K" : "\r\n"); /* terminals make \n so */
        assert_non_null(end);
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
        if (!strstr(line, want[i]) || str_width(line) > 39) fail_msg("%d: %s", i, line);
        if (i == 1) assert_string_equal(line, "");
        at = end;
    }
    assert_string_equal(at, "\r\n");
    str_free(&got);
}

/* A line that is too long for its memory ends between two parts. */
static void short_memory(void **state)
{
    (void)state;
    struct progress p;
    char s[16];
    progress_begin(&p, 0, 10, 0, 0);
    progress_line(&p, 5, "loss 1  rate 2", 1, 200, s, sizeof s);
    assert_string_equal(s, " 50%");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts),        cmocka_unit_test(times),   cmocka_unit_test(fits),
    cmocka_unit_test(when),         cmocka_unit_test(to_file), cmocka_unit_test(to_terminal),
    cmocka_unit_test(short_memory),
};

RUN(tests)
