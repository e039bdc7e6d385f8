/* The Lotka–Volterra gradient by PETSc: TSRK with Dormand–Prince and TSAdjoint, n objectives at once. The Jacobians by
 * states and by params are shell matrices whose transposed products are written by hand. With -params deferred PETSc
 * does not know of the params: cotangents of stages are kept, and their products with the states are made at the end.
 *
 *   petsc_glv -n 55 -rtol 1e-7 -reps 5 -dump gradient.bin
 *   petsc_glv -n 55 -rtol 1e-7 -reps 5 -rk 7vr -first 0.1 -params deferred */
#include "petsc.h"
#include "glv.h"

static double *x, *g, *z; /* of the stage that the Jacobians are of */

/* Of deferred gradients: the stages that the sweep has met, their states, and x l times their weight, objective by
 * objective. The weights of the tableau belong to PETSc. */
static int deferred, met, per_step, capacity, which;
static double *xs, **zs;
static const PetscReal *weights;
static PetscReal step;

static PetscErrorCode rhs(TS ts, PetscReal t, Vec y, Vec f, void *user)
{
  const PetscScalar *yy;
  PetscScalar *ff;
  (void)ts, (void)t, (void)user;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArrayWrite(f, &ff));
  glv_rates(yy, g);
  for (int i = 0; i < glv_n; i++) ff[i] = yy[i] * g[i];
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArrayWrite(f, &ff));
  PetscFunctionReturn(0);
}

static PetscErrorCode at(Vec y)
{
  const PetscScalar *yy;
  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &yy));
  memcpy(x, yy, sizeof(double) * glv_n);
  glv_rates(x, g);
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscFunctionReturn(0);
}

static PetscErrorCode by_states(TS ts, PetscReal t, Vec y, Mat j, Mat p, void *user)
{
  (void)t, (void)j, (void)p, (void)user;
  PetscFunctionBeginUser;
  PetscCall(at(y));
  if (deferred) {
    PetscCall(TSGetTimeStep(ts, &step));
    if (met == capacity) {
      capacity = capacity ? 2 * capacity : 256;
      xs = realloc(xs, sizeof(double) * glv_n * capacity);
      for (int o = 0; o < glv_n; o++) zs[o] = realloc(zs[o], sizeof(double) * glv_n * capacity);
    }
    memcpy(xs + (size_t)met * glv_n, x, sizeof(double) * glv_n);
    met++, which = 0;
  }
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
  glv_pull(x, g, ll, z, oo);
  if (deferred) { /* stages come last first; one without a weight carries the cotangent itself */
    const PetscReal b = weights[per_step - 1 - (met - 1) % per_step], w = fabs(step) * (b != 0 ? b : 1);
    double *to = zs[which++] + (size_t)(met - 1) * glv_n;
    for (int i = 0; i < glv_n; i++) to[i] = w * z[i];
  }
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
  for (int i = 0; i < glv_n; i++) z[i] = x[i] * ll[i];
  glv_pull_params(x, z, oo);
  PetscCall(VecRestoreArrayRead(l, &ll));
  PetscCall(VecRestoreArrayWrite(out, &oo));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const int n = atoi(flag(argc, argv, "n", "10")), reps = atoi(flag(argc, argv, "reps", "2"));
  const int wide = n + n * n;
  const double tol = atof(flag(argc, argv, "rtol", "1e-7"));
  const double first = atof(flag(argc, argv, "first", "1e-3"));
  const char *dump = flag(argc, argv, "dump", NULL), *rk = flag(argc, argv, "rk", "dormand_prince");
  deferred = !strcmp(flag(argc, argv, "params", "mu"), "deferred");
  int none = 0;
  PetscCall(PetscInitialize(&none, NULL, NULL, NULL));
  PetscCall(dormand_prince());
  glv_model(n);
  x = doubles(n), g = doubles(n), z = doubles(n);
  zs = calloc(n, sizeof *zs);
  Vec y, m, *l, *grad;
  Mat j, jp;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &y));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, wide, &m));
  PetscCall(VecDuplicateVecs(y, n, &l));
  PetscCall(VecDuplicateVecs(m, n, &grad));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, NULL, &j));
  PetscCall(MatShellSetOperation(j, MATOP_MULT_TRANSPOSE, (void (*)(void))pull));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, n, wide, n, wide, NULL, &jp));
  PetscCall(MatShellSetOperation(jp, MATOP_MULT_TRANSPOSE, (void (*)(void))pull_params));
  for (int rep = 0; rep < reps; rep++) {
    TS ts;
    PetscInt steps, rejected;
    PetscCall(solver(&ts, rk, y, glv_end, first, tol, 2000));
    PetscCall(TSSetRHSFunction(ts, NULL, rhs, NULL));
    PetscCall(TSSetRHSJacobian(ts, j, j, by_states, NULL));
    if (!deferred) PetscCall(TSSetRHSJacobianP(ts, jp, by_params, NULL));
    PetscCall(VecSet(y, glv_start));
    for (int o = 0; o < n; o++) {
      PetscCall(VecSet(l[o], 0));
      PetscCall(VecSetValue(l[o], o, 1, INSERT_VALUES));
      PetscCall(VecAssemblyBegin(l[o]));
      PetscCall(VecAssemblyEnd(l[o]));
      PetscCall(VecSet(grad[o], 0));
    }
    PetscCall(TSSetCostGradients(ts, n, l, deferred ? NULL : grad));
    PetscCall(TSSetUp(ts));
    PetscCall(TSAdjointSetUp(ts));
    if (deferred) {
      PetscBool last_is_first;
      PetscCall(TSRKGetTableau(ts, &per_step, NULL, &weights, NULL, NULL, NULL, NULL, &last_is_first));
      per_step -= last_is_first ? 1 : 0;
      met = 0;
    }
    double t0 = now();
    PetscCall(TSSolve(ts, y));
    double t1 = now();
    PetscCall(TSGetStepNumber(ts, &steps));
    PetscCall(TSGetStepRejections(ts, &rejected));
    double t2 = now();
    PetscCall(TSAdjointSolve(ts));
    for (int o = 0; deferred && o < n; o++) {
      PetscScalar *a;
      PetscCall(VecGetArrayWrite(grad[o], &a));
      glv_deferred(met, zs[o], xs, a);
      PetscCall(VecRestoreArrayWrite(grad[o], &a));
    }
    double t3 = now(), sum = 0;
    for (int o = 0; o < n; o++) {
      PetscReal norm;
      PetscCall(VecNorm(grad[o], NORM_2, &norm));
      sum += norm * norm;
    }
    report("petsc", steps, rejected, t1 - t0, t3 - t2, sqrt(sum));
    PetscCall(TSDestroy(&ts));
  }
  if (dump) {
    FILE *file = dump_to(dump);
    for (int o = 0; o < n; o++) {
      const PetscScalar *by_p, *by_y;
      PetscCall(VecGetArrayRead(grad[o], &by_p));
      PetscCall(VecGetArrayRead(l[o], &by_y));
      dump_row(file, by_p, by_y);
      PetscCall(VecRestoreArrayRead(grad[o], &by_p));
      PetscCall(VecRestoreArrayRead(l[o], &by_y));
    }
    if (fclose(file)) return 1;
  }
  return PetscFinalize();
}
