/* The Lotka–Volterra gradient by CVODES: Adams methods with fixed-point iteration.
 *
 *   cvodes_glv -n 55 -rtol 1e-7 -reps 2                     a continuous adjoint problem for each objective
 *   cvodes_glv -n 55 -rtol 1e-7 -reps 2 -mode together      one with all objectives
 *   cvodes_glv -n 10 -rtol 1e-7 -reps 2 -mode forward       forward sensitivities, under control
 *
 * Adjoints go along Hermite's interpolation, or with -interpolation polynomial along another. Their quadratures, which
 * are the derivatives by params, are without control. */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include "glv.h"

#define DO(call) \
  do { int failed = (call); if (failed < 0) { fprintf(stderr, "%s: %d\n", #call, failed); exit(1); } } while (0)
#define DATA(v) NV_DATA_S(v)

static int n, objectives; /* of one adjoint problem */
static double *g, *z;

static int rhs(realtype t, N_Vector y, N_Vector f, void *user)
{
  (void)t, (void)user;
  glv_rates(DATA(y), g);
  for (int i = 0; i < n; i++) DATA(f)[i] = DATA(y)[i] * g[i];
  return 0;
}

/* l has a row for each objective */
static int adjoint(realtype t, N_Vector y, N_Vector l, N_Vector f, void *user)
{
  const double *x = DATA(y);
  (void)t, (void)user;
  glv_rates(x, g);
  for (int o = 0; o < objectives; o++) {
    const double *lo = DATA(l) + (size_t)o * n;
    double *zo = z + (size_t)o * n, *fo = DATA(f) + (size_t)o * n;
    for (int i = 0; i < n; i++) zo[i] = -x[i] * lo[i], fo[i] = -g[i] * lo[i]; /* time runs back */
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, objectives, n, n, 1, z, n, glv_a, n, 1, DATA(f), n);
  return 0;
}

static int quadrature(realtype t, N_Vector y, N_Vector l, N_Vector q, void *user)
{
  (void)t, (void)user;
  for (int o = 0; o < objectives; o++) {
    const double *lo = DATA(l) + (size_t)o * n;
    for (int i = 0; i < n; i++) z[i] = -DATA(y)[i] * lo[i];
    glv_pull_params(DATA(y), z, DATA(q) + (size_t)o * (n + n * n));
  }
  return 0;
}

/* Sensitivities by r, by A row by row, and by initial values. */
static int tangents(int count, realtype t, N_Vector y, N_Vector f, N_Vector *s, N_Vector *out, void *user, N_Vector a,
                    N_Vector b)
{
  const double *x = DATA(y);
  (void)t, (void)f, (void)user, (void)a, (void)b;
  glv_rates(x, g);
  for (int k = 0; k < count; k++) {
    double *o = DATA(out[k]), *v = DATA(s[k]);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, glv_a, n, v, 1, 0, o, 1);
    if (k < n) o[k] += 1;
    else if (k < n + n * n) o[(k - n) / n] += x[(k - n) % n];
    for (int i = 0; i < n; i++) o[i] = x[i] * o[i] + g[i] * v[i];
  }
  return 0;
}

int main(int argc, char **argv)
{
  n = atoi(flag(argc, argv, "n", "10"));
  const int reps = atoi(flag(argc, argv, "reps", "2")), wide = n + n * n, all = wide + n;
  const double tol = atof(flag(argc, argv, "rtol", "1e-7"));
  const char *mode = flag(argc, argv, "mode", "adjoint"), *dump = flag(argc, argv, "dump", NULL);
  const int forward = !strcmp(mode, "forward");
  const int kind = strcmp(flag(argc, argv, "interpolation", "hermite"), "hermite") ? CV_POLYNOMIAL : CV_HERMITE;
  objectives = !strcmp(mode, "together") ? n : 1;
  const int problems = n / objectives;
  SUNContext context;
  DO(SUNContext_Create(NULL, &context));
  glv_model(n);
  g = doubles(n), z = doubles((size_t)n * n);
  double *by_p = doubles((size_t)n * wide), *by_y = doubles((size_t)n * n);
  N_Vector y = N_VNew_Serial(n, context), *l = NULL, *grad = NULL, *s = NULL;
  if (forward) {
    s = N_VCloneVectorArray(all, y);
  } else {
    N_Vector some = N_VNew_Serial((sunindextype)objectives * n, context);
    l = N_VCloneVectorArray(problems, some);
    some = N_VNew_Serial((sunindextype)objectives * wide, context);
    grad = N_VCloneVectorArray(problems, some);
  }
  for (int rep = 0; rep < reps; rep++) {
    SUNNonlinearSolver solver = SUNNonlinSol_FixedPoint(y, 0, context), tangent = NULL;
    SUNNonlinearSolver *back = calloc(problems, sizeof *back);
    void *ode = CVodeCreate(CV_ADAMS, context);
    N_VConst(glv_start, y);
    DO(CVodeInit(ode, rhs, 0, y));
    DO(CVodeSStolerances(ode, tol, tol));
    DO(CVodeSetMaxNumSteps(ode, 100000));
    DO(CVodeSetNonlinearSolver(ode, solver));
    DO(CVodeSetStopTime(ode, glv_end));
    realtype t;
    double t0, t1, t2;
    if (forward) {
      double *atol = doubles(all);
      for (int k = 0; k < all; k++) {
        atol[k] = tol;
        N_VConst(0, s[k]);
        if (k >= wide) DATA(s[k])[k - wide] = 1;
      }
      DO(CVodeSensInit(ode, all, CV_SIMULTANEOUS, tangents, s));
      DO(CVodeSensSStolerances(ode, tol, atol));
      DO(CVodeSetSensErrCon(ode, SUNTRUE));
      tangent = SUNNonlinSol_FixedPointSens(all + 1, y, 0, context);
      DO(CVodeSetNonlinearSolverSensSim(ode, tangent));
      t0 = t1 = now();
      DO(CVode(ode, glv_end, y, &t, CV_NORMAL));
      DO(CVodeGetSens(ode, &t, s));
      t2 = now();
      for (int k = 0; k < all; k++)
        for (int o = 0; o < n; o++)
          if (k < wide) by_p[(size_t)o * wide + k] = DATA(s[k])[o];
          else by_y[o * n + k - wide] = DATA(s[k])[o];
      free(atol);
    } else {
      int checkpoints, which;
      DO(CVodeAdjInit(ode, 64, kind));
      t0 = now();
      DO(CVodeF(ode, glv_end, y, &t, CV_NORMAL, &checkpoints));
      t1 = now();
      for (int p = 0; p < problems; p++) {
        N_VConst(0, l[p]);
        N_VConst(0, grad[p]);
        for (int o = 0; o < objectives; o++) DATA(l[p])[o * n + p + o] = 1;
        DO(CVodeCreateB(ode, CV_ADAMS, &which));
        DO(CVodeInitB(ode, which, adjoint, glv_end, l[p]));
        DO(CVodeSStolerancesB(ode, which, tol, tol));
        DO(CVodeSetMaxNumStepsB(ode, which, 100000));
        back[p] = SUNNonlinSol_FixedPoint(l[p], 0, context);
        DO(CVodeSetNonlinearSolverB(ode, which, back[p]));
        DO(CVodeQuadInitB(ode, which, quadrature, grad[p]));
        DO(CVodeSetQuadErrConB(ode, which, SUNFALSE));
      }
      DO(CVodeB(ode, 0, CV_NORMAL));
      for (int p = 0; p < problems; p++) {
        DO(CVodeGetB(ode, p, &t, l[p]));
        DO(CVodeGetQuadB(ode, p, &t, grad[p]));
      }
      t2 = now();
      for (int p = 0; p < problems; p++) {
        memcpy(by_p + (size_t)p * wide, DATA(grad[p]), sizeof(double) * objectives * wide);
        memcpy(by_y + (size_t)p * n, DATA(l[p]), sizeof(double) * objectives * n);
      }
    }
    long steps, fails;
    DO(CVodeGetNumSteps(ode, &steps));
    DO(CVodeGetNumErrTestFails(ode, &fails));
    report("cvodes", steps, fails, t1 - t0, t2 - t1, sqrt(sum_of_squares(by_p, (size_t)n * wide)));
    CVodeFree(&ode);
    SUNNonlinSolFree(solver);
    if (tangent) SUNNonlinSolFree(tangent);
    for (int p = 0; p < problems; p++)
      if (back[p]) SUNNonlinSolFree(back[p]);
    free(back);
  }
  if (dump) {
    FILE *file = dump_to(dump);
    for (int o = 0; o < n; o++) dump_row(file, by_p + (size_t)o * wide, by_y + (size_t)o * n);
    if (fclose(file)) return 1;
  }
  return 0;
}
