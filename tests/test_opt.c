/* test_opt.c: the options of a command are its own rows and the library's groups: spelled, parsed,
   defaulted, suggested and refused as the command line promises. */
#include "run.h"

#undef fail /* a macro of cmocka, and a function of cmd.h */

#include "cmd.h"

struct options {
    struct opt_common common;
    nami_train_options train;
    nami_options invert;
    const char *out, *list;
    int quiet, count;
    struct opt_many data;
};

static const char *list_words(int i)
{
    static const char *const words[] = {"one", "two", NULL};
    return words[i];
}

#define AT(field) offsetof(struct options, field)
static const struct opt rows[] = {
    {"output", 'o', OPT_TEXT, AT(out), "FILE", NULL, NULL, "where", 0},
    {"list", 0, OPT_WORDS, AT(list), "LIST", "one", list_words, "what", 0},
    {"count", 0, OPT_COUNT, AT(count), "N", "3", NULL, "how many", 0},
    {"data", 'd', OPT_MANY, AT(data), "FILE", NULL, NULL, "which", 0},
    {"quiet", 'q', OPT_FLAG, AT(quiet), NULL, NULL, NULL, "nothing", 0},
    {"secret", 0, OPT_FLAG, AT(quiet), NULL, NULL, NULL, "hidden", 1},
    {NULL, 0, 0, 0, NULL, NULL, NULL, NULL, 0},
};

static const struct cmd command = {
    .name = "test",
    .opt = rows,
    .groups = {{"train", AT(train), NULL}, {"invert", AT(invert), "seed,verify"}},
    .size = sizeof(struct options),
};

enum { MAX = 32 };
static struct options o;
static char *args[MAX];
static int narg;
static nami_err err;

/* Parses words, NULL at the end. */
static int parse(const char *const *word)
{
    int n = 0;
    while (word[n]) n++;
    for (int i = 0; i < n; i++) args[i] = (char *)(uintptr_t)word[i];
    memset(&o, 0, sizeof o);
    memset(&err, 0, sizeof err);
    return opt_parse(&command, &o, n, args, &narg, &err);
}
#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void refused(const char *message, const char *const *word)
{
    assert_int_equal(parse(word), NAMI_EUSAGE);
    if (!strstr(err.msg, message)) assert_string_equal(err.msg, message);
}
#define REFUSED(message, ...) refused(message, (const char *const[]){__VA_ARGS__, NULL})

static int find(const char *name, struct option *out)
{
    for (int i = 0; opt_at(&command, i, out); i++)
        if (strcmp(out->name, name) == 0) return i;
    return -1;
}

static void both_tables_are_listed(void **state)
{
    (void)state;
    struct option x;
    assert_int_equal(find("output", &x), 0);
    assert_true(find("hidden-shared", &x) > 5);
    assert_int_equal(x.kind, OPT_COUNT);
    assert_string_equal(x.def, "0");
    assert_true(find("mode", &x) > find("hidden-shared", &x));
    assert_true(find("mode", &x) > 0 && strcmp(opt_word(&x, 0), "forward") == 0);
    assert_true(find("no-share", &x) > 0 && !opt_takes_value(&x) && !x.arg && !x.def);
    assert_true(find("steps", &x) > 0 && x.key == 'n');
    assert_int_equal(find("verify", &x), -1); /* left out */
    assert_int_equal(find("hidden_shared", &x), -1);
    assert_true(find("help", &x) > find("mode", &x));
    int seeds = 0;
    for (int i = 0; opt_at(&command, i, &x); i++) seeds += strcmp(x.name, "seed") == 0;
    assert_int_equal(seeds, 1);
}

static void values_go_to_their_members(void **state)
{
    (void)state;
    assert_int_equal(PARSE("a", "--hidden-shared", "7", "--mode=free", "-n50", "--no-share", "-qo",
                           "x", "--clip", "0", "--seed", "9", "-d", "p", "--data=q", "--", "-b"),
                     0);
    assert_int_equal(narg, 2);
    assert_string_equal(args[0], "a");
    assert_string_equal(args[1], "-b");
    assert_int_equal(o.train.hidden_shared, 7);
    assert_int_equal(o.train.steps, 50);
    assert_int_equal(o.train.no_share, 1);
    assert_true(o.train.clip < 0 && o.train.seed == 9 && o.invert.seed == 0);
    assert_string_equal(o.invert.mode, "free");
    assert_string_equal(o.out, "x");
    assert_true(o.quiet && o.data.n == 2 && strcmp(o.data.a[1], "q") == 0);
    /* defaults: of rows they are set, of the library they are left to it */
    assert_int_equal(PARSE("--quiet"), 0);
    assert_int_equal(o.count, 3);
    assert_string_equal(o.list, "one");
    assert_int_equal(o.train.steps, 0);
    assert_null(o.invert.mode);
    assert_int_equal(PARSE("--list", "two,one"), 0);
    assert_string_equal(o.list, "two,one");
    assert_int_equal(PARSE("--help", "--nonsense"), 0);
    assert_int_equal(o.common.help, 1);
}

static void messages_name_what_was_typed(void **state)
{
    (void)state;
    REFUSED("--hidden-shared must be a whole number from 0", "--hidden-shared", "x");
    REFUSED("--hidden-shared needs a value: --hidden-shared N", "--hidden-shared");
    REFUSED("--batch must be at least 1", "--batch", "0");
    REFUSED("--count must be a whole number", "--count=-1");
    REFUSED("--no-share takes no value", "--no-share=1");
    REFUSED("no mode is called 'fre'; did you mean 'free'?", "--mode", "fre");
    REFUSED("no list is called 'three'; choose from one, two", "--list", "one,three");
    REFUSED("unknown option --hidden-sharde; did you mean --hidden-shared?", "--hidden-sharde",
            "1");
    REFUSED("unknown option --hidden_shared; did you mean --hidden-shared?", "--hidden_shared=1");
    REFUSED("unknown option --secre; --help lists the options", "--secre"); /* hidden */
    REFUSED("unknown option -z", "-qz");
    REFUSED("unknown option --verify", "--verify", "none"); /* left out */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(both_tables_are_listed),
    cmocka_unit_test(values_go_to_their_members),
    cmocka_unit_test(messages_name_what_was_typed),
};

RUN(tests)
