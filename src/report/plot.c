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

/* By enum plot_colour; the same in the dark; ink, and what is behind all. */
enum { INK = PLOT_COLOURS, PAPER, SHADES };
static const char *const COLOUR[SHADES] = {"#0072b2", "#d55e00", "#767676", "#dcdcdc", "#009e73",
                                           "#e69f00", "#cc79a7", "#56b4e9", "#333333", "#ffffff"};
static const char *const DARK[SHADES] = {"#4aa8e0", "#f08a4b", "#9a9a9a", "#3d3d3d", "#2fbf93",
                                         "#e9b44c", "#d99ac0", "#86cdf2", "#d8d8d8", "#1c1c1e"};

/* Attributes of a color: fill or stroke. */
struct shade {
    char s[48];
};
static struct shade shade(const char *what, int colour)
{
    struct shade out;
    snprintf(out.s, sizeof out.s, "%s=\"%s\" class=\"n%c%d\"", what, COLOUR[colour], *what, colour);
    return out;
}

void plot_css(struct str *out)
{
    for (int i = 0; i < SHADES; i++)
        str_printf(out, ".nf%d{fill:var(--n%d,%s)}.ns%d{stroke:var(--n%d,%s)}", i, i, COLOUR[i], i,
                   i, COLOUR[i]);
    str_put(out, "\n");
}

void plot_css_dark(struct str *out)
{
    for (int i = 0; i < SHADES; i++) str_printf(out, "--n%d:%s;", i, DARK[i]);
}

void plot_css_only_dark(struct str *out)
{
    for (int i = 0; i < SHADES; i++)
        str_printf(out, ".nf%d{fill:%s}.ns%d{stroke:%s}", i, DARK[i], i, DARK[i]);
}

/* A panel's place, and what its axes show. */
struct frame {
    double left, top;
    int wide, high, room; /* room: for names at the left */
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

/* Is it a character that XML allows, in its only form of UTF-8? */
static int is_good(const unsigned char *s, size_t n)
{
    if (n == 1) return *s >= 32 && *s < 127;
    if (n == 2) return *s >= 0xc2 && !(*s == 0xc2 && s[1] < 0xa0);
    if (n == 3)
        return !(*s == 0xe0 && s[1] < 0xa0) && !(*s == 0xed && s[1] > 0x9f) &&
               !(*s == 0xef && s[1] == 0xbf && s[2] > 0xbd);
    return *s < 0xf5 && !(*s == 0xf0 && s[1] < 0x90) && !(*s == 0xf4 && s[1] > 0x8f);
}

void put_xml(struct str *out, const char *s)
{
    for (size_t left = strlen(s), n; left; s += n, left -= n) {
        const char *as = *s == '&'    ? "&amp;"
                         : *s == '<'  ? "&lt;"
                         : *s == '>'  ? "&gt;"
                         : *s == '"'  ? "&quot;"
                         : *s == '\'' ? "&#39;"
                                      : NULL;
        n = str_char(s, left);
        if (as)
            str_put(out, as);
        else if (*s == '\n' || *s == '\t')
            str_putn(out, s, 1);
        else if (is_good((const unsigned char *)s, n))
            str_putn(out, s, n);
        else
            str_put(out, " ");
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

/* As much of a text as there is room for. */
static void put_cut(struct str *out, double x, double y, const char *anchor, const char *style,
                    const char *s, int columns)
{
    char cut[160];
    size_t n = 0;
    int col = 0;
    while (s[n] && n + 8 < sizeof cut && col < columns) n += str_char(s + n, strlen(s + n)), col++;
    snprintf(cut, sizeof cut, "%.*s%s", (int)n, s, s[n] ? "\xe2\x80\xa6" : "");
    put_text(out, x, y, anchor, style, cut);
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

/* The distance of ticks of x: as many as their numbers have room for, but two at least. */
static double x_step(const struct frame *f, const struct plot_panel *p)
{
    int many = f->wide / 42, most = many + 3;
    if (wide_numbers(f->x0, f->x1)) many = most = many * 3 / 5;
    double step = plot_step(f->x0, f->x1, many);
    while (last_tick(f->x1, step) <= first_tick(f->x0, step) && many < most)
        step = plot_step(f->x0, f->x1, ++many);
    return p->whole && step < 1 ? 1 : step;
}

static void put_axes(struct str *out, const struct frame *f, const struct plot_panel *p)
{
    double step = x_step(f, p), base = f->top + f->high;
    long from = first_tick(f->x0, step), to = p->no_x ? from - 1 : last_tick(f->x1, step);
    str_printf(out, "<g %s fill=\"none\">\n", shade("stroke", INK).s);
    if (p->no_y || p->row)
        put_line(out, f->left, base, f->left + f->wide, base, "");
    else
        str_printf(out, "<path d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", f->left, f->top, base,
                   f->left + f->wide);
    for (long i = from; i <= to; i++)
        put_line(out, at_x(f, (double)i * step), base, at_x(f, (double)i * step), base + 4, "");
    double y[TICKS], ystep;
    int n = p->no_y || p->row ? 0 : y_ticks(f, y, &ystep);
    for (int i = 0; i < n; i++)
        put_line(out, f->left - 4, at_y(f, y[i]), f->left, at_y(f, y[i]), "");
    str_printf(out, "</g>\n<g %s font-size=\"10\">\n", shade("fill", INK).s);
    for (long i = from; i <= to; i++)
        put_tick(out, at_x(f, (double)i * step), base + 15, "middle", (double)i, step);
    for (int i = 0; p->row && i < p->num_rows; i++)
        put_cut(out, f->left - 7, at_y(f, i) + 3.5, "end", "", p->row[i], f->room / 6);
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
    str_printf(out, "<path %s%s stroke=\"none\" d=\"", shade("fill", l->colour).s,
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
    str_printf(out, "<g %s fill-opacity=\"0.75\">\n", shade("fill", l->colour).s);
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
    str_printf(out, "<path fill=\"none\" stroke-width=\"%g\" %s d=\"",
               l->width > 0 ? l->width : 1.6, shade("stroke", l->colour).s);
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
        str_printf(out, "<g fill=\"none\" %s stroke-opacity=\"%g\" stroke-width=\"%g\">\n",
                   shade("stroke", l->colour).s, many * 0.6, l->width > 0 ? l->width : 1);
        for (int i = 0; i < l->n; i++)
            if (isfinite(l->x[i]) && isfinite(l->lo[i]) && isfinite(l->hi[i]))
                put_line(out, at_x(f, l->x[i]), at_y(f, l->lo[i]), at_x(f, l->x[i]),
                         at_y(f, l->hi[i]), "");
        str_put(out, "</g>\n");
    }
    if (!l->y) return;
    str_printf(out, "<g %s fill-opacity=\"%g\">\n", shade("fill", l->colour).s, many);
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->x[i]) && isfinite(l->y[i]))
            str_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n", bear(at_x(f, l->x[i])),
                       bear(at_y(f, l->y[i])), size);
    str_put(out, "</g>\n");
}

/* One path, in which a point is a line of no length with round ends. */
static void put_dots(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    str_printf(out,
               "<path fill=\"none\" stroke-linecap=\"round\" stroke-width=\"%g\" "
               "stroke-opacity=\"%g\" %s d=\"",
               l->width > 0 ? l->width : 2.6, l->n > 150 ? 0.5 : 0.8, shade("stroke", l->colour).s);
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->x[i]) && isfinite(l->y[i]))
            str_printf(out, "M%.1f %.1fh0", bear(at_x(f, l->x[i])), bear(at_y(f, l->y[i])));
    str_put(out, "\"/>\n");
}

static void put_rings(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    str_printf(out, "<g fill=\"none\" stroke-width=\"1.6\" %s>\n", shade("stroke", l->colour).s);
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->x[i]) && isfinite(l->y[i]))
            str_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", bear(at_x(f, l->x[i])),
                       bear(at_y(f, l->y[i])));
    str_put(out, "</g>\n");
}

static void put_spans(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    str_printf(out, "<path fill=\"none\" stroke-width=\"%g\" %s d=\"",
               l->width > 0 ? l->width : 1.6, shade("stroke", l->colour).s);
    for (int i = 0; i < l->n; i++)
        if (isfinite(l->lo[i]) && isfinite(l->hi[i]))
            str_printf(out, "M%.1f %.1fH%.1f", bear(at_x(f, l->lo[i])), bear(at_y(f, l->y[i])),
                       bear(at_x(f, l->hi[i])));
    str_put(out, "\"/>\n");
    struct plot_layer points = *l;
    points.width = 5;
    if (l->x) put_dots(out, f, &points);
}

static void put_layer(struct str *out, const struct frame *f, const struct plot_layer *l)
{
    struct shade grey = shade("stroke", l->colour ? l->colour : PLOT_GREY);
    char DASHED[120];
    snprintf(DASHED, sizeof DASHED, "%s fill=\"none\" stroke-dasharray=\"4 3\"", grey.s);
    switch (l->kind) {
    case PLOT_DOTS: put_dots(out, f, l); break;
    case PLOT_RINGS: put_rings(out, f, l); break;
    case PLOT_SPANS: put_spans(out, f, l); break;
    case PLOT_UPRIGHT:
        snprintf(DASHED, sizeof DASHED, "%s fill=\"none\" stroke-width=\"1.6\"", grey.s);
        put_line(out, at_x(f, l->x[0]), f->top, at_x(f, l->x[0]), f->top + f->high, DASHED);
        break;
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

static int key_width(const struct plot_key *k) { return 36 + 7 * str_width(k->name); }

static void put_keys(struct str *out, const struct plot *p, double x, double y)
{
    for (int i = 0; i < p->nkey; i++) {
        char style[80];
        snprintf(style, sizeof style, "%s stroke-width=\"2.5\"",
                 shade("stroke", p->key[i].colour).s);
        put_line(out, x, y - 4, x + 18, y - 4, style);
        put_text(out, x + 23, y, "start", "", p->key[i].name);
        x += key_width(&p->key[i]);
    }
}

/* id: of what it is clipped to. */
static void put_panel(struct str *out, const struct plot_panel *p, const char *id,
                      const struct frame *at)
{
    struct frame frame = *at, *f = &frame;
    double left = at->left, top = at->top;
    f->x0 = p->x0, f->x1 = p->x1, f->y0 = p->y0, f->y1 = p->y1, f->log = p->log;
    some_length(&f->x0, &f->x1);
    some_length(&f->y0, &f->y1);
    if (p->text) {
        put_cut(out, left + f->wide / 2.0, top + f->high / 2.0, "middle", "", p->text, f->wide / 6);
        return;
    }
    str_printf(out,
               "<clipPath id=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" "
               "height=\"%d\"/></clipPath>\n",
               id, left, top - 1, f->wide + 1, f->high + 1);
    str_printf(out, "<g clip-path=\"url(#%s)\">\n", id);
    for (int l = 0; l < p->nlayer; l++) put_layer(out, f, &p->layer[l]);
    str_put(out, "</g>\n");
    put_axes(out, f, p);
    int note = p->note ? 6 * str_width(p->note) + 16 : 0;
    if (p->title)
        put_cut(out, f->left, f->top - 8, "start", "font-weight=\"bold\"", p->title,
                (f->wide - note) * 2 / 13);
    if (!p->note) return;
    char style[80];
    snprintf(style, sizeof style, "%s font-size=\"10\"",
             shade("fill", p->alarm ? PLOT_RED : PLOT_GREY).s);
    struct str text = {0};
    str_printf(&text, "%s%s", p->alarm ? "\xe2\x9a\xa0 " : "", p->note);
    if (text.oom)
        out->oom = 1;
    else
        put_text(out, left + f->wide, top - 8, "end", style, text.s);
    str_free(&text);
}

static void put_head(struct str *out, int wide, int high, const char *space, const char *title)
{
    str_printf(out,
               "<svg%s width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" "
               "%s>\n<title>",
               space, wide, high, wide, high, shade("fill", INK).s);
    put_xml(out, title);
    str_put(out, "</title>\n");
}

static struct frame frame_of(const struct plot *p)
{
    return (struct frame){.wide = p->wide ? p->wide : USUAL_WIDE,
                          .high = p->high ? p->high : USUAL_HIGH,
                          .room = p->left ? p->left : LEFT};
}

static void put_grid(struct str *out, const struct plot *p, int ncol, double edge, double head)
{
    struct frame at = frame_of(p);
    size_t from = out->n; /* ids differ in one document */
    for (int i = 0; i < p->npanel; i++) {
        char id[40];
        snprintf(id, sizeof id, "c%zu_%d", from, i);
        at.left = edge + i % ncol * (at.room + at.wide + RIGHT) + at.room;
        at.top = head + i / ncol * (TOP + at.high + BOTTOM) + TOP;
        struct frame own = at;
        if (p->panel[i].high) own.high = p->panel[i].high;
        put_panel(out, &p->panel[i], id, &own);
    }
}

static int columns_of(const struct plot *p)
{
    int ncol = p->ncol > 0 ? p->ncol : (int)ceil(sqrt(p->npanel));
    if (!p->ncol && ncol > 4) ncol = 4;
    if (ncol > p->npanel) ncol = p->npanel;
    return ncol < 1 ? 1 : ncol;
}

void plot_svg(const struct plot *p, struct str *out)
{
    struct frame at = frame_of(p);
    int ncol = columns_of(p), pw = at.room + at.wide + RIGHT;
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
    put_head(out, wide, high, " xmlns=\"http://www.w3.org/2000/svg\"",
             p->title ? p->title : "plot");
    str_put(out, "<style>");
    plot_css(out);
    str_put(out, "@media(prefers-color-scheme:dark){svg{");
    plot_css_dark(out);
    str_printf(out, "}}</style>\n<rect width=\"%d\" height=\"%d\" %s/>\n", wide, high,
               shade("fill", PAPER).s);
    double mid = edge + ncol * pw / 2.0, y = EDGE + 12;
    if (p->title)
        put_text(out, edge + 4, y, "start", "font-size=\"15\" font-weight=\"bold\"", p->title),
            y += 20;
    if (p->subtitle)
        put_text(out, edge + 4, y, "start", shade("fill", PLOT_GREY).s, p->subtitle), y += 18;
    put_keys(out, p, edge + 4, y);
    if (p->xlabel) put_text(out, mid, high - EDGE, "middle", "", p->xlabel);
    if (p->ylabel) {
        double half = head + nrow * ph / 2.0;
        char turn[80];
        snprintf(turn, sizeof turn, "transform=\"rotate(-90 %d %.1f)\"", EDGE + 10, half);
        put_text(out, EDGE + 10, half, "middle", turn, p->ylabel);
    }
    put_grid(out, p, ncol, edge, head);
    str_put(out, "</svg>\n");
}

/* ---- on a page ------------------------------------------------------------------------ */

static void put_caption(const struct plot *p, struct str *out)
{
    str_put(out, "<figcaption>");
    if (p->title) str_put(out, "<b>"), put_xml(out, p->title), str_put(out, "</b> ");
    if (p->subtitle) put_xml(out, p->subtitle);
    for (int i = 0; i < p->nkey; i++) {
        str_printf(out,
                   " <span class=\"key\"><svg width=\"18\" height=\"8\" aria-hidden=\"true\">"
                   "<path d=\"M0 4H18\" stroke-width=\"3\" %s/></svg> ",
                   shade("stroke", p->key[i].colour).s);
        put_xml(out, p->key[i].name);
        str_put(out, "</span>");
    }
    str_put(out, "</figcaption>\n");
}

static void put_name_of(const struct plot *p, const struct plot_panel *q, struct str *out)
{
    if (p->title) str_put(out, p->title);
    if (q->title) str_printf(out, "%s%s", p->title ? ": " : "", q->title);
    if (q->note) str_printf(out, ", %s", q->note);
}

void plot_html(const struct plot *p, struct str *out)
{
    struct frame at = frame_of(p);
    int ncol = p->together ? columns_of(p) : 1, panels = p->together ? 1 : p->npanel;
    int nrow = p->together ? (p->npanel + ncol - 1) / ncol : 1;
    int wide = ncol * (at.room + at.wide + RIGHT), high = nrow * (TOP + at.high + BOTTOM);
    str_put(out, "<figure>\n");
    put_caption(p, out);
    str_printf(out, "<div class=\"panels%s\"%s>\n", p->together ? " scroll" : "",
               p->together ? " tabindex=\"0\" role=\"group\" aria-label=\"figure\"" : "");
    for (int i = 0; i < panels; i++) {
        struct plot one = *p;
        struct str name = {0};
        if (!p->together) one.panel = p->panel + i, one.npanel = 1;
        if (!p->together && one.panel->high) high = TOP + one.panel->high + BOTTOM;
        put_name_of(p, p->together ? &(struct plot_panel){0} : one.panel, &name);
        put_head(out, wide, high, "", name.s ? name.s : "figure");
        put_grid(out, &one, ncol, 0, 0);
        str_put(out, "</svg>\n");
        out->oom |= name.oom;
        str_free(&name);
    }
    str_put(out, "</div>\n");
    if (p->xlabel || p->ylabel) {
        str_put(out, "<p class=\"axes\">");
        if (p->xlabel) str_put(out, "across: "), put_xml(out, p->xlabel);
        if (p->ylabel) str_put(out, p->xlabel ? "; up: " : "up: "), put_xml(out, p->ylabel);
        str_put(out, "</p>\n");
    }
    str_put(out, "</figure>\n");
}
