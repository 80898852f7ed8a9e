/* report.c: nami_report_html: a page about a network and a posterior. */
#include <string.h>

#include "api/figure.h"
#include "base/err.h"
#include "report/page.h"

/* The model's file, without folder and ending. */
static const char *name_of(const struct model *m, struct str *out)
{
    const char *file = model_file_name(m), *slash = file ? strrchr(file, '/') : NULL;
    if (slash) file = slash + 1;
    const char *dot = file ? strrchr(file, '.') : NULL;
    str_putn(out, file ? file : "model",
             !file               ? 5
             : dot && dot > file ? (size_t)(dot - file)
                                 : strlen(file));
    return out->s;
}

static struct page_answer answer_of(const nami_posterior *p)
{
    size_t set = p->kept.set;
    return (struct page_answer){.infer = &p->net->infer,
                                .method = p->method,
                                .found = &p->found[set].diagnostics,
                                .draws = p->q.per,
                                .islands = p->islands,
                                .set = set,
                                .num_sets = p->q.nset,
                                .ood_p = p->found[set].ood_p,
                                .seed = p->opt.seed};
}

int nami_report_html(const nami_network *net, const nami_report_options *opt, char **html,
                     size_t *len, nami_err *err)
{
    nami_report_options o = {0};
    struct figure_made made;
    struct page_answer answer;
    struct str out = {0}, name = {0};
    err_clear(err);
    *html = NULL;
    if (opt) memcpy(&o, opt, opt->size && opt->size < sizeof o ? opt->size : sizeof o);
    if (o.posterior && o.posterior->net != net)
        return err_set(err, NAMI_EUSAGE, "the posterior is of another network than the report");
    int rc = figure_make(net, o.posterior, o.calibration, NULL, &made, err);
    struct page page = {.title = o.title ? o.title : name_of(net->net.model, &name),
                        .command = o.command,
                        .notes = o.notes,
                        .version = nami_version(),
                        .net = &net->net,
                        .figures = made.in,
                        .view = {.file = "model",
                                 .bn = net->inverse.bn,
                                 .v = &net->inverse.problem,
                                 .h = net->inverse.h,
                                 .c = net->inverse.collapse,
                                 .width = 96}};
    if (!rc && name.oom) rc = err_nomem(err);
    if (!rc && o.posterior) answer = answer_of(o.posterior), page.answer = &answer;
    if (!rc) rc = page_put(&page, &out, err);
    figure_made_free(&made);
    str_free(&name);
    if (!rc) return give_text(&out, html, len, err);
    str_free(&out);
    return rc;
}
