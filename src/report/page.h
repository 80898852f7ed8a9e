/* page.h: a report on a network and a posterior as one HTML page.  All text that comes from models,
   data or callers is escaped; the template, the style and the script are page.html, page.css and
   page.js. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "infer/verdict.h"
#include "net/network.h"
#include "report/figure.h"
#include "report/view.h"

/* A posterior, as far as its figures do not show it. */
struct page_answer {
    const struct infer *infer;
    const struct infer_method *method;
    const struct diagnostics *found;
    size_t draws, islands, set, num_sets;
    double ood_p; /* p-value of the data among those of the model; NaN: not known */
    uint64_t seed;
};

struct page {
    const char *title, *command, *notes, *version; /* command and notes: or NULL */
    const struct network *net;
    struct view view; /* of the inverse */
    struct figure_input figures;
    const struct page_answer *answer; /* or NULL */
};

/* Appends the page.  Parts that cannot be had are left out, and said to be. */
int page_put(const struct page *p, struct str *out, nami_err *err);

/* ---- its parts ------------------------------------------------------------------------------ */

/* Each appends sections, with the ids that the table of contents in page.c names. */
int page_answer(const struct page *p, struct str *out, nami_err *err); /* verdict, posterior */
int page_structure(const struct page *p, struct str *out,
                   nami_err *err);                                      /* model, inverse, steps */
int page_quality(const struct page *p, struct str *out, nami_err *err); /* calibration, training */

/* A figure, if it can be drawn of the input; with at most so many panels, 0: the usual number. */
int page_figure(const struct page *p, const struct figure *f, int most, struct str *out);
/* <dt> and <dd> for each line of a text whose labels are SHOW_INDENT columns wide. */
void page_labeled(const char *text, struct str *out);
/* A cell of a table: a number with this many digits, or a dash. */
void page_number(struct str *out, int digits, double x);
void page_tag(struct str *out, const char *tag, const char *text); /* <tag>text</tag>, escaped */

#endif
