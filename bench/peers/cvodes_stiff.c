/* Gradients of stiff problems by CVODES: BDF, and one continuous adjoint problem along Hermite's interpolation, with
 * the derivatives by params as quadratures under control. -ls is dense, band or klu.
 *
 *   cvodes_stiff -problem hires -rtol 1e-6 -reps 20 */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include "stiff.h"

#define DO(call) \
  do { int failed = (call); if (failed < 0) { fprintf(stderr, "%s: %d\n", #call, failed); exit(1); } } while (0)
#define DATA(v) NV_DATA_S(v)

static double *values;
static int    *turned, *turned_at, *turned_row; /* the pattern of the transpose, and where its values come from */

static void turn(void)
{
  turned = malloc(sizeof(int) * q.nonzeros), turned_row = malloc(sizeof(int) * q.nonzeros);
  turned_at = calloc(q.n + 2, sizeof(int));
  for (int i = 0; i < q.nonzeros; i++) turned_at[q.row[i] + 2]++;
  for (int i = 0; i < q.n; i++) turned_at[i + 2] += turned_at[i + 1];
  for (int j = 0; j < q.n; j++)
    for (int i = q.column[j]; i < q.column[j + 1]; i++) {
      int to = turned_at[q.row[i] + 1]++;
      turned[to] = i, turned_row[to] = j;
    }
}

static int rhs(realtype t, N_Vector y, N_Vector f, void *user)
{
  (void)t, (void)user;
  problem_rhs(DATA(y), DATA(f));
  return 0;
}

static int adjoint(realtype t, N_Vector y, N_Vector l, N_Vector f, void *user)
{
  (void)t, (void)user;
  problem_pull(DATA(y), DATA(l), DATA(f));
  N_VScale(-1, f, f);
  return 0;
}

static int quadrature(realtype t, N_Vector y, N_Vector l, N_Vector f, void *user)
{
  (void)t, (void)user;
  problem_pull_params(DATA(y), DATA(l), DATA(f));
  /* time runs back; p dJ/dp, because params differ by orders of magnitude and have one tolerance */
  for (int i = 0; i < q.params; i++) DATA(f)[i] *= -q.p[i];
  return 0;
}

/* m = f_y, or -f_y^T */
static int matrix(const double *y, int transposed, SUNMatrix m)
{
  const double s = transposed ? -1 : 1;
  problem_jacobian(y, values);
  SUNMatZero(m);
  if (SUNMatGetID(m) == SUNMATRIX_SPARSE) {
    sunindextype *at = SM_INDEXPTRS_S(m), *row = SM_INDEXVALS_S(m);
    double       *v = SM_DATA_S(m);
    for (int j = 0; j <= q.n; j++) at[j] = transposed ? turned_at[j] : q.column[j];
    for (int i = 0; i < q.nonzeros; i++) {
      row[i] = transposed ? turned_row[i] : q.row[i];
      v[i] = s * values[transposed ? turned[i] : i];
    }
    return 0;
  }
  const int band = SUNMatGetID(m) == SUNMATRIX_BAND;
  for (int j = 0; j < q.n; j++)
    for (int i = q.column[j]; i < q.column[j + 1]; i++) {
      int row = transposed ? j : q.row[i], column = transposed ? q.row[i] : j;
      if (band) SM_ELEMENT_B(m, row, column) = s * values[i];
      else SM_ELEMENT_D(m, row, column) = s * values[i];
    }
  return 0;
}

static int jacobian(realtype t, N_Vector y, N_Vector f, SUNMatrix m, void *user, N_Vector a, N_Vector b, N_Vector c)
{
  (void)t, (void)f, (void)user, (void)a, (void)b, (void)c;
  return matrix(DATA(y), 0, m);
}

static int adjoint_jacobian(realtype t, N_Vector y, N_Vector l, N_Vector f, SUNMatrix m, void *user, N_Vector a,
                            N_Vector b, N_Vector c)
{
  (void)t, (void)l, (void)f, (void)user, (void)a, (void)b, (void)c;
  return matrix(DATA(y), 1, m);
}

static void linear(const char *kind, N_Vector y, SUNContext context, SUNMatrix *m, SUNLinearSolver *s)
{
  if (!strcmp(kind, "band")) {
    *m = SUNBandMatrix(q.n, q.above, q.below, context);
    *s = SUNLinSol_Band(y, *m, context);
  } else if (!strcmp(kind, "klu")) {
    *m = SUNSparseMatrix(q.n, q.n, q.nonzeros, CSC_MAT, context);
    *s = SUNLinSol_KLU(y, *m, context);
  } else {
    *m = SUNDenseMatrix(q.n, q.n, context);
    *s = SUNLinSol_Dense(y, *m, context);
  }
}

int main(int argc, char **argv)
{
  const struct asked a = problem_from(argc, argv);
  const char *kind = flag(argc, argv, "ls", "dense");
  SUNContext context;
  DO(SUNContext_Create(NULL, &context));
  values = doubles(q.nonzeros);
  turn();
  double best = INFINITY, forward = 0, value = 0;
  long   steps = 0;
  N_Vector y = N_VNew_Serial(q.n, context), l = N_VNew_Serial(q.n, context), grad = N_VNew_Serial(q.params, context);
  for (int rep = 0; rep < a.reps; rep++) {
    SUNMatrix m, mb;
    SUNLinearSolver s, sb;
    realtype t;
    int checkpoints, which;
    linear(kind, y, context, &m, &s);
    linear(kind, l, context, &mb, &sb);
    fill(DATA(y), q.n, q.start);
    void *ode = CVodeCreate(CV_BDF, context);
    DO(CVodeInit(ode, rhs, 0, y));
    DO(CVodeSStolerances(ode, a.rtol, a.atol));
    DO(CVodeSetMaxNumSteps(ode, 10000000));
    DO(CVodeSetMaxErrTestFails(ode, 50)); /* the Oregonator needs more than the default of 7 */
    DO(CVodeSetMaxConvFails(ode, 50));
    DO(CVodeSetLinearSolver(ode, s, m));
    DO(CVodeSetJacFn(ode, jacobian));
    DO(CVodeSetStopTime(ode, q.end));
    DO(CVodeAdjInit(ode, 250, CV_HERMITE));
    double t0 = now();
    DO(CVodeF(ode, q.end, y, &t, CV_NORMAL, &checkpoints));
    double t1 = now();
    value = objective(DATA(y));
    DO(CVodeGetNumSteps(ode, &steps));
    fill(DATA(l), q.n, q.weights);
    const double atol = 1e-3 * a.rtol * N_VMaxNorm(l); /* cotangents have a scale of their own */
    N_VConst(0, grad);
    double t2 = now();
    DO(CVodeCreateB(ode, CV_BDF, &which));
    DO(CVodeInitB(ode, which, adjoint, q.end, l));
    DO(CVodeSStolerancesB(ode, which, a.rtol, atol));
    DO(CVodeSetMaxNumStepsB(ode, which, 10000000));
    DO(CVodeSetLinearSolverB(ode, which, sb, mb));
    DO(CVodeSetJacFnB(ode, which, adjoint_jacobian));
    DO(CVodeQuadInitB(ode, which, quadrature, grad));
    DO(CVodeSetQuadErrConB(ode, which, SUNTRUE));
    DO(CVodeQuadSStolerancesB(ode, which, a.rtol, atol));
    DO(CVodeB(ode, 0, CV_NORMAL));
    DO(CVodeGetB(ode, which, &t, l));
    DO(CVodeGetQuadB(ode, which, &t, grad));
    for (int i = 0; i < q.params; i++) DATA(grad)[i] /= q.p[i];
    double t3 = now();
    if (t1 - t0 + t3 - t2 < best) best = t1 - t0 + t3 - t2, forward = t1 - t0;
    CVodeFree(&ode);
    SUNLinSolFree(s), SUNLinSolFree(sb);
    SUNMatDestroy(m), SUNMatDestroy(mb);
  }
  problem_report(argc, argv, "cvodes", steps, forward, best - forward, value, DATA(grad), DATA(l));
  return 0;
}
