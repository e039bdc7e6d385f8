/* The Lotka–Volterra gradient by a program that knows the model. All objectives are swept together, so products of the
 * matrix with cotangents are products of matrices. The gradient by A is deferred: stages are kept and added up by one
 * product for each objective. With -fixed n it takes n steps of the classical method of order 4, as a reference.
 *
 *   glv_limit -n 55 -rtol 1e-7 -reps 20        glv_limit -n 55 -fixed 1000 -dump reference.bin */
#include "glv.h"

enum { most_stages = 6 };
struct tableau {
  int    stages;
  double a[most_stages][most_stages], b[most_stages], error[most_stages + 1]; /* error: of stages and of f at the end */
};
static const struct tableau dormand_prince = {
  6,
  {{0},
   {1. / 5},
   {3. / 40, 9. / 40},
   {44. / 45, -56. / 15, 32. / 9},
   {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
   {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656}},
  {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
  {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}};
static const struct tableau classical = {4, {{0}, {0.5}, {0, 0.5}, {0, 0, 1}}, {1. / 6, 1. / 3, 1. / 3, 1. / 6}, {0}};

/* A step that was accepted: its length, and of every stage the state and the growth rates. */
static double *lengths, *states, *rates;
static int room;

static void keep(int steps, int per)
{
  if (steps < room) return;
  room = room ? 2 * room : 64;
  lengths = realloc(lengths, sizeof(double) * room);
  states = realloc(states, sizeof(double) * room * per);
  rates = realloc(rates, sizeof(double) * room * per);
  if (!lengths || !states || !rates) exit(1);
}

static int rejected;

static int forward(const struct tableau *m, double tol, int fixed, double *x)
{
  const int n = glv_n, per = m->stages * n;
  double *f = doubles((size_t)n * (m->stages + 1)), *end = doubles(n), *g = doubles(n);
  double t = 0, h = fixed ? glv_end / fixed : 1e-3;
  int steps = 0;
  rejected = 0;
  for (int i = 0; i < n; i++) x[i] = glv_start;
  while (fixed ? steps < fixed : t < glv_end) {
    if (!fixed && t + h > glv_end) h = glv_end - t;
    keep(steps, per);
    double *xs = states + (size_t)steps * per, *gs = rates + (size_t)steps * per;
    for (int s = 0; s < m->stages; s++) {
      double *y = xs + s * n;
      memcpy(y, x, sizeof(double) * n);
      for (int j = 0; j < s; j++)
        if (m->a[s][j] != 0) cblas_daxpy(n, h * m->a[s][j], f + j * n, 1, y, 1);
      glv_rates(y, gs + s * n);
      for (int i = 0; i < n; i++) f[s * n + i] = y[i] * gs[s * n + i];
    }
    memcpy(end, x, sizeof(double) * n);
    for (int s = 0; s < m->stages; s++) cblas_daxpy(n, h * m->b[s], f + s * n, 1, end, 1);
    double longer = 1;
    if (!fixed) {
      glv_rates(end, g);
      double sum = 0;
      for (int i = 0; i < n; i++) {
        double e = m->error[m->stages] * end[i] * g[i];
        for (int s = 0; s < m->stages; s++) e += m->error[s] * f[s * n + i];
        e *= h / (tol + tol * fmax(fabs(x[i]), fabs(end[i])));
        sum += e * e;
      }
      double error = sqrt(sum / n);
      longer = fmin(5, fmax(0.2, 0.9 * pow(error, -0.2)));
      if (error > 1) { rejected++; h *= fmin(1, longer); continue; }
    }
    lengths[steps++] = h;
    t += h;
    memcpy(x, end, sizeof(double) * n);
    if (!fixed) h *= longer;
  }
  free(f), free(end), free(g);
  return steps;
}

/* The sweep. l has a column for each objective, side by side; grad has n rows of n + n² derivatives. */
static void backward(const struct tableau *m, int steps, double *l, double *grad)
{
  const int n = glv_n, all = m->stages * steps;
  const size_t square = (size_t)n * n, wide = n + square;
  double *u = doubles(square), *z = doubles(square), *pulled = doubles(square * m->stages);
  /* Z[objective][stage][i] = x u, in a block for each objective; its products with the states wait */
  double *zs = doubles(square * all);
  for (int k = steps - 1; k >= 0; k--) {
    const double h = lengths[k];
    for (int s = m->stages - 1; s >= 0; s--) {
      const int at = k * m->stages + s;
      const double *x = states + (size_t)at * n, *g = rates + (size_t)at * n;
      for (size_t i = 0; i < square; i++) u[i] = h * m->b[s] * l[i];
      for (int j = s + 1; j < m->stages; j++)
        if (m->a[j][s] != 0) cblas_daxpy(square, h * m->a[j][s], pulled + j * square, 1, u, 1);
      for (int i = 0; i < n; i++)
        for (int o = 0; o < n; o++) z[i * n + o] = x[i] * u[i * n + o];
      double *out = pulled + s * square;
      for (int i = 0; i < n; i++)
        for (int o = 0; o < n; o++) out[i * n + o] = g[i] * u[i * n + o];
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n, 1, glv_a, n, z, n, 1, out, n);
      for (int o = 0; o < n; o++)
        for (int i = 0; i < n; i++) zs[((size_t)o * all + at) * n + i] = z[i * n + o];
    }
    for (int s = 0; s < m->stages; s++) cblas_daxpy(square, 1, pulled + s * square, 1, l, 1);
  }
  for (int o = 0; o < n; o++) glv_deferred(all, zs + (size_t)o * all * n, states, grad + o * wide);
  free(u), free(z), free(pulled), free(zs);
}

int main(int argc, char **argv)
{
  const int n = atoi(flag(argc, argv, "n", "10")), reps = atoi(flag(argc, argv, "reps", "1"));
  const int fixed = atoi(flag(argc, argv, "fixed", "0"));
  const double tol = atof(flag(argc, argv, "rtol", "1e-7"));
  const char *dump = flag(argc, argv, "dump", NULL);
  const struct tableau *m = fixed ? &classical : &dormand_prince;
  const size_t wide = n + (size_t)n * n;
  glv_model(n);
  double *x = doubles(n), *l = doubles((size_t)n * n), *grad = doubles(n * wide);
  for (int rep = 0; rep < reps; rep++) {
    double t0 = now();
    int steps = forward(m, tol, fixed, x);
    double t1 = now();
    memset(l, 0, sizeof(double) * n * n);
    for (int i = 0; i < n; i++) l[i * n + i] = 1;
    backward(m, steps, l, grad);
    double t2 = now();
    report(fixed ? "reference" : "limit", steps, rejected, t1 - t0, t2 - t1, sqrt(sum_of_squares(grad, n * wide)));
  }
  if (dump) {
    FILE *file = dump_to(dump);
    for (int o = 0; o < n; o++) {
      for (int i = 0; i < n; i++) x[i] = l[i * n + o];
      dump_row(file, grad + o * wide, x);
    }
    if (fclose(file)) return 1;
  }
  return 0;
}
