/* Gray–Scott on a periodic grid of 64 × 64 points (bench/grayscott.ode) by PETSc: ten steps of Crank–Nicolson's scheme
 * and TSAdjoint, with a sparse Jacobian in which u and v of a point stand side by side. The objective is half the squared
 * norm of the end; the gradient is by all initial values. Stages are solved by sparse factors, or as PETSc's own flags
 * say.
 *
 *   petsc_grayscott_cn -reps 12 -ksp_type gmres -pc_type ilu */
#include <petscts.h>
#include "peer.h"

enum { n = 64, states = 2 * n * n, times = 10 };
static const double d1 = 8e-5, d2 = 4e-5, feed = 0.024, decay = 0.06, width = 2, end = 5;

/* D over the squared distance of points */
static double spread(double d) { return d * n / width * n / width; }

/* The place of u among the states at each of the four points around (i, j). */
static void around(int i, int j, int place[4])
{
  place[0] = 2 * (j * n + (i + 1) % n), place[1] = 2 * (j * n + (i + n - 1) % n);
  place[2] = 2 * ((j + 1) % n * n + i), place[3] = 2 * ((j + n - 1) % n * n + i);
}

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec f, void *user)
{
  const PetscScalar *a;
  PetscScalar *o;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayWrite(f, &o));
  const double du = spread(d1), dv = spread(d2);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const int k = 2 * (j * n + i);
      const double u = a[k], v = a[k + 1], uvv = u * v * v;
      int p[4];
      around(i, j, p);
      o[k] = du * (a[p[0]] + a[p[1]] + a[p[2]] + a[p[3]] - 4 * u) - uvv + feed * (1 - u);
      o[k + 1] = dv * (a[p[0] + 1] + a[p[1] + 1] + a[p[2] + 1] + a[p[3] + 1] - 4 * v) + uvv - (feed + decay) * v;
    }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayWrite(f, &o));
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec y, Mat j, Mat m, void *user)
{
  const PetscScalar *a;
  (void)ts, (void)t, (void)j, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  const double du = spread(d1), dv = spread(d2);
  for (int r = 0; r < n; r++)
    for (int c = 0; c < n; c++) {
      const int k = 2 * (r * n + c);
      const double u = a[k], v = a[k + 1];
      int p[4];
      around(c, r, p);
      const PetscInt row[2] = {k, k + 1}, of_u[6] = {p[0], p[1], p[2], p[3], k, k + 1};
      const PetscInt of_v[6] = {p[0] + 1, p[1] + 1, p[2] + 1, p[3] + 1, k, k + 1};
      const PetscScalar by_u[6] = {du, du, du, du, -4 * du - v * v - feed, -2 * u * v};
      const PetscScalar by_v[6] = {dv, dv, dv, dv, v * v, -4 * dv + 2 * u * v - feed - decay};
      PetscCall(MatSetValues(m, 1, row, 6, of_u, by_u, INSERT_VALUES));
      PetscCall(MatSetValues(m, 1, row + 1, 6, of_v, by_v, INSERT_VALUES));
    }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(MatAssemblyBegin(m, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(m, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode start(Vec y)
{
  PetscScalar *a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(y, &a));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double x = width * i / n, z = width * j / n, v = 0;
      if (x >= 1 && x <= 1.5 && z >= 1 && z <= 1.5) v = pow(sin(4 * M_PI * x) * sin(4 * M_PI * z), 2) / 4;
      a[2 * (j * n + i)] = 1 - 2 * v;
      a[2 * (j * n + i) + 1] = v;
    }
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int reps = atoi(flag(argc, argv, "reps", "2"));
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsSetValue(NULL, "-options_left", "no")); /* -reps is ours */
  Vec y, l;
  Mat j;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, states, &y));
  PetscCall(VecDuplicate(y, &l));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, states, states, 6, NULL, &j));
  for (int rep = 0; rep < reps; rep++) {
    TS ts;
    TSAdapt adapt;
    TSTrajectory kept;
    SNES newton;
    KSP linear;
    PC factor;
    PetscInt steps;
    PetscReal norm;
    PetscCall(start(y));
    PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
    PetscCall(TSSetProblemType(ts, TS_NONLINEAR));
    PetscCall(TSSetType(ts, TSCN));
    PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
    PetscCall(TSSetRHSJacobian(ts, j, j, jacobian, NULL));
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSGetTrajectory(ts, &kept));
    PetscCall(TSTrajectorySetType(kept, ts, TSTRAJECTORYMEMORY));
    PetscCall(TSTrajectorySetSolutionOnly(kept, PETSC_FALSE));
    PetscCall(TSSetMaxTime(ts, end));
    PetscCall(TSSetTimeStep(ts, end / times));
    PetscCall(TSSetMaxSteps(ts, times + 10));
    PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    PetscCall(TSGetAdapt(ts, &adapt));
    PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
    PetscCall(TSGetSNES(ts, &newton));
    PetscCall(SNESGetKSP(newton, &linear));
    PetscCall(KSPSetType(linear, KSPPREONLY));
    PetscCall(KSPGetPC(linear, &factor));
    PetscCall(PCSetType(factor, PCLU));
    PetscCall(TSSetFromOptions(ts));
    PetscCall(TSSetSolution(ts, y));
    PetscCall(TSSetCostGradients(ts, 1, &l, NULL));
    PetscCall(TSSetUp(ts));
    double t0 = now();
    PetscCall(TSSolve(ts, y));
    double t1 = now();
    PetscCall(TSGetStepNumber(ts, &steps));
    PetscCall(VecCopy(y, l));
    double t2 = now();
    PetscCall(TSAdjointSolve(ts));
    double t3 = now();
    PetscCall(VecNorm(l, NORM_2, &norm));
    report("petsc", steps, 0, t1 - t0, t3 - t2, norm);
    PetscCall(TSDestroy(&ts));
  }
  return PetscFinalize();
}
