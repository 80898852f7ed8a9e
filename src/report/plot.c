/* plot.c: writes panels of curves, bars, bands and points as SVG, with axes and ticks. */
#include "report/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pixels: a panel inside its axes, room around it, and what stands outside of all panels. */
enum { USUAL_WIDE = 210, USUAL_HIGH = 150 };
enum { TICKS = 24 };
enum { LEFT = 50, RIGHT = 14, TOP = 22, BOTTOM = 26 };
enum { EDGE = 14, TITLE = 24, SUBTITLE = 18, LABEL = 18, KEY = 18 };

static const char *const COLOUR[] = {"#0072b2", "#d55e00", "#767676", "#dcdcdc",
                                     "#009e73", "#e69f00", "#cc79a7", "#56b4e9"};
static const char INK[] = "#333333";

/* A panel's place, and what its axes show. */
struct frame {
    double left, top;
    int wide, high;
    double x0, x1, y0, y1;
    int log;
};

static double at_x(const struct frame *f, double x)
{
    return f->left + f->wide * (x - f->x0) / (f->x1 - f->x0);
}

static double at_y(const struct frame *f, double y)
{
    return f->top + f->high * (1 - (y - f->y0) / (f->y1 - f->y0));
}

/* Within what SVG readers can bear; clipped to the axes anyway. */
static double bear(double pixel) { return fmax(-1e4, fmin(1e5, pixel)); }

double plot_step(double lo, double hi, int n)
{
    double raw = (hi - lo) / n;
    if (!(raw > 0) || !isfinite(raw)) return 1;
    double ten = pow(10, floor(log10(raw))), r = raw / ten;
    return ten * (r < 1.5 ? 1 : r < 3.5 ? 2 : r < 7.5 ? 5 : 10);
}

void plot_include(const double *x, int n, double *lo, double *hi)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) continue;
        *lo = fmin(*lo, x[i]);
        *hi = fmax(*hi, x[i]);
    }
}

/* What XML reserves, and what it forbids. */
static void put_xml(struct str *out, const char *s)
{
    for (; *s; s++) {
        const char *as = *s == '&'   ? "&amp;"
                         : *s == '<' ? "&lt;"
                         : *s == '>' ? "&gt;"
                         : *s == '"' ? "&quot;"
                                     : NULL;
        if (as)
            str_put(out, as);
        else if ((unsigned char)*s < 32)
            str_put(out, " ");
        else
            str_putn(out, s, 1);
    }
}

/* style: more attributes, or "" */
static void put_text(struct str *out, double x, double y, const char *anchor, const char *style,
                     const char *text)
{
    str_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s%s>", x, y, anchor,
               *style ? " " : "", style);
    put_xml(out, text);
    str_put(out, "</text>\n");
}

static void put_line(struct str *out, double x1, double y1, double x2, double y2, const char *style)
{
    str_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" %s/>\n", bear(x1), bear(y1), bear(x2),
               bear(y2), style);
}

/* Are ticks written with an exponent, or many digits? */
static int wide_numbers(double lo, double hi)
{
    double most = fmax(fabs(lo), fabs(hi));
    return most >= 1e4 || hi - lo < 1e-2 || hi - lo < 1e-3 * most;
}

/* The tick nearest to i * step, without the dust of rounding, and a true minus sign; thousands and
   millions are k and M. */
static void put_tick(struct str *out, double x, double y, const char *anchor, double i, double step)
{
    char s[40], *digits = s + 3;
    double v = fabs(i) < 0.5 ? 0 : i * step;
    int places = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    int large = step >= 1e3 && step < 1e9 && v != 0;
    if (large)
        snprintf(digits, sizeof s - 3, "%.0f%s", v / (step < 1e6 ? 1e3 : 1e6),
                 step < 1e6 ? "k" : "M");
    else if (fabs(v) >= 1e6 || (step < 1e-4))
        snprintf(digits, sizeof s - 3, "%g", v);
    else
        snprintf(digits, sizeof s - 3, "%.*f", places, v);
    if (*digits == '-') {
        static const char minus[] = "\xe2\x88\x92";
        digits = s + 1;
        for (int k = 0; k < 3; k++) digits[k] = minus[k];
    }
    put_text(out, x, y, anchor, "", digits);
}

/* Multiples of step between lo and hi: the first and the last. */
static long first_tick(double lo, double step) { return (long)ceil(lo / step - 1e-9); }
static long last_tick(double hi, double step) { return (long)floor(hi / step + 1e-9); }

/* Where y has ticks.  Of logarithms: at 1, 2 and 5 times powers of ten; at powers alone where these
   are many. */
static int y_ticks(const struct frame *f, double y[TICKS], double *step)
{
    int n = 0;
    *step = plot_step(f->y0, f->y1, 4);
    if (!f->log) {
        for (long i = first_tick(f->y0, *step); i <= last_tick(f->y1, *step) && n < TICKS; i++)
            y[n++] = (double)i * *step;
        return n;
    }
    int digits = f->y1 - f->y0 < 3 ? 3 : 1;
    int by = f->y1 - f->y0 > 8 ? (int)ceil((f->y1 - f->y0) / 8) : 1;
    for (int ten = (int)floor(f->y0); ten <= f->y1; ten += by)
        for (int k = 0; k < digits; k++) {
            double at = ten + log10(k == 0 ? 1 : k == 1 ? 2 : 5);
            if (at >= f->y0 - 1e-9 && at <= f->y1 + 1e-9 && n < TICKS) y[n++] = at;
        }
    return n;
}

static void put_axes(struct str *out, const struct frame *f)
{
    int many = f->wide / 42;
    double step = plot_step(f->x0, f->x1, wide_numbers(f->x0, f->x1) ? many * 3 / 5 : many),
           base = f->top + f->high;
    str_printf(out, "<g stroke=\"%s\" fill=\"none\">\n", INK);
    str_printf(out, "<path d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", f->left, f->top, base,
               f->left + f->wide);
    for (long i = first_tick(f->x0, step); i <= last_tick(f->x1, step); i++)
        put_line(out, at_x(f, (double)i * step), base, at_x(f, (double)i * step), base + 4, "");
    double y[TICKS], ystep;
    int n = y_ticks(f, y, &ystep);
    for (int i = 0; i < n; i++)
        put_line(out, f->left - 4, at_y(f, y[i]), f->left, at_y(f, y[i]), "");
    str_printf(out, "</g>\n<g fill=\"%s\" font-size=\"10\">\n", INK);
    for (long i = first_tick(f->x0, step); i <= last_tick(f->x1, step); i++)
        put_tick(out, at_x(f, (double)i * step), base + 15, "middle", (double)i, step);
    for (int i = 0; i < n; i++) {
        double unit = f->log ? pow(10, floor(y[i] + 1e-9)) : ystep;
        put_tick(out, f->left - 7, at_y(f, y[i]) + 3.5, "end",
                 f->log ? round(pow(10, y[i]) / unit) : y[i] / ystep, unit);
    }
    str_put(out, "</g>\n");
}

/* ---- layers ------------------------------------------------------------------------- */

static void put_band(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    str_printf(out, "<path fill=\"%s\"%s stroke=\"none\" d=\"", COLOUR[l->colour],
               l->colour == PLOT_LIGHT ? "" : " fill-opacity=\"0.18\"");
    for (int i = 0; i < 2 * l->n; i++) {
        int at = i < l->n ? i : 2 * l->n - 1 - i;
        double y = i < l->n ? l->hi[at] : l->lo[at];
        if (!isfinite(y)) y = i < l->n ? f->y1 : f->y0;
        str_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', bear(at_x(f, l->x[at])), bear(at_y(f, y)));
    }
    str_put(out, "Z\"/>\n");
}

static void put_bars(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    str_printf(out, "<g fill=\"%s\" fill-opacity=\"0.75\">\n", COLOUR[l->colour]);
    for (int i = 0; i < l->n; i++) {
        double a = bear(at_x(f, l->x[i])), b = bear(at_x(f, l->x[i + 1])),
               y = bear(at_y(f, l->y[i]));
        if (!isfinite(l->y[i])) continue;
        str_printf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>\n", a + 0.5,
                   y, fmax(b - a - 1, 0.5), fmax(bear(at_y(f, 0)) - y, 0));
    }
    str_put(out, "</g>\n");
}

static void put_curve(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    int pen = 0;
    str_printf(out, "<path fill=\"none\" stroke-width=\"1.6\" stroke=\"%s\" d=\"",
               COLOUR[l->colour]);
    for (int i = 0; i < l->n; i++) {
        if (!isfinite(l->x[i]) || !isfinite(l->y[i])) {
            pen = 0;
            continue;
        }
        str_printf(out, "%c%.1f %.1f", pen ? 'L' : 'M', bear(at_x(f, l->x[i])),
                   bear(at_y(f, l->y[i])));
        pen = 1;
    }
    str_put(out, "\"/>\n");
}

static void put_points(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    double many = l->n > 150 ? 0.35 : l->n > 40 ? 0.6 : 1, size = l->n > 40 ? 1.8 : 2.6;
    if (l->lo && l->hi) {
        str_printf(out, "<g fill=\"none\" stroke=\"%s\" stroke-opacity=\"%g\">\n",
                   COLOUR[l->colour], many * 0.6);
        for (int i = 0; i < l->n; i++)
            if (isfinite(l->x[i]) && isfinite(l->lo[i]) && isfinite(l->hi[i]))
                put_line(out, at_x(f, l->x[i]), at_y(f, l->lo[i]), at_x(f, l->x[i]),
                         at_y(f, l->hi[i]), "");
        str_put(out, "</g>\n");
    }
    str_printf(out, "<g fill=\"%s\" fill-opacity=\"%g\">\n", COLOUR[l->colour], many);
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->x[i]) && isfinite(l->y[i]))
            str_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n", bear(at_x(f, l->x[i])),
                       bear(at_y(f, l->y[i])), size);
    str_put(out, "</g>\n");
}

static void put_layer(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    static const char DASHED[] = "stroke=\"#767676\" fill=\"none\" stroke-dasharray=\"4 3\"";
    switch (l->kind) {
    case PLOT_BAND: put_band(out, f, l); break;
    case PLOT_BARS: put_bars(out, f, l); break;
    case PLOT_LINE: put_curve(out, f, l); break;
    case PLOT_POINTS: put_points(out, f, l); break;
    case PLOT_DIAGONAL:
        put_line(out, at_x(f, f->x0), at_y(f, f->x0), at_x(f, f->x1), at_y(f, f->x1), DASHED);
        break;
    case PLOT_LEVEL:
        put_line(out, f->left, at_y(f, l->y[0]), f->left + f->wide, at_y(f, l->y[0]), DASHED);
        break;
    }
}

/* ---- panels and the page ------------------------------------------------------------ */

static void some_length(double *lo, double *hi)
{
    if (!isfinite(*lo) || !isfinite(*hi)) *lo = 0, *hi = 1;
    if (*hi - *lo > 1e-9 * (fabs(*lo) + fabs(*hi))) return;
    double half = fmax(0.5, 0.1 * fabs(*lo));
    *lo -= half;
    *hi += half;
}

/* As much of a title as there is room for. */
static void put_title(struct str *out, const struct frame *f, const char *s, int columns)
{
    char cut[160];
    size_t n = 0;
    int col = 0;
    while (s[n] && n + 8 < sizeof cut && col < columns) n += str_char(s + n, strlen(s + n)), col++;
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, s, s[n] ? "\xe2\x80\xa6" : "");
    put_text(out, f->left, f->top - 8, "start", "font-weight=\"bold\"", cut);
}

static int key_width(const struct plot_key *k) { return 36 + 7 * str_width(k->name); }

static void put_keys(struct str *out, const struct plot *p, double x, double y)
{
    for (int i = 0; i < p->nkey; i++) {
        char style[60];
        snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"2.5\"",
                 COLOUR[p->key[i].colour]);
        put_line(out, x, y - 4, x + 18, y - 4, style);
        put_text(out, x + 23, y, "start", "", p->key[i].name);
        x += key_width(&p->key[i]);
    }
}

static void put_panel(struct str *out, const struct plot_panel *p, int i, const struct frame *at)
{
    struct frame frame = *at, *f = &frame;
    double left = at->left, top = at->top;
    f->x0 = p->x0, f->x1 = p->x1, f->y0 = p->y0, f->y1 = p->y1, f->log = p->log;
    some_length(&f->x0, &f->x1);
    some_length(&f->y0, &f->y1);
    str_printf(out,
               "<clipPath id=\"c%d\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
               "height=\"%d\"/></clipPath>\n",
               i, left, top - 1, f->wide + 1, f->high + 1);
    str_printf(out, "<g clip-path=\"url(#c%d)\">\n", i);
    for (int l = 0; l < p->nlayer; l++) put_layer(out, f, &p->layer[l]);
    str_put(out, "</g>\n");
    put_axes(out, f);
    int note = p->note ? 6 * str_width(p->note) + 16 : 0;
    if (p->title) put_title(out, f, p->title, (f->wide - note) * 2 / 13);
    if (!p->note) return;
    char style[60];
    snprintf(style, sizeof style, "fill=\"%s\" font-size=\"10\"",
             COLOUR[p->alarm ? PLOT_RED : PLOT_GREY]);
    struct str text = {0};
    str_printf(&text, "%s%s", p->alarm ? "\xe2\x9a\xa0 " : "", p->note);
    if (text.oom)
        out->oom = 1;
    else
        put_text(out, left + f->wide, top - 8, "end", style, text.s);
    str_free(&text);
}

void plot_svg(const struct plot *p, struct str *out)
{
    struct frame at = {.wide = p->wide ? p->wide : USUAL_WIDE,
                       .high = p->high ? p->high : USUAL_HIGH};
    int ncol = p->ncol > 0 ? p->ncol : (int)ceil(sqrt(p->npanel)), pw = LEFT + at.wide + RIGHT;
    if (!p->ncol && ncol > 4) ncol = 4;
    if (ncol > p->npanel) ncol = p->npanel;
    if (ncol < 1) ncol = 1;
    int nrow = (p->npanel + ncol - 1) / ncol, ph = TOP + at.high + BOTTOM;
    int head = EDGE + (p->title ? TITLE : 0) + (p->subtitle ? SUBTITLE : 0) + (p->nkey ? KEY : 0),
        edge = EDGE + (p->ylabel ? LABEL : 0);
    int title = p->title ? 10 * str_width(p->title) : 0;
    int sub = p->subtitle ? 7 * str_width(p->subtitle) : 0;
    int keys = 0;
    for (int i = 0; i < p->nkey; i++) keys += key_width(&p->key[i]);
    if (keys > sub) sub = keys;
    int wide = edge + ncol * pw + EDGE, high = head + nrow * ph + (p->xlabel ? LABEL : 0) + EDGE;
    if (wide < edge + (title > sub ? title : sub)) wide = edge + (title > sub ? title : sub);
    str_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" "
               "fill=\"%s\">\n<title>",
               wide, high, wide, high, INK);
    put_xml(out, p->title ? p->title : "plot");
    str_printf(out, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", wide, high);
    double mid = edge + ncol * pw / 2.0, y = EDGE + 12;
    if (p->title)
        put_text(out, edge + 4, y, "start", "font-size=\"15\" font-weight=\"bold\"", p->title),
            y += 20;
    if (p->subtitle) put_text(out, edge + 4, y, "start", "fill=\"#555555\"", p->subtitle), y += 18;
    put_keys(out, p, edge + 4, y);
    if (p->xlabel) put_text(out, mid, high - EDGE, "middle", "", p->xlabel);
    if (p->ylabel) {
        double half = head + nrow * ph / 2.0;
        char turn[80];
        snprintf(turn, sizeof turn, "transform=\"rotate(-90 %d %.1f)\"", EDGE + 10, half);
        put_text(out, EDGE + 10, half, "middle", turn, p->ylabel);
    }
    for (int i = 0; i < p->npanel; i++) {
        int row = i / ncol, col = i % ncol;
        at.left = edge + col * pw + LEFT;
        at.top = head + row * ph + TOP;
        put_panel(out, &p->panel[i], i, &at);
    }
    str_put(out, "</svg>\n");
}
