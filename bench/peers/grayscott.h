/* Gray and Scott's reaction on a periodic square of the side WIDTH with POINTS × POINTS points, both of which are defined
 * before: its rates, and the transpose of their derivative. */
#ifndef GRAYSCOTT_H
#define GRAYSCOTT_H
#include "petsc.h"

enum { n = POINTS };
static const double d1 = 8e-5, d2 = 4e-5, feed = 0.024, decay = 0.06, width = WIDTH;

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
#endif
