/* Gray–Scott on a periodic grid of 100 × 100 points (bench/grayscott.ode) by PETSc: ten steps of the classical method
 * of order 4 and TSAdjoint. The objective is half the squared norm of the end; the gradient is by all initial values.
 *
 *   petsc_grayscott -reps 12 */
#include "petsc.h"

enum { n = 100 };
static const double d1 = 8e-5, d2 = 4e-5, feed = 0.024, decay = 0.06, width = 2, end = 5;

/* out = D Laplace(c), D over the squared distance of points */
static void laplace(double d, const double *restrict c, double *restrict out)
{
  for (int i = 0; i < n; i++) {
    const double *up = c + (i + n - 1) % n * n, *down = c + (i + 1) % n * n, *row = c + i * n;
    double *o = out + i * n;
    o[0] = d * (row[n - 1] + row[1] + up[0] + down[0] - 4 * row[0]);
    for (int j = 1; j < n - 1; j++) o[j] = d * (row[j - 1] + row[j + 1] + up[j] + down[j] - 4 * row[j]);
    o[n - 1] = d * (row[n - 2] + row[0] + up[n - 1] + down[n - 1] - 4 * row[n - 1]);
  }
}

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec f, void *user)
{
  const double h2 = width / n * (width / n);
  const PetscScalar *u;
  PetscScalar *fu;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &u));
  PetscCall(VecGetArrayWrite(f, &fu));
  const double *restrict v = u + n * n;
  double *restrict fv = fu + n * n;
  laplace(d1 / h2, u, fu);
  laplace(d2 / h2, v, fv);
  for (int i = 0; i < n * n; i++) {
    double uvv = u[i] * v[i] * v[i];
    fu[i] += feed * (1 - u[i]) - uvv;
    fv[i] += uvv - (feed + decay) * v[i];
  }
  PetscCall(VecRestoreArrayRead(y, &u));
  PetscCall(VecRestoreArrayWrite(f, &fu));
  PetscFunctionReturn(0);
}

static double *stage; /* that the Jacobian is of */

static PetscErrorCode by_states(TS ts, PetscReal t, Vec y, Mat j, Mat p, void *user)
{
  const PetscScalar *yy;
  (void)ts, (void)t, (void)j, (void)p, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  memcpy(stage, yy, sizeof(double) * 2 * n * n);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscFunctionReturn(0);
}

static PetscErrorCode pull(Mat j, Vec l, Vec out)
{
  const double h2 = width / n * (width / n);
  const PetscScalar *lu;
  PetscScalar *ou;
  (void)j;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(l, &lu));
  PetscCall(VecGetArrayWrite(out, &ou));
  const double *restrict u = stage, *restrict v = stage + n * n, *restrict lv = lu + n * n;
  double *restrict ov = ou + n * n;
  laplace(d1 / h2, lu, ou); /* symmetric */
  laplace(d2 / h2, lv, ov);
  for (int i = 0; i < n * n; i++) {
    double gain = lv[i] - lu[i];
    ou[i] += v[i] * v[i] * gain - feed * lu[i];
    ov[i] += 2 * u[i] * v[i] * gain - (feed + decay) * lv[i];
  }
  PetscCall(VecRestoreArrayRead(l, &lu));
  PetscCall(VecRestoreArrayWrite(out, &ou));
  PetscFunctionReturn(0);
}

static PetscErrorCode start(Vec y)
{
  PetscScalar *u;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(y, &u));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double x = width * i / n, z = width * j / n, v = 0;
      if (x >= 1 && x <= 1.5 && z >= 1 && z <= 1.5) v = pow(sin(4 * M_PI * x) * sin(4 * M_PI * z), 2) / 4;
      u[j * n + i] = 1 - 2 * v;
      u[n * n + j * n + i] = v;
    }
  PetscCall(VecRestoreArrayWrite(y, &u));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int reps = atoi(flag(argc, argv, "reps", "2")), states = 2 * n * n;
  int none = 0;
  PetscCall(PetscInitialize(&none, NULL, NULL, NULL));
  stage = doubles(states);
  Vec y, l;
  Mat j;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, states, &y));
  PetscCall(VecDuplicate(y, &l));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, states, states, states, states, NULL, &j));
  PetscCall(MatShellSetOperation(j, MATOP_MULT_TRANSPOSE, (void (*)(void))pull));
  for (int rep = 0; rep < reps; rep++) {
    TS ts;
    PetscInt steps;
    PetscReal norm;
    PetscCall(start(y));
    PetscCall(solver(&ts, TSRK4, y, end, end / 10, 0, 20));
    PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
    PetscCall(TSSetRHSJacobian(ts, j, j, by_states, NULL));
    PetscCall(TSSetCostGradients(ts, 1, &l, NULL));
    PetscCall(TSSetUp(ts));
    PetscCall(TSAdjointSetUp(ts));
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
