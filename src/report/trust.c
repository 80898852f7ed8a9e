/* trust.c: k-hat, effective draws, evidence, verdict and advice, as lines of text. */
#include "report/trust.h"

#include <math.h>

#include "infer/chains.h"
#include "infer/weights.h"

/* "k-hat 0.31 (good below 0.70)"; of few draws, only that of an exact answer is known. */
static void put_khat(double khat, size_t draws, struct str *out)
{
    if (draws < KHAT_DRAWS && khat == NO_TAIL)
        str_put(out, "all equal");
    else if (draws < KHAT_DRAWS)
        str_printf(out, "k-hat needs %d draws or more", KHAT_DRAWS);
    else if (khat == INFINITY)
        str_printf(out, "k-hat cannot be told (good below %.2f)", khat_limit(draws));
    else
        str_printf(out, "k-hat %.2f (good below %.2f)", khat, khat_limit(draws));
}

void show_weights(const struct diagnostics *found, size_t draws, size_t islands, struct str *out)
{
    if (found->rhat) {
        str_printf(out, "chains       R-hat %.3f (good below %.2f), %.0f effective draws of %zu\n",
                   found->rhat, RHAT_LIMIT, found->ess, draws);
        return;
    }
    str_put(out, "weights      ");
    if (!isfinite(found->log_z))
        str_printf(out, "all 0, or too small to be told apart: 0 effective draws of %zu\n", draws);
    else if (isnan(found->khat))
        str_printf(out, "resampled in %zu islands, %.0f effective draws of %zu at the end\n",
                   islands, found->ess, draws);
    else {
        put_khat(found->khat, draws, out);
        str_printf(out, ", %.0f effective draws of %zu\n", found->ess, draws);
    }
    if (isfinite(found->log_z))
        str_printf(out, "evidence     log p(x) = %.3f +- %.3f\n", found->log_z, found->log_se);
}

const char *verdict_word(enum verdict verdict)
{
    static const char *const words[] = {"trusted", "with care", "not trusted"};
    return words[verdict];
}

void show_verdict(const struct infer *infer, const struct infer_method *method,
                  const struct diagnostics *found, size_t draws, size_t islands, struct str *out)
{
    struct str advice = {0};
    str_printf(out, "verdict      %s: ", verdict_word(verdict_of(method, found, draws, islands)));
    verdict_reason(method, found, draws, islands, out);
    str_put(out, "\n");
    verdict_advice(infer, method, found, draws, islands, &advice);
    if (advice.n) str_printf(out, "advice       %s\n", advice.s);
    out->oom |= advice.oom;
    str_free(&advice);
}
