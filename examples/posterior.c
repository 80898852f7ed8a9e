/* posterior.c: from a model and data in memory to posterior means, with nothing but nami.h.  The
   model is that of the eight schools (Rubin 1981); training takes a second or two. */
#include <nami.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "const s[8]\n"
                           "model {\n"
                           "  mu ~ normal(0, 10)\n"
                           "  tau ~ half_normal(10)\n"
                           "  for (j in 1:8) {\n"
                           "    theta[j] ~ normal(mu, tau)\n"
                           "    y[j] ~ normal(theta[j], s[j])\n"
                           "  }\n"
                           "}\n"
                           "observe y\n";
static const double s[] = {15, 10, 16, 11, 9, 11, 10, 18}, y[] = {28, 8, -3, 7, -1, 1, 18, 12};

/* Called after each step of training; a nonzero result cancels it. */
static int show(const nami_progress *now, void *user)
{
    if ((int)now->done % 500 == 0)
        fprintf(user, "step %4.0f of %.0f   loss %.3f\n", now->done, now->total, now->valid);
    return 0;
}

static void print_mean(const nami_posterior *post, const char *name)
{
    nami_summary of;
    if (nami_posterior_summary(post, 0, name, &of, NULL)) return;
    printf("%-10s %6.2f %6.2f %7.2f %7.2f\n", name, of.mean, of.sd, of.q5, of.q95);
}

int main(void)
{
    static const char *const verdicts[] = {"trusted", "with care", "not trusted"};
    nami_watch watch = {.progress = show, .user = stderr};
    nami_train_options how = {
        .steps = 1500, .hidden = "32,32", .batch = 128, .valid = 1000, .seed = 1, .watch = &watch};
    nami_query query = {.draws = 4000, .seed = 1};
    nami_data *data = NULL;
    nami_model *model = NULL;
    nami_network *net = NULL;
    nami_posterior *post = NULL;
    nami_verdict verdict;
    nami_block block;
    nami_err err;
    int rc = nami_data_new(&data, &err);
    if (!rc) rc = nami_data_set(data, 0, "s", 1, (size_t[]){8}, s, &err); /* of data set 0 */
    if (!rc) rc = nami_data_set(data, 0, "y", 1, (size_t[]){8}, y, &err);
    nami_model_options with = {.data = data};
    if (!rc) rc = nami_model_parse(text, strlen(text), "schools", &with, &model, &err);
    if (!rc) rc = nami_train(model, NULL, &how, &net, &err);
    if (!rc) rc = nami_posterior_new(net, data, &query, &post, &err);
    while (!rc && (rc = nami_posterior_next(post, &block, &err)) > 0) rc = 0; /* or use the draws */
    if (!rc) rc = nami_posterior_verdict(post, 0, &verdict, &err);
    if (rc) {
        fprintf(stderr, "%s\n", err.msg);
    } else {
        puts("             mean     sd      5%     95%");
        print_mean(post, "mu");
        print_mean(post, "tau");
        print_mean(post, "theta[1]");
        printf("%s: %s\n", verdicts[verdict.verdict], verdict.reason);
    }
    nami_posterior_free(post);
    nami_network_free(net);
    nami_model_free(model);
    nami_data_free(data);
    return rc ? 2 : 0;
}
