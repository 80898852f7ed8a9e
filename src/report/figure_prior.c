/* figure_prior.c: the data among draws of them from the prior predictive distribution. */
#include "report/figure.h"

static int put(const struct figure_input *in, plot_put *put_plot, struct str *out)
{
    return figure_put_predicted(in, 1, put_plot, out);
}

const struct figure figure_prior = {"prior", "the data among prior predictive draws",
                                    FIGURE_PRIOR_PREDICTED, put};
