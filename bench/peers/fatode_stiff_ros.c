/* Gradients of stiff problems by FATODE: Rodas4 and its discrete adjoint, with dense matrices.
 *
 *   fatode_stiff_ros -problem hires -rtol 1e-6 -reps 20 */
#include "stiff.h"

void fatode_gradient(int n, int params, double end, double *y, double *l, double *by_p, double rtol, double atol,
                     int *steps);

static double *values, middle, value;

/* What FATODE calls; matrices are column by column. Between the run and the sweep it calls adjinit. */

void fun_(const int *n, const double *t, const double *y, double *f)
{
  (void)n, (void)t;
  problem_rhs(y, f);
}

void jac_(const int *n, const double *t, const double *y, double *m)
{
  (void)n, (void)t;
  problem_jacobian(y, values);
  dense(values, m);
}

void jacp_(const int *n, const int *params, const double *t, const double *y, double *m)
{
  (void)n, (void)params, (void)t;
  problem_by_params(y, m);
}

void adjinit_(const int *n, const int *params, const int *objectives, const double *t, const double *y, double *l,
              double *by_p)
{
  (void)n, (void)objectives, (void)t;
  middle = now();
  value = objective(y);
  fill(l, q.n, q.weights);
  memset(by_p, 0, sizeof(double) * *params);
}

void hesstr_vec_(const int *n, const double *t, const double *y, const double *u, const double *w, double *out)
{
  (void)n, (void)t;
  problem_second(y, u, w, out);
}

void hesstr_vec_f_py_(const int *n, const int *params, const double *t, const double *y, const double *u,
                      const double *w, double *out)
{
  (void)n, (void)params, (void)t;
  problem_second_params(y, u, w, out);
}

int main(int argc, char **argv)
{
  const struct asked a = problem_from(argc, argv);
  if (points) { fprintf(stderr, "FATODE has dense matrices only\n"); return 2; }
  values = doubles(q.nonzeros);
  double *y = doubles(q.n), *l = doubles(q.n), *grad = doubles(q.params), best = INFINITY, forward = 0;
  int     steps = 0;
  for (int rep = 0; rep < a.reps; rep++) {
    fill(y, q.n, q.start);
    double t0 = now();
    fatode_gradient(q.n, q.params, q.end, y, l, grad, a.rtol, a.atol, &steps);
    double t1 = now();
    if (t1 - t0 < best) best = t1 - t0, forward = middle - t0;
  }
  problem_report(argc, argv, "fatode", steps, forward, best - forward, value, grad, l);
  return 0;
}
