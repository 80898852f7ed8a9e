/* method.c: the table of inference methods. */
#include "infer/method.h"

#include <string.h>

#include "net/joint.h"

const struct infer_method *const infer_methods[] = {
#define INFER(id) &infer_##id,
#include "infer/infer.def"
#undef INFER
    NULL};

const struct infer_method *infer_method_find(const char *name)
{
    for (int i = 0; infer_methods[i]; i++)
        if (strcmp(infer_methods[i]->name, name) == 0) return infer_methods[i];
    return NULL;
}

int infer_method_can(const struct infer_method *method, const struct model *m, nami_err *err)
{
    return method->weighted ? joint_of_all(m, "; use the method 'direct'", err) : 0;
}

const struct infer_method *infer_method_default(const struct qnet *q, size_t per)
{
    enum { NUMBERS = 1 << 27, DRAWS = 100000 }; /* those of a data set are adapted in memory */
    if (infer_method_can(&infer_is, q->model, NULL)) return &infer_direct;
    return per <= DRAWS && (size_t)model_num_rows(q->model) < NUMBERS / per ? &infer_auto
                                                                            : &infer_is;
}
