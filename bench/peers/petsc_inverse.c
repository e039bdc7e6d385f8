/* The start of Gray and Scott's reaction from its end (examples/papers/tsadjoint/gray_scott_inverse.ode) by PETSc: five
 * steps of Bogacki and Shampine's method, TSAdjoint, and TAO's limited-memory search. The problem is that of ex5opt_ic
 * among PETSc's tutorials. It prints a line of JSON: what was found, and the time of the search.
 *
 *   petsc_inverse -iterations 28 */
#define POINTS 64
#define WIDTH 2.5
#include "grayscott.h"
#include <petsctao.h>

static const double end = 2.5;
static Vec state, seen, slope; /* at the end; what is known of it; the cotangents */
static Mat jacobian;

/* One bump of waves half as short in each direction for k = 1/2, four for k = 1. */
static PetscErrorCode bumps(double k, Vec y)
{
  PetscScalar *u;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(y, &u));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double x = width * i / n, z = width * j / n, v = 0;
      if (x >= 1 && x <= 1.5 && z >= 1 && z <= 1.5) v = pow(sin(4 * M_PI * k * x) * sin(4 * M_PI * k * z), 2) / 4;
      u[j * n + i] = 1 - 2 * v;
      u[n * n + j * n + i] = v;
    }
  PetscCall(VecRestoreArrayWrite(y, &u));
  PetscFunctionReturn(0);
}

static PetscErrorCode misfit(Tao tao, Vec x, PetscReal *value, Vec gradient, void *user)
{
  TS ts = user;
  (void)tao;
  PetscFunctionBeginUser;
  PetscCall(VecCopy(x, state));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetTimeStep(ts, end / 5));
  PetscCall(TSSolve(ts, state));
  PetscCall(VecWAXPY(slope, -1, seen, state));
  PetscCall(VecDot(slope, slope, value));
  PetscCall(VecScale(slope, 2));
  PetscCall(TSAdjointSolve(ts));
  PetscCall(VecCopy(slope, gradient));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int most = atoi(flag(argc, argv, "iterations", "28")), states = 2 * n * n;
  int none = 0;
  PetscCall(PetscInitialize(&none, NULL, NULL, NULL));
  stage = doubles(states);
  Vec x, gradient;
  TS ts;
  Tao tao;
  PetscReal first, value, norm;
  PetscInt done, evaluations;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, states, &x));
  PetscCall(VecDuplicate(x, &gradient));
  PetscCall(VecDuplicate(x, &state));
  PetscCall(VecDuplicate(x, &seen));
  PetscCall(VecDuplicate(x, &slope));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, states, states, states, states, NULL, &jacobian));
  PetscCall(MatShellSetOperation(jacobian, MATOP_MULT_TRANSPOSE, (void (*)(void))pull));
  PetscCall(solver(&ts, TSRK3BS, state, end, end / 5, 0, 20));
  PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
  PetscCall(TSSetRHSJacobian(ts, jacobian, jacobian, by_states, NULL));
  PetscCall(TSSetCostGradients(ts, 1, &slope, NULL));
  PetscCall(bumps(1, x));
  PetscCall(misfit(NULL, x, &first, gradient, ts)); /* for the end of the run; PETSc wants an adjoint after each */
  PetscCall(VecCopy(state, seen));
  PetscCall(bumps(0.5, x));
  PetscCall(misfit(NULL, x, &first, gradient, ts));
  PetscCall(TaoCreate(PETSC_COMM_SELF, &tao));
  PetscCall(TaoSetType(tao, TAOBLMVM));
  PetscCall(TaoSetSolution(tao, x));
  PetscCall(TaoSetObjectiveAndGradient(tao, NULL, misfit, ts));
  PetscCall(TaoSetTolerances(tao, 0, 0, 0));
  PetscCall(TaoSetMaximumIterations(tao, most));
  double t0 = now();
  PetscCall(TaoSolve(tao));
  double t1 = now();
  PetscCall(TaoGetSolutionStatus(tao, &done, &value, &norm, NULL, NULL, NULL));
  PetscCall(TaoGetCurrentFunctionEvaluations(tao, &evaluations));
  printf("{\"peer\":\"petsc\",\"guess\":%.15g,\"iterations\":%d,\"evaluations\":%d,\"misfit\":%.6g,\"gradient\":%.6g,"
         "\"total_s\":%.9f}\n", first, (int)done, (int)evaluations, value, norm, t1 - t0);
  return PetscFinalize();
}
