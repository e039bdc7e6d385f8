! One gradient by FATODE's Rodas4 and its discrete adjoint. FATODE prints its statistics, which go nowhere.
subroutine fatode_gradient(n, params, tend, y, l, by_p, rtol, atol, steps) bind(c)
  use iso_c_binding
  use ros_adj_f90_integrator
  implicit none
  integer(c_int), value :: n, params
  real(c_double), value :: tend, rtol, atol
  real(c_double) :: y(n), l(n, 1), by_p(params, 1)
  integer(c_int) :: steps
  double precision :: r(n), a(n), ra(n, 1), aa(n, 1), reals(20), told_reals(20)
  integer :: integers(20), told(20)
  logical, save :: silent = .false.
  external :: fun, jac, jacp, adjinit, hesstr_vec, hesstr_vec_f_py

  if (.not. silent) open (unit=6, file='/dev/null')
  silent = .true.
  r = rtol
  a = atol
  ra = rtol
  aa = atol
  reals = 0
  integers = 0
  integers(1) = 1   ! the right-hand side does not depend on time
  integers(3) = 5   ! Rodas4
  integers(7) = 2   ! discrete adjoint
  integers(8) = 0   ! factors are made again on the way back
  call integrate_adj(nvar=n, np=params, nadj=1, nnzero=0, y=y, lambda=l, mu=by_p, tin=0d0, tout=tend, &
                     atol_adj=aa, rtol_adj=ra, atol=a, rtol=r, fun=fun, jac=jac, adjinit=adjinit, &
                     hesstr_vec=hesstr_vec, jacp=jacp, hesstr_vec_f_py=hesstr_vec_f_py, &
                     icntrl_u=integers, rcntrl_u=reals, istatus_u=told, rstatus_u=told_reals)
  steps = told(4)
end subroutine
