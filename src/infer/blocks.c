/* blocks.c: the draws of a query in blocks of bounded memory; large data sets take two passes,
   the first for the importance weights. */
#include "infer/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/exchange.h"
#include "base/vec.h"

static int in_pieces(const struct blocks *f) { return f->q->per > f->block && f->method->streams; }

int blocks_init(struct blocks *f, const struct infer *a, const struct query *q,
                const struct infer_method *method, int predict, int threads, size_t numbers,
                nami_err *err)
{
    size_t rows = ((size_t)model_num_rows(a->q->model) + 2) * (predict ? 2 : 1);
    *f = (struct blocks){.a = a, .q = q, .method = method, .predict = predict, .threads = threads};
    f->block = numbers / rows + 1;
    f->work = q->nset * q->per * (in_pieces(f) && method->weighted ? 2 : 1);
    f->found = new_array(struct diagnostics, q->nset);
    if (in_pieces(f) && method->weighted) f->logw = raw_array(double, q->per);
    if (!f->found || (f->work > q->nset * q->per && !f->logw)) return err_nomem(err);
    for (size_t s = 0; s < q->nset; s++) f->found[s] = DIAGNOSTICS_UNKNOWN;
    return 0;
}

void blocks_fini(struct blocks *f)
{
    answer_free(&f->sent);
    free(f->logw);
    free(f->found);
    *f = (struct blocks){0};
}

/* Large data sets are process 0's alone. */
int blocks_more(const struct blocks *f)
{
    if (in_pieces(f) && exchange_rank(f->with)) return 0;
    return f->next < f->q->nset * f->q->per;
}

/* Data sets of a block: with several processes, few enough that each has some blocks. */
static size_t sets_of_block(const struct blocks *f)
{
    enum { BLOCKS_EACH = 8 };
    size_t left = f->q->nset - f->next / f->q->per, n = f->block / f->q->per;
    size_t share = f->q->nset / (BLOCKS_EACH * (size_t)exchange_size(f->with)) + 1;
    if (f->with && n > share) n = share;
    return n > left ? left : n ? n : 1;
}

/* The process that computes the next block. */
static int blocks_turn(const struct blocks *f)
{
    return in_pieces(f) ? 0 : (int)(f->turn % (size_t)exchange_size(f->with));
}

static int blocks_other(const struct blocks *f) { return blocks_turn(f) != exchange_rank(f->with); }

static int next_sets(struct blocks *f, struct answer *out, nami_err *err)
{
    size_t per = f->q->per, s = f->next / per, n = sets_of_block(f);
    int rc = 0;
    if (!blocks_other(f))
        rc = answer_sets(f->a, f->q, f->method, s, n, f->predict, f->threads, out, err);
    else if (!exchange_rank(f->with))
        rc = answer_receive(f->a, f->with, blocks_turn(f), f->q, f->method, s, n, f->predict, out,
                            err);
    if (rc) return rc;
    if (out->n) memcpy(f->found + s, out->found, n * sizeof *out->found);
    f->next += n * per;
    f->done += n * per;
    f->turn++;
    return 0;
}

void blocks_share(struct blocks *f, const nami_exchange *with) { f->with = with; }

int blocks_sent(struct blocks *f, nami_err *err)
{
    int rc = exchange_wait(f->with) ? exchange_failed(err) : 0;
    answer_free(&f->sent);
    return rc;
}

/* The next block is computed while this one is on its way. */
int blocks_send(struct blocks *f, struct answer *answer, nami_err *err)
{
    int rc = blocks_sent(f, err);
    f->sent = *answer;
    *answer = (struct answer){0};
    return rc ? rc : answer_send(f->a, f->with, &f->sent, err);
}

static size_t piece(const struct blocks *f, size_t first, size_t end)
{
    return end - first < f->block ? end - first : f->block;
}

/* Computes weights of the data set that ends at `end`; its draws are recomputed later. */
static int next_weights(struct blocks *f, size_t end, struct answer *out, nami_err *err)
{
    size_t per = f->q->per, at = f->weighed, n = piece(f, at, end);
    int rc = answer_draws(f->a, f->q, f->method, at, n, 0, f->threads, out, err);
    if (rc) return rc;
    memcpy(f->logw + (at + per - end), out->logw, n * sizeof *f->logw);
    out->n = 0;
    f->weighed += n;
    f->done += n;
    return f->weighed == end ? answer_smooth(f->a, per, f->logw, &f->found[at / per], err) : 0;
}

int blocks_next(struct blocks *f, struct answer *out, nami_err *err)
{
    size_t per = f->q->per, at = f->next, end = (at / per + 1) * per, n = piece(f, at, end);
    *out = (struct answer){0};
    if (!in_pieces(f)) return next_sets(f, out, err);
    if (f->logw && f->weighed < end) return next_weights(f, end, out, err);
    int rc = answer_draws(f->a, f->q, f->method, at, n, f->predict, f->threads, out, err);
    if (rc) return rc;
    if (f->logw) memcpy(out->logw, f->logw + (at + per - end), n * sizeof *f->logw);
    f->next += n;
    f->done += n;
    return 0;
}
