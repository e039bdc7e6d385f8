/* Van der Pol's oscillator by CVODES: BDF with dense matrices, and two continuous adjoint problems along Hermite's
 * interpolation.
 *
 *   cvodes_vdp -rtol 1e-6 -reps 5 */
#include <cvodes/cvodes.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include "vdp.h"

#define DO(call) \
  do { int failed = (call); if (failed < 0) { fprintf(stderr, "%s: %d\n", #call, failed); exit(1); } } while (0)
#define DATA(v) NV_DATA_S(v)

static int rhs(realtype t, N_Vector y, N_Vector f, void *user)
{
  (void)t, (void)user;
  vdp_rhs(DATA(y), DATA(f));
  return 0;
}

static int jacobian(realtype t, N_Vector y, N_Vector f, SUNMatrix m, void *user, N_Vector a, N_Vector b, N_Vector c)
{
  double j[4];
  (void)t, (void)f, (void)user, (void)a, (void)b, (void)c;
  vdp_jacobian(DATA(y), j);
  for (int i = 0; i < 4; i++) SM_ELEMENT_D(m, i / 2, i % 2) = j[i];
  return 0;
}

static int adjoint(realtype t, N_Vector y, N_Vector l, N_Vector f, void *user)
{
  double j[4];
  (void)t, (void)user;
  vdp_jacobian(DATA(y), j);
  for (int i = 0; i < 2; i++) DATA(f)[i] = -(j[i] * DATA(l)[0] + j[2 + i] * DATA(l)[1]);
  return 0;
}

static int adjoint_jacobian(realtype t, N_Vector y, N_Vector l, N_Vector f, SUNMatrix m, void *user, N_Vector a,
                            N_Vector b, N_Vector c)
{
  double j[4];
  (void)t, (void)l, (void)f, (void)user, (void)a, (void)b, (void)c;
  vdp_jacobian(DATA(y), j);
  for (int i = 0; i < 4; i++) SM_ELEMENT_D(m, i % 2, i / 2) = -j[i];
  return 0;
}

static int quadrature(realtype t, N_Vector y, N_Vector l, N_Vector q, void *user)
{
  (void)t, (void)user;
  DATA(q)[0] = -vdp_by_mu(DATA(y)) * DATA(l)[1];
  return 0;
}

int main(int argc, char **argv)
{
  const int reps = atoi(flag(argc, argv, "reps", "2"));
  const double tol = atof(flag(argc, argv, "rtol", "1e-6"));
  SUNContext context;
  DO(SUNContext_Create(NULL, &context));
  N_Vector y = N_VNew_Serial(2, context), l[2], grad[2];
  SUNMatrix m = SUNDenseMatrix(2, 2, context), mb[2];
  SUNLinearSolver ls = SUNLinSol_Dense(y, m, context), lsb[2];
  for (int o = 0; o < 2; o++) {
    l[o] = N_VNew_Serial(2, context), grad[o] = N_VNew_Serial(1, context);
    mb[o] = SUNDenseMatrix(2, 2, context), lsb[o] = SUNLinSol_Dense(l[o], mb[o], context);
  }
  for (int rep = 0; rep < reps; rep++) {
    void *ode = CVodeCreate(CV_BDF, context);
    DATA(y)[0] = 2, DATA(y)[1] = vdp_v0();
    DO(CVodeInit(ode, rhs, 0, y));
    DO(CVodeSStolerances(ode, tol, tol));
    DO(CVodeSetMaxNumSteps(ode, 100000));
    DO(CVodeSetLinearSolver(ode, ls, m));
    DO(CVodeSetJacFn(ode, jacobian));
    DO(CVodeSetStopTime(ode, vdp_end));
    DO(CVodeAdjInit(ode, 100, CV_HERMITE));
    realtype t;
    int checkpoints, which;
    double t0 = now();
    DO(CVodeF(ode, vdp_end, y, &t, CV_NORMAL, &checkpoints));
    double t1 = now();
    for (int o = 0; o < 2; o++) {
      N_VConst(0, l[o]);
      N_VConst(0, grad[o]);
      DATA(l[o])[o] = 1;
      DO(CVodeCreateB(ode, CV_BDF, &which));
      DO(CVodeInitB(ode, which, adjoint, vdp_end, l[o]));
      DO(CVodeSStolerancesB(ode, which, tol, tol));
      DO(CVodeSetMaxNumStepsB(ode, which, 100000));
      DO(CVodeSetLinearSolverB(ode, which, lsb[o], mb[o]));
      DO(CVodeSetJacFnB(ode, which, adjoint_jacobian));
      DO(CVodeQuadInitB(ode, which, quadrature, grad[o]));
      DO(CVodeSetQuadErrConB(ode, which, SUNTRUE));
      DO(CVodeQuadSStolerancesB(ode, which, tol, tol));
    }
    DO(CVodeB(ode, 0, CV_NORMAL));
    double d[2];
    for (int o = 0; o < 2; o++) {
      DO(CVodeGetB(ode, o, &t, l[o]));
      DO(CVodeGetQuadB(ode, o, &t, grad[o]));
      d[o] = DATA(grad[o])[0] + DATA(l[o])[1] * vdp_v0_by_mu();
    }
    double t2 = now();
    long steps, fails;
    DO(CVodeGetNumSteps(ode, &steps));
    DO(CVodeGetNumErrTestFails(ode, &fails));
    report("cvodes", steps, fails, t1 - t0, t2 - t1, hypot(d[0], d[1]));
    CVodeFree(&ode);
  }
  return 0;
}
