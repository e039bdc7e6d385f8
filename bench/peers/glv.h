/* x' = x (r + A x), n species, from 0 to 10: the model of bench/models.go and its derivatives. The params are r and
 * then A, row by row. The n end values are differentiated by all of them and by the n initial values. */
#ifndef GLV_H
#define GLV_H
#include <cblas.h>
#include "peer.h"

static const double glv_end = 10, glv_start = 0.1;

static int glv_n;
static double *glv_r, *glv_a;

static inline void glv_model(int n)
{
  uint64_t s = 1;
  glv_n = n;
  glv_r = doubles(n + (size_t)n * n);
  glv_a = glv_r + n;
  for (int i = 0; i < n; i++) {
    glv_r[i] = 0.1;
    for (int j = 0; j < n; j++) {
      double g = 2 * draw(&s) - 1;
      glv_a[(size_t)i * n + j] = i == j ? -1 : 0.05 * g / sqrt(n);
    }
  }
}

/* g = r + A x, the growth rates */
static inline void glv_rates(const double *x, double *g)
{
  memcpy(g, glv_r, sizeof(double) * glv_n);
  cblas_dgemv(CblasRowMajor, CblasNoTrans, glv_n, glv_n, 1, glv_a, glv_n, x, 1, 1, g, 1);
}

/* out = f_y^T l = g l + A^T (x l); z takes x l */
static inline void glv_pull(const double *x, const double *g, const double *l, double *z, double *out)
{
  for (int i = 0; i < glv_n; i++) z[i] = x[i] * l[i], out[i] = g[i] * l[i];
  cblas_dgemv(CblasRowMajor, CblasTrans, glv_n, glv_n, 1, glv_a, glv_n, z, 1, 1, out, 1);
}

/* out = f_p^T l, from z = x l */
static inline void glv_pull_params(const double *restrict x, const double *restrict z, double *restrict out)
{
  memcpy(out, z, sizeof(double) * glv_n);
  for (int i = 0; i < glv_n; i++) {
    double *row = out + (size_t)glv_n * (i + 1);
    for (int j = 0; j < glv_n; j++) row[j] = z[i] * x[j];
  }
}

/* The gradient of an objective from stages that were kept: grad = the sum over them of f_p^T l, from z = x l. */
static inline void glv_deferred(int stages, const double *z, const double *x, double *grad)
{
  memset(grad, 0, sizeof(double) * glv_n);
  for (int k = 0; k < stages; k++) cblas_daxpy(glv_n, 1, z + (size_t)k * glv_n, 1, grad, 1);
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, glv_n, glv_n, stages, 1, z, glv_n, x, glv_n, 0, grad + glv_n,
              glv_n);
}

/* A row for each objective: derivatives by params, then by initial values. */
static inline FILE *dump_to(const char *path)
{
  FILE *file = fopen(path, "wb");
  if (!file) { perror(path); exit(1); }
  return file;
}
static inline void dump_row(FILE *file, const double *by_p, const double *by_y)
{
  fwrite(by_p, sizeof(double), glv_n + (size_t)glv_n * glv_n, file);
  fwrite(by_y, sizeof(double), glv_n, file);
}

static inline double sum_of_squares(const double *x, size_t n)
{
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * x[i];
  return s;
}
#endif
