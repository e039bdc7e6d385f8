/* Gray–Scott on a periodic grid of 100 × 100 points (bench/grayscott.ode) by PETSc: ten steps of the classical method
 * of order 4 and TSAdjoint. The objective is half the squared norm of the end; the gradient is by all initial values.
 *
 *   petsc_grayscott -reps 12 */
#define POINTS 100
#define WIDTH 2
#include "grayscott.h"

static const double end = 5;

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
