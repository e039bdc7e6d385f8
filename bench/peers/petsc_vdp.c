/* Van der Pol's oscillator by PETSc: TSRK with Dormand–Prince and TSAdjoint, two objectives.
 *
 *   petsc_vdp -rtol 1e-6 -reps 5 */
#include "petsc.h"
#include "vdp.h"

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec f, void *user)
{
  const PetscScalar *yy;
  PetscScalar *ff;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArrayWrite(f, &ff));
  vdp_rhs(yy, ff);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArrayWrite(f, &ff));
  PetscFunctionReturn(0);
}

static double jac[4], by_mu; /* of the stage that the Jacobians are of */

static PetscErrorCode by_states(TS ts, PetscReal t, Vec y, Mat j, Mat p, void *user)
{
  const PetscScalar *yy;
  (void)ts, (void)t, (void)j, (void)p, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  vdp_jacobian(yy, jac);
  by_mu = vdp_by_mu(yy);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscFunctionReturn(0);
}

static PetscErrorCode by_params(TS ts, PetscReal t, Vec y, Mat j, void *user)
{
  (void)ts, (void)t, (void)y, (void)j, (void)user; /* by_states was called with y */
  return 0;
}

static PetscErrorCode pull(Mat j, Vec l, Vec out)
{
  const PetscScalar *ll;
  PetscScalar *oo;
  (void)j;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(l, &ll));
  PetscCall(VecGetArrayWrite(out, &oo));
  oo[0] = jac[2] * ll[1];
  oo[1] = jac[1] * ll[0] + jac[3] * ll[1];
  PetscCall(VecRestoreArrayRead(l, &ll));
  PetscCall(VecRestoreArrayWrite(out, &oo));
  PetscFunctionReturn(0);
}

static PetscErrorCode pull_params(Mat j, Vec l, Vec out)
{
  const PetscScalar *ll;
  PetscScalar *oo;
  (void)j;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(l, &ll));
  PetscCall(VecGetArrayWrite(out, &oo));
  oo[0] = by_mu * ll[1];
  PetscCall(VecRestoreArrayRead(l, &ll));
  PetscCall(VecRestoreArrayWrite(out, &oo));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int reps = atoi(flag(argc, argv, "reps", "2"));
  const double tol = atof(flag(argc, argv, "rtol", "1e-6"));
  int none = 0;
  PetscCall(PetscInitialize(&none, NULL, NULL, NULL));
  PetscCall(dormand_prince());
  Vec y, m, *l, *grad;
  Mat j, jp;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 2, &y));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1, &m));
  PetscCall(VecDuplicateVecs(y, 2, &l));
  PetscCall(VecDuplicateVecs(m, 2, &grad));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, 2, 2, 2, 2, NULL, &j));
  PetscCall(MatShellSetOperation(j, MATOP_MULT_TRANSPOSE, (void (*)(void))pull));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, 2, 1, 2, 1, NULL, &jp));
  PetscCall(MatShellSetOperation(jp, MATOP_MULT_TRANSPOSE, (void (*)(void))pull_params));
  for (int rep = 0; rep < reps; rep++) {
    TS ts;
    PetscInt steps, rejected;
    PetscCall(solver(&ts, "dormand_prince", y, vdp_end, 1e-3, tol, 20000));
    PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
    PetscCall(TSSetRHSJacobian(ts, j, j, by_states, NULL));
    PetscCall(TSSetRHSJacobianP(ts, jp, by_params, NULL));
    PetscCall(VecSetValue(y, 0, 2, INSERT_VALUES));
    PetscCall(VecSetValue(y, 1, vdp_v0(), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(y));
    PetscCall(VecAssemblyEnd(y));
    for (int o = 0; o < 2; o++) {
      PetscCall(VecSet(l[o], 0));
      PetscCall(VecSetValue(l[o], o, 1, INSERT_VALUES));
      PetscCall(VecAssemblyBegin(l[o]));
      PetscCall(VecAssemblyEnd(l[o]));
      PetscCall(VecSet(grad[o], 0));
    }
    PetscCall(TSSetCostGradients(ts, 2, l, grad));
    PetscCall(TSSetUp(ts));
    PetscCall(TSAdjointSetUp(ts));
    double t0 = now();
    PetscCall(TSSolve(ts, y));
    double t1 = now();
    PetscCall(TSGetStepNumber(ts, &steps));
    PetscCall(TSGetStepRejections(ts, &rejected));
    double t2 = now();
    PetscCall(TSAdjointSolve(ts));
    double t3 = now(), d[2];
    for (int o = 0; o < 2; o++) {
      const PetscScalar *a;
      PetscCall(VecGetArrayRead(grad[o], &a));
      d[o] = a[0];
      PetscCall(VecRestoreArrayRead(grad[o], &a));
      PetscCall(VecGetArrayRead(l[o], &a));
      d[o] += a[1] * vdp_v0_by_mu();
      PetscCall(VecRestoreArrayRead(l[o], &a));
    }
    report("petsc", steps, rejected, t1 - t0, t3 - t2, hypot(d[0], d[1]));
    PetscCall(TSDestroy(&ts));
  }
  return PetscFinalize();
}
