/* x' = v, v' = mu ((1 - x²) v - x), mu = 1000, from 0 to 0.5, from the slow manifold: v0 = -2/3 + 10/(81 mu) -
 * 292/(2187 mu²). Both end values are differentiated by mu, by way of v0 as well. */
#ifndef VDP_H
#define VDP_H
#include "peer.h"

static const double vdp_end = 0.5, mu = 1e3;

static inline double vdp_v0(void) { return -2. / 3 + 10 / (81 * mu) - 292 / (2187 * mu * mu); }
static inline double vdp_v0_by_mu(void) { return -10 / (81 * mu * mu) + 584 / (2187 * mu * mu * mu); }
static inline void vdp_rhs(const double *y, double *f)
{
  f[0] = y[1];
  f[1] = mu * ((1 - y[0] * y[0]) * y[1] - y[0]);
}
/* f_y, row by row */
static inline void vdp_jacobian(const double *y, double *j)
{
  j[0] = 0, j[1] = 1;
  j[2] = mu * (-2 * y[0] * y[1] - 1), j[3] = mu * (1 - y[0] * y[0]);
}
static inline double vdp_by_mu(const double *y) { return (1 - y[0] * y[0]) * y[1] - y[0]; }
#endif
