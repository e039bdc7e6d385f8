/* Gradients of stiff problems by PETSc: Crank–Nicolson under control, and TSAdjoint.
 *
 *   petsc_stiff -problem hires -rtol 1e-5 -reps 5 */
#include <petscts.h>
#include "stiff.h"

static double *values;

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec f, void *user)
{
  const PetscScalar *yy;
  PetscScalar *ff;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArrayWrite(f, &ff));
  problem_rhs(yy, ff);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArrayWrite(f, &ff));
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian(TS ts, PetscReal t, Vec y, Mat j, Mat p, void *user)
{
  const PetscScalar *yy;
  PetscScalar *m;
  (void)ts, (void)t, (void)j, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  problem_jacobian(yy, values);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(MatDenseGetArrayWrite(p, &m));
  dense(values, m);
  PetscCall(MatDenseRestoreArrayWrite(p, &m));
  PetscCall(MatAssemblyBegin(p, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode by_params(TS ts, PetscReal t, Vec y, Mat j, void *user)
{
  const PetscScalar *yy;
  PetscScalar *m;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(MatDenseGetArrayWrite(j, &m));
  problem_by_params(yy, m);
  PetscCall(MatDenseRestoreArrayWrite(j, &m));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(MatAssemblyBegin(j, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(j, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode copy(Vec to, const double *from)
{
  PetscScalar *a;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(to, &a));
  fill(a, q.n, from);
  PetscCall(VecRestoreArrayWrite(to, &a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const struct asked a = problem_from(argc, argv);
  int none = 0;
  PetscCall(PetscInitialize(&none, NULL, NULL, NULL));
  values = doubles(q.nonzeros);
  double best = INFINITY, forward = 0, value = 0;
  PetscInt steps = 0;
  Vec y, l, grad;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, q.n, &y));
  PetscCall(VecDuplicate(y, &l));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, q.params, &grad));
  for (int rep = 0; rep < a.reps; rep++) {
    TS ts;
    TSAdapt adapt;
    TSTrajectory kept;
    SNES newton;
    KSP linear;
    PC factor;
    Mat j, jp;
    const PetscScalar *yy;
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, q.n, q.n, NULL, &j));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, q.n, q.params, NULL, &jp));
    PetscCall(copy(y, q.start));
    PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
    PetscCall(TSSetProblemType(ts, TS_NONLINEAR));
    PetscCall(TSSetType(ts, TSCN));
    PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
    PetscCall(TSSetRHSJacobian(ts, j, j, jacobian, NULL));
    PetscCall(TSSetRHSJacobianP(ts, jp, by_params, NULL));
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSGetTrajectory(ts, &kept));
    PetscCall(TSTrajectorySetType(kept, ts, TSTRAJECTORYMEMORY));
    PetscCall(TSTrajectorySetSolutionOnly(kept, PETSC_FALSE));
    PetscCall(TSSetMaxTime(ts, q.end));
    PetscCall(TSSetTimeStep(ts, 1e-10 * q.end));
    PetscCall(TSSetMaxSteps(ts, 200000));
    PetscCall(TSSetMaxSNESFailures(ts, -1));
    PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    PetscCall(TSSetTolerances(ts, a.atol, NULL, a.rtol, NULL));
    PetscCall(TSGetAdapt(ts, &adapt));
    PetscCall(TSAdaptSetType(adapt, TSADAPTBASIC));
    PetscCall(TSGetSNES(ts, &newton));
    PetscCall(SNESSetTolerances(newton, 1e-50, 1e-10, 1e-14, 50, 100000));
    PetscCall(SNESGetKSP(newton, &linear));
    PetscCall(KSPSetType(linear, KSPPREONLY));
    PetscCall(KSPGetPC(linear, &factor));
    PetscCall(PCSetType(factor, PCLU));
    PetscCall(TSSetSolution(ts, y));
    PetscCall(TSSetCostGradients(ts, 1, &l, &grad));
    PetscCall(TSSetUp(ts));
    double t0 = now();
    PetscCall(TSSolve(ts, y));
    double t1 = now();
    PetscCall(TSGetStepNumber(ts, &steps));
    PetscCall(VecGetArrayRead(y, &yy));
    value = objective(yy);
    PetscCall(VecRestoreArrayRead(y, &yy));
    PetscCall(copy(l, q.weights));
    PetscCall(VecSet(grad, 0));
    double t2 = now();
    PetscCall(TSAdjointSolve(ts));
    double t3 = now();
    if (t1 - t0 + t3 - t2 < best) best = t1 - t0 + t3 - t2, forward = t1 - t0;
    PetscCall(TSDestroy(&ts));
    PetscCall(MatDestroy(&j));
    PetscCall(MatDestroy(&jp));
  }
  const PetscScalar *by_p, *by_y;
  PetscCall(VecGetArrayRead(grad, &by_p));
  PetscCall(VecGetArrayRead(l, &by_y));
  problem_report(argc, argv, "petsc", steps, forward, best - forward, value, by_p, by_y);
  PetscCall(VecRestoreArrayRead(grad, &by_p));
  PetscCall(VecRestoreArrayRead(l, &by_y));
  return PetscFinalize();
}
