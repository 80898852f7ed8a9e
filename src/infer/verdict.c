/* verdict.c: from the diagnostics of weights to a verdict, its reason and advice. */
#include "infer/verdict.h"

#include <math.h>

#include "infer/chains.h"
#include "infer/mcmc.h"
#include "infer/weights.h"

const char *const verdict_names[] = {"trusted", "care", "no"};

static const double DIVERGED = 1e-3;

static int is_resampled(const struct diagnostics *d) { return isnan(d->khat); }

/* Too few draws for an estimate; a k-hat that is known needs none. */
static int too_few(const struct diagnostics *d, size_t draws)
{
    return !is_resampled(d) && draws < KHAT_DRAWS && d->khat != NO_TAIL;
}

/* Islands disagree if their estimates of p(x) vary by as much as their mean. */
static int islands_agree(const struct diagnostics *d, size_t islands)
{
    return d->log_se < 1 / sqrt((double)islands);
}

/* Of Markov chains.  Divergent trajectories tell of regions that the chains may not have entered.
 */
static enum verdict verdict_of_chains(const struct diagnostics *d)
{
    if (!chains_agree(d)) return NOT_TRUSTED;
    return d->diverged < DIVERGED ? TRUSTED : CARE;
}

static void reason_of_chains(const struct diagnostics *d, struct str *out)
{
    str_printf(out, "R-hat of the Markov chains is %.3f (good below %.2f), %.0f effective draws",
               d->rhat, RHAT_LIMIT, d->ess);
    if (d->ess < CHAINS_ESS) str_printf(out, " (good above %d)", CHAINS_ESS);
    if (d->rescued)
        str_printf(out, "; %d of %d chains were stuck far out, and moved", d->rescued, MCMC_CHAINS);
    if (d->diverged >= DIVERGED)
        str_printf(out, ", but %.2g %% of the trajectories diverged", 100 * d->diverged);
}

enum verdict verdict_of(const struct infer_method *method, const struct diagnostics *d,
                        size_t draws, size_t islands)
{
    if (d->rhat) return verdict_of_chains(d);
    if (!method->weighted) return CARE;
    if (!isfinite(d->log_z)) return NOT_TRUSTED; /* all weights are 0 */
    if (too_few(d, draws)) return CARE;
    int good = is_resampled(d) ? islands_agree(d, islands)
                               : d->khat == NO_TAIL || d->khat < khat_limit(draws);
    return good ? TRUSTED : NOT_TRUSTED;
}

void verdict_reason(const struct infer_method *method, const struct diagnostics *d, size_t draws,
                    size_t islands, struct str *out)
{
    if (d->rhat)
        reason_of_chains(d, out);
    else if (!method->weighted)
        str_put(out,
                "draws of the network, not weighted; 'nami calibrate' tells how good they are");
    else if (!isfinite(d->log_z))
        str_put(out, "all importance weights are 0: no draw is near the posterior");
    else if (is_resampled(d))
        str_printf(out, "the estimates of the evidence of %zu %s %s", islands,
                   method->chains ? "chains" : "islands",
                   islands_agree(d, islands) ? "agree" : "disagree, or are too few");
    else if (too_few(d, draws))
        str_printf(out, "too few draws to tell: k-hat needs %d or more", KHAT_DRAWS);
    else if (d->khat == NO_TAIL && d->log_se < 1e-9)
        str_put(out, "all importance weights are equal: the answer is exact");
    else if (d->khat == NO_TAIL)
        str_put(out, "no importance weight is twice the mean");
    else if (d->khat == INFINITY)
        str_printf(out, "k-hat of the importance weights cannot be estimated (good below %.2f)",
                   khat_limit(draws));
    else
        str_printf(out, "k-hat of the importance weights is %.2f (good below %.2f)", d->khat,
                   khat_limit(draws));
}

void verdict_advice(const struct infer *a, const struct infer_method *method,
                    const struct diagnostics *d, size_t draws, size_t islands, struct str *out)
{
    /* Only what was found to help: more draws are still fast, and have cured k-hats of 2 and even
       6; chains need no good network.  Longer training and other families rarely helped. */
    enum { MORE = 100000 };
    const char *chains = method != &infer_mcmc && method != &infer_auto && mcmc_can(a->q)
                             ? "for Markov chains (the method 'mcmc')"
                             : NULL;
    if (d->rhat) {
        if (verdict_of_chains(d) == NOT_TRUSTED)
            str_put(out,
                    "the chains do not agree: the posterior may have several modes, or a shape "
                    "that is hard to explore; check the model, or write it in another form");
        return;
    }
    if (method->weighted && isfinite(d->log_z) && too_few(d, draws))
        str_put(out, "ask for more draws");
    if (verdict_of(method, d, draws, islands) != NOT_TRUSTED) return;
    if (isfinite(d->log_z) && is_resampled(d))
        str_printf(out, "ask for more %s%s%s", method->chains ? "temperatures" : "draws",
                   chains && !method->chains ? ", or " : "",
                   chains && !method->chains ? chains : "");
    else if (!isfinite(d->log_z))
        str_printf(out, "check that data and model fit together%s%s", chains ? "; or ask " : "",
                   chains ? chains : "");
    else if (draws < MORE)
        str_printf(out, "ask for more draws (%d)%s%s", MORE, chains ? ", or " : "",
                   chains ? chains : "");
    else if (chains)
        str_printf(out, "ask %s", chains);
    else if (!islands)
        str_put(out, "use the method 'smc', which needs a good network less");
}
