/* picture.c: figures as files: .svg as they are, .png painted by the library. */
#include "picture.h"

#include <string.h>

int ends(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

int picture_check(const char *path, const nami_png_options *png, nami_err *err)
{
    static const char empty[] =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>";
    char *tried = NULL;
    size_t n;
    int rc = nami_file_check(path, err);
    if (!rc && ends(path, ".png")) rc = nami_figure_png(empty, png, &tried, &n, err);
    nami_free(tried);
    return rc;
}

int picture_write(const char *path, const char *svg, const nami_png_options *png, nami_err *err)
{
    char *painted = NULL;
    size_t n = strlen(svg);
    int rc = ends(path, ".png") ? nami_figure_png(svg, png, &painted, &n, err) : 0;
    if (!rc) rc = nami_file_write(path, painted ? painted : svg, n, err);
    nami_free(painted);
    return rc;
}
