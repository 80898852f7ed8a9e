/* white.c: whitening layers: initial weights from the inverse square root of the prior covariance
   of the inputs. */
#include "net/white.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "net/messages.h"

enum { SWEEPS = 30 };
static const double LEAST = 1e-6; /* of the mean variance: smaller ones are rounding errors */

/* ---- the inverse square root of a symmetric matrix ---------------------------------- */

/* One rotation of Jacobi's method: a[p][q] becomes 0; v collects the rotations, as rows. */
static void rotate(int n, double *a, double *v, int p, int q)
{
    double *ap = a + (size_t)p * (size_t)n, *aq = a + (size_t)q * (size_t)n;
    double *vp = v + (size_t)p * (size_t)n, *vq = v + (size_t)q * (size_t)n;
    double theta = (aq[q] - ap[p]) / (2 * ap[q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        double x = ap[k], y = aq[k];
        ap[k] = c * x - s * y;
        aq[k] = s * x + c * y;
        x = vp[k], y = vq[k];
        vp[k] = c * x - s * y;
        vq[k] = s * x + c * y;
    }
    for (size_t k = 0; k < (size_t)n * (size_t)n; k += (size_t)n) {
        double x = a[k + (size_t)p], y = a[k + (size_t)q];
        a[k + (size_t)p] = c * x - s * y;
        a[k + (size_t)q] = s * x + c * y;
    }
}

/* a (n, n) is used up, v (n, n) is work; root (n, n) = a^(-1/2). */
static void inverse_root(int n, double *a, double *v, double *root)
{
    size_t N = (size_t)n;
    double trace = 0;
    for (size_t i = 0; i < N; i++) trace += a[i * N + i];
    memset(v, 0, sizeof *v * N * N);
    memset(root, 0, sizeof *root * N * N);
    for (size_t i = 0; i < N; i++) v[i * N + i] = 1;
    for (int sweep = 0, more = 1; sweep < SWEEPS && more; sweep++) {
        more = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                double x = a[(size_t)p * N + (size_t)q];
                if (fabs(x) <= 1e-3 * LEAST * trace / n) continue;
                rotate(n, a, v, p, q);
                more = 1;
            }
    }
    for (size_t k = 0; k < N; k++) {
        double least = LEAST * trace / n, d = a[k * N + k];
        d = 1 / sqrt(d > least ? d : least);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) root[i * N + j] += d * v[k * N + i] * v[k * N + j];
    }
}

/* ---- moments of features under the prior -------------------------------------------- */

/* value[unit * ndraw + i] of all features: NULL if there is no memory */
static float *features(const struct qnet *q)
{
    size_t n = q->ndraw;
    float *value = new_array(float, (size_t)q->nfeature *n + 1);
    int most = 1;
    for (int v = 0; v < bn_n(model_bn(q->model)); v++)
        most = q->encoding[v].num_elements + q->encoding[v].ncoord + q->encoding[v].nfeature > most
                   ? q->encoding[v].num_elements + q->encoding[v].ncoord + q->encoding[v].nfeature
                   : most;
    double *work = raw_array(double, most);
    for (int v = 0; v < bn_n(model_bn(q->model)) && value && work; v++) {
        const struct encoding *c = &q->encoding[v];
        for (size_t i = 0; i < n && c->feature >= 0; i++) {
            double *x = work, *out = work + c->num_elements;
            for (int j = 0; j < c->num_elements; j++) x[j] = q->draw[(size_t)c->row[j] * n + i];
            encoding_features(c, x, out);
            for (int k = 0; k < c->nfeature; k++)
                value[(size_t)(c->feature + k) * n + i] = (float)out[k];
        }
    }
    if (!work) {
        free(value);
        value = NULL;
    }
    free(work);
    return value;
}

/* Values of the inputs of an instance, to[j * ndraw + i]: features, or made of them (messages.h). */
static void instance(const struct qnet *q, int in, const int *unit, const float *value, float *to)
{
    size_t n = q->ndraw;
    for (int j = 0; j < in; j++, to += n) {
        int from = unit[j];
        double by = 1, add = 0;
        if (q->messages) messages_input(q->messages, q, unit[j], &from, &by, &add);
        for (size_t i = 0; i < n; i++)
            to[i] = from < 0 ? (float)add : (float)(by * value[(size_t)from * n + i]);
    }
}

/* mean[in] and covariance cov (in, in) of the inputs, over draws and instances.  x: (in, ndraw) */
static void covariance(const struct qnet *q, int n, int in, const int *from, const float *value,
                       double *mean, double *cov, float *x)
{
    size_t N = q->ndraw;
    double scale = 1 / ((double)N * n);
    memset(mean, 0, sizeof *mean * (size_t)in);
    memset(cov, 0, sizeof *cov * (size_t)in * (size_t)in);
    for (int i = 0; i < n; i++) {
        instance(q, in, from + (size_t)i * (size_t)in, value, x);
        for (int j = 0; j < in; j++)
            for (size_t b = 0; b < N; b++) mean[j] += x[(size_t)j * N + b] * scale;
    }
    for (int i = 0; i < n; i++) {
        instance(q, in, from + (size_t)i * (size_t)in, value, x);
        for (int j = 0; j < in; j++)
            for (int k = 0; k <= j; k++) {
                const float *a = x + (size_t)j * N, *c = x + (size_t)k * N;
                double sum = 0;
                for (size_t b = 0; b < N; b++) sum += (a[b] - mean[j]) * (c[b] - mean[k]);
                cov[j * in + k] += sum * scale;
                cov[k * in + j] = cov[j * in + k];
            }
    }
}

/* w: weights (in, in), then biases (in) */
static int white_weights(const struct qnet *q, int n, int in, const int *from, float *w)
{
    size_t N = (size_t)in;
    float *value = features(q);
    float *x = raw_array(float, N *q->ndraw + 1);
    double *room = raw_array(double, 3 * N * N + N);
    int rc = value && x && room ? 0 : NAMI_ENOMEM;
    if (!rc) {
        double *cov = room, *v = cov + N * N, *root = v + N * N, *mean = root + N * N;
        covariance(q, n, in, from, value, mean, cov, x);
        inverse_root(in, cov, v, root);
        for (size_t i = 0; i < N; i++) {
            double bias = 0;
            for (size_t j = 0; j < N; j++) {
                w[i * N + j] = (float)root[i * N + j];
                bias -= root[i * N + j] * mean[j];
            }
            w[N * N + i] = (float)bias;
        }
    }
    free(value);
    free(x);
    free(room);
    return rc;
}

int net_white(struct qnet *q, int n, int in, const int *from, const char *name)
{
    struct str text = {0};
    float *w = NULL;
    int unit = -1;
    str_printf(&text, "%s/white", name);
    if (q->ndraw) { /* else the weights come from a file */
        w = arena_array(&q->mem, float, ((size_t)in + 1) * (size_t)in);
        if (!w || white_weights(q, n, in, from, w)) text.oom = 1;
    }
    if (!text.oom) unit = net_layer(q, n, in, 0, from, in, ACT_LINEAR, text.s);
    if (unit >= 0) q->block.a[q->block.n - 1].start = w;
    str_free(&text);
    return unit;
}
