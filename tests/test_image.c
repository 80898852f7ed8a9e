/* test_image.c: PNG files are what the standard says, chunk by chunk, and show what they should;
   IMAGE_FILE=/tmp/x.png leaves one there, for others to read. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "malloc_fail.h"
#include "report/image.h"
#include "run.h"

static nami_err err;

static uint32_t u32(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* The next chunk; its name must be this. */
static const char *chunk(const struct str *s, size_t *at, const char *name, size_t *n)
{
    assert_true(*at + 12 <= s->n);
    *n = u32(s->s + *at);
    assert_true(*at + 12 + *n <= s->n);
    assert_memory_equal(s->s + *at + 4, name, 4);
    const char *data = s->s + *at + 8;
    assert_int_equal(u32(data + *n), crc32(0, (const Bytef *)data - 4, (uInt)(*n + 4)));
    *at += 12 + *n;
    return data;
}

/* Its pixels. */
static unsigned char *decode(const struct str *s, size_t width, size_t height)
{
    size_t at = 8, n;
    uLongf size = (uLongf)(height * (width + 1));
    Bytef *line = malloc(size);
    unsigned char *px = malloc(width * height);
    assert_true(line && px && s->n > 8);
    assert_memory_equal(s->s, "\x89PNG\r\n\x1a\n", 8);
    const char *head = chunk(s, &at, "IHDR", &n);
    assert_int_equal(n, 13);
    assert_int_equal(u32(head), width);
    assert_int_equal(u32(head + 4), height);
    assert_memory_equal(head + 8, "\10\0\0\0\0", 5);
    const char *data = chunk(s, &at, "IDAT", &n);
    assert_int_equal(uncompress(line, &size, (const Bytef *)data, (uLong)n), Z_OK);
    assert_int_equal(size, height * (width + 1));
    chunk(s, &at, "IEND", &n);
    assert_true(n == 0 && at == s->n);
    for (size_t y = 0; y < height; y++) {
        assert_int_equal(line[y * (width + 1)], 0);
        memcpy(px + y * width, line + y * (width + 1) + 1, width);
    }
    free(line);
    return px;
}

enum { N = 5, H = 2, W = 3 };

static void pixels(float x[N * H * W])
{
    for (int i = 0; i < N * H * W; i++) x[i] = (float)i / (N * H * W - 1);
}

static void check(const struct image_grid *g, int ncol, int nline)
{
    struct str s = {0};
    int zoom = g->zoom ? g->zoom : 1, w = W * zoom + 2 * g->margin, h = H * zoom + 2 * g->margin;
    if (image_png(g, &s, &err)) fail_msg("%s", err.msg);
    unsigned char *px = decode(&s, (size_t)(ncol * w), (size_t)(nline * h));
    for (int y = 0; y < nline * h; y++)
        for (int x = 0; x < ncol * w; x++) {
            int i = y / h * ncol + x / w, r = y % h - g->margin, c = x % w - g->margin, want = 255;
            if (i < N && r >= 0 && r < H * zoom && c >= 0 && c < W * zoom)
                want = (int)lround(g->x[(i * H + r / zoom) * W + c / zoom] * 255.0);
            if (px[y * ncol * w + x] != want)
                fail_msg("(%d, %d): %d, not %d", x, y, px[y * ncol * w + x], want);
        }
    free(px);
    str_free(&s);
}

static void grids(void **state)
{
    (void)state;
    float x[N * H * W];
    pixels(x);
    struct image_grid g = {.n = N, .height = H, .width = W, .x = x};
    check(&g, 3, 2);
    g.ncol = 2, g.margin = 1;
    check(&g, 2, 3);
    g.ncol = 9, g.zoom = 3, g.margin = 2;
    check(&g, 5, 1);
    g.ncol = 1;
    check(&g, 1, 5);
}

static void odd_numbers(void **state)
{
    (void)state;
    const float x[6] = {-1, 2, NAN, INFINITY, -INFINITY, 0.5f};
    static const unsigned char want[6] = {0, 255, 127, 255, 0, 128};
    struct image_grid g = {.n = 1, .height = 2, .width = 3, .x = x};
    struct str s = {0};
    if (image_png(&g, &s, &err)) fail_msg("%s", err.msg);
    unsigned char *px = decode(&s, 3, 2);
    assert_memory_equal(px, want, 6);
    free(px);
    s.n = 0;
    for (int k = 0; k < 5; k++) {
        struct image_grid b = g;
        if (k == 0) b.n = 0;
        if (k == 1) b.height = 0;
        if (k == 2) b.width = -1;
        if (k == 3) b.margin = -1;
        if (k == 4) b.zoom = 1 << 30;
        int rc = image_png(&b, &s, &err);
        assert_int_equal(rc, k < 4 ? NAMI_EINPUT : NAMI_ELIMIT);
        assert_true(s.n == 0 && err.msg[0]);
    }
    str_free(&s);
}

static int save(void *g)
{
    struct str s = {0};
    int rc = image_png(g, &s, NULL);
    str_free(&s);
    return rc;
}

static void files(void **state)
{
    (void)state;
    float x[N * H * W];
    char path[] = "/tmp/nami_image_XXXXXX";
    const char *why, *keep = getenv("IMAGE_FILE");
    struct str a = {0}, b = {0};
    pixels(x);
    struct image_grid g = {.n = N, .height = H, .width = W, .x = x, .margin = 1};
    if (nomem_each(save, &g, &why) < 4) fail_msg("%s", why ? why : "nothing can fail");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    if (image_save(&g, path, &err) || image_png(&g, &a, &err)) fail_msg("%s", err.msg);
    assert_int_equal(file_read(path, &b, &err), 0);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.s, b.s, a.n);
    unlink(path);
    if (keep) assert_int_equal(image_save(&g, keep, &err), 0);
    assert_int_equal(image_save(&g, "/none/x.png", &err), NAMI_EFILE);
    str_free(&a), str_free(&b);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(grids),
    cmocka_unit_test(odd_numbers),
    cmocka_unit_test(files),
};
RUN(tests)
