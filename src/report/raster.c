/* raster.c: paints an SVG as PNG, by librsvg and cairo,
   https://gnome.pages.gitlab.gnome.org/librsvg. Few pictures are PNG, and librsvg brings many other
   libraries: it is loaded by the child process that needs it.  An SVG without an address of its own
   cannot make librsvg open files. */
#include "report/raster.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/child.h"
#include "base/err.h"

#ifdef __APPLE__
#define LIBRARY "librsvg-2.2.dylib"
#else
#define LIBRARY "librsvg-2.so.2"
#endif

enum { MOST_SIDE = 32000 }; /* of a bitmap of cairo */
static const double MOST_PIXELS = 1e8;

/* What is used of the interfaces of librsvg 2.52, GLib and cairo. */
struct rectangle {
    double x, y, width, height;
};
struct failure {
    uint32_t domain;
    int code;
    char *message;
};
typedef int write_function(void *closure, const unsigned char *data, unsigned n);
struct painter {
    void *(*parse)(const void *data, size_t n, struct failure **);
    int (*size)(void *svg, double *width, double *height);
    int (*style)(void *svg, const void *css, size_t n, struct failure **);
    int (*paint)(void *svg, void *cairo, const struct rectangle *, struct failure **);
    void *(*surface)(int format, int width, int height);
    void *(*cairo)(void *surface);
    int (*write)(void *surface, write_function *, void *closure);
};

static int load(struct painter *p, nami_err *err)
{
    const struct {
        const char *name;
        void *to;
    } need[] = {{"rsvg_handle_new_from_data", &p->parse},
                {"rsvg_handle_get_intrinsic_size_in_pixels", &p->size},
                {"rsvg_handle_set_stylesheet", &p->style},
                {"rsvg_handle_render_document", &p->paint},
                {"cairo_image_surface_create", &p->surface},
                {"cairo_create", &p->cairo},
                {"cairo_surface_write_to_png_stream", &p->write}};
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* until the process ends */
    for (size_t i = 0; i < sizeof need / sizeof *need && library; i++) {
        void *found = dlsym(library, need[i].name); /* of cairo, too, which it depends on */
        if (found)
            memcpy(need[i].to, &found, sizeof found);
        else
            library = NULL;
    }
    if (library) return 0;
    const char *why = dlerror();
    return err_set(err, NAMI_EFILE,
                   "PNG figures need librsvg 2.52 (Debian: librsvg2-2), which cannot be loaded; "
                   "install it, or write SVG (%s)",
                   why ? why : LIBRARY);
}

/* ---- the child ---------------------------------------------------------------------------- */

struct picture {
    const char *svg, *css;
    double zoom;
};

static int put(void *out, const unsigned char *data, unsigned n)
{
    str_putn(out, (const char *)data, n);
    return 0;
}

static int refuse(int code, const char *what, const struct failure *f, nami_err *err)
{
    return err_set(err, code, "%s%s%s", what, f ? ": " : "", f ? f->message : "");
}

/* What is made here is freed by the end of the process. */
static int paint(const void *picture, struct str *out, nami_err *err)
{
    const struct picture *x = picture;
    struct painter p;
    struct failure *why = NULL;
    double wide, high;
    int rc = load(&p, err);
    if (rc) return rc;
    void *svg = p.parse(x->svg, strlen(x->svg), &why);
    if (!svg) return refuse(NAMI_EINPUT, "this is not an SVG", why, err);
    if (x->css && !p.style(svg, x->css, strlen(x->css), &why))
        return refuse(NAMI_ELIMIT, "librsvg refuses the colors", why, err);
    if (!p.size(svg, &wide, &high) || !(wide >= 1) || !(high >= 1))
        return refuse(NAMI_EINPUT, "the SVG does not say how large it is", NULL, err);
    double zoom =
        fmin(x->zoom, fmin(MOST_SIDE / fmax(wide, high), sqrt(MOST_PIXELS / wide / high)));
    struct rectangle all = {0, 0, fmax(1, floor(wide * zoom)), fmax(1, floor(high * zoom))};
    void *surface = p.surface(0, (int)all.width, (int)all.height); /* red, green, blue, opacity */
    if (!p.paint(svg, p.cairo(surface), &all, &why))
        return refuse(NAMI_ELIMIT, "librsvg cannot paint the picture", why, err);
    if (p.write(surface, put, out) || out->oom) return err_nomem(err);
    return 0;
}

int raster_png(const char *svg, const char *css, double zoom, struct str *out, nami_err *err)
{
    unsigned seconds = 30 + (unsigned)(strlen(svg) / 100000); /* more than any picture needs */
    return child_run(paint, &(struct picture){svg, css, zoom}, seconds, "librsvg", out, err);
}
