/* What the explicit programs with PETSc share: a TSRK that keeps its stages in memory.
 *
 * Dormand–Prince is registered anew with b_2 = 1e-14. With b_2 = 0 the adjoint step of PETSc before 3.22 leaves out
 * the derivatives by params of that stage. The price is the same, and the solution moves by 1e-14. */
#ifndef PETSC_PEER_H
#define PETSC_PEER_H
#include <petscts.h>
#include "peer.h"

static inline PetscErrorCode dormand_prince(void)
{
  const PetscReal a[7][7] = {
    {0},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 1e-14, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  const PetscReal b[7] = {35. / 384, 1e-14, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0};
  const PetscReal other[7] = {5179. / 57600, 0, 7571. / 16695, 393. / 640, -92097. / 339200, 187. / 2100, 1. / 40};
  PetscFunctionBeginUser;
  PetscCall(TSInitializePackage());
  PetscCall(TSRKRegister("dormand_prince", 5, 7, &a[0][0], b, NULL, other, 0, NULL));
  PetscFunctionReturn(0);
}

/* A solver for y over [0, end]; tol 0: steps of the length h, without control. */
static PetscErrorCode solver(TS *ts, const char *method, Vec y, double end, double h, double tol, int steps)
{
  TSAdapt adapt;
  TSTrajectory kept;
  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_SELF, ts));
  PetscCall(TSSetProblemType(*ts, TS_NONLINEAR));
  PetscCall(TSSetType(*ts, TSRK));
  PetscCall(TSRKSetType(*ts, method));
  PetscCall(TSSetSaveTrajectory(*ts));
  PetscCall(TSGetTrajectory(*ts, &kept));
  PetscCall(TSTrajectorySetType(kept, *ts, TSTRAJECTORYMEMORY));
  PetscCall(TSTrajectorySetSolutionOnly(kept, PETSC_FALSE));
  PetscCall(TSSetMaxTime(*ts, end));
  PetscCall(TSSetTimeStep(*ts, h));
  PetscCall(TSSetMaxSteps(*ts, steps)); /* memory is cleared for so many */
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSGetAdapt(*ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, tol > 0 ? TSADAPTBASIC : TSADAPTNONE));
  if (tol > 0) PetscCall(TSSetTolerances(*ts, tol, NULL, tol, NULL));
  PetscCall(TSSetSolution(*ts, y));
  PetscFunctionReturn(0);
}
#endif
