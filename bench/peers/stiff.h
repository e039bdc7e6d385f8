/* The stiff problems of docs/stiff.md and their derivatives. Each asks for the gradient of one objective, a weighted
 * sum of end values, by all params and by all initial values.
 *
 * Most are sums of terms: a coefficient times a product of up to three states, added to some states. The table of a
 * problem is a text with an entry for each term, "coefficient factors > changes". Coefficient 0 is the number 1, and
 * states count from 1: "2 1 3 > -1 +2" takes k2 y1 y3 from y1 and adds it to y2. Coefficients are the params unless
 * the problem says otherwise. */
#ifndef STIFF_H
#define STIFF_H
#include "peer.h"

struct problem {
  int     n, params;
  double  end, atol; /* atol over rtol */
  double *start, *p, *weights;
  /* the pattern of the Jacobian, column by column, and its band if it has one (below = -1: none) */
  int     nonzeros, *column, *row, below, above;
};

static struct problem q;

/* The terms. Term i has the factors from fat[i] to fat[i + 1] and the changes from cat[i]. Entry tells where its parts
 * of the Jacobian lie, from eat[i], factor by factor and change by change. */
static int     terms, coefficients, *coefficient, *fat, *factor, *cat, *changed, *eat, *entry;
static double *change, *k;

static int  points; /* of the Brusselator, which has loops of its own */
static void oregonator_pull(const double *by_k, double *out);
static void (*params_of)(const double *by_k, double *out); /* NULL: coefficients are the params */

/* ---- tables ---- */

static const char *const robertson = "1 1 > -1 +2; 2 2 2 > -2 +3; 3 2 3 > -2 +1";
static const char *const hires =
  "4 > +1; 1 1 > -1 +2; 2 2 > +1; 3 3 > +1; 5 2 > -2; 6 3 > -3; 2 4 > +3; 7 5 > +3; 3 2 > +4; 1 3 > +4; 8 4 > -4;"
  "9 5 > -5; 2 6 > +5 -6; 2 7 > +5; 10 6 8 > -6 +7 -8; 11 4 > +6; 1 5 > +6; 11 7 > +6; 12 7 > -7 +8";
static const char *const oregonator = "1 2 > +1; 1 1 2 > -1; 1 1 > +1; 2 1 1 > -1; 3 3 > +2; 3 2 > -2; 3 1 2 > -2;"
                                      "4 1 > +3; 4 3 > -3";
static const char *const vdp = "0 2 > +1; 1 2 > +2; 1 1 1 2 > -2; 1 1 > -2";
static const char *const pollution =
  "1 1 > -1 +2 +3; 2 2 4 > -2 -4 +1; 3 5 2 > -5 -2 +1 +6; 4 7 > -7 +5 +5 +8; 5 7 > -7 +8; 6 7 6 > -7 -6 +5 +8;"
  "7 9 > -9 +5 +8 +10; 8 9 6 > -9 -6 +11; 9 11 2 > -11 -2 +1 +10 +12; 10 11 1 > -11 -1 +13; 11 13 > -13 +1 +11;"
  "12 10 2 > -10 -2 +1 +14; 13 14 > -14 +5 +7; 14 1 6 > -1 -6 +15; 15 3 > -3 +4; 16 4 > -4 +16; 17 4 > -4 +3;"
  "18 16 > -16 +6 +6; 19 16 > -16 +3; 20 17 6 > -17 -6 +5 +18; 21 19 > -19 +2; 22 19 > -19 +1 +3; 23 1 4 > -1 -4 +19;"
  "24 19 1 > -19 -1 +20; 25 20 > -20 +1 +19";

static int *more(int *list, int count)
{
  if (count & (count - 1)) return list; /* room doubles at powers of two */
  list = realloc(list, sizeof(int) * (count ? 2 * count : 2));
  if (!list) exit(1);
  return list;
}

static int factors, changes;

static void begin_term(int which)
{
  coefficient = more(coefficient, terms), fat = more(fat, terms), cat = more(cat, terms);
  coefficient[terms] = which, fat[terms] = factors, cat[terms] = changes;
  terms++;
}
static void add_factor(int state) { factor = more(factor, factors), factor[factors++] = state; }
static void add_change(int state, int by)
{
  static int *by_list;
  for (int i = cat[terms - 1]; i < changes; i++)
    if (changed[i] == state) { by_list[i] += by, change[i] += by; return; }
  changed = more(changed, changes), by_list = more(by_list, changes);
  change = realloc(change, sizeof(double) * (changes + 1));
  changed[changes] = state, by_list[changes] = by, change[changes++] = by;
}

static void read_table(const char *text)
{
  char *at = (char *)text;
  while (*at) {
    begin_term(strtol(at, &at, 10));
    while (*(at += strspn(at, " ")) != '>') add_factor(strtol(at, &at, 10) - 1);
    for (at++; *(at += strspn(at, " ")) && *at != ';';) {
      int by = *at == '-' ? -1 : 1;
      add_change(strtol(at + 1, &at, 10) - 1, by);
    }
    if (*at) at++;
  }
}

static int by_place(const void *a, const void *b)
{
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}

/* Ends the table: the pattern of the Jacobian, and where each term adds to it. */
static void end_table(void)
{
  const int n = q.n;
  fat = more(fat, terms), cat = more(cat, terms);
  fat[terms] = factors, cat[terms] = changes;
  int entries = 0;
  eat = malloc(sizeof(int) * (terms + 1));
  for (int r = 0; r < terms; r++) {
    eat[r] = entries;
    entries += (fat[r + 1] - fat[r]) * (cat[r + 1] - cat[r]);
  }
  eat[terms] = entries;
  long *place = malloc(sizeof(long) * (entries + n)), *sorted = malloc(sizeof(long) * (entries + n));
  int at = 0;
  for (int r = 0; r < terms; r++)
    for (int a = fat[r]; a < fat[r + 1]; a++)
      for (int c = cat[r]; c < cat[r + 1]; c++) place[at++] = (long)factor[a] * n + changed[c];
  memcpy(sorted, place, sizeof(long) * entries);
  for (int i = 0; i < n; i++) sorted[entries + i] = (long)i * n + i; /* the diagonal is always there */
  qsort(sorted, entries + n, sizeof(long), by_place);
  q.column = calloc(n + 1, sizeof(int)), q.row = malloc(sizeof(int) * (entries + n));
  entry = malloc(sizeof(int) * (entries + 1));
  for (int i = 0; i < entries + n; i++) {
    if (i && sorted[i] == sorted[i - 1]) continue;
    sorted[q.nonzeros] = sorted[i];
    q.row[q.nonzeros++] = sorted[i] % n;
    q.column[sorted[i] / n + 1] = q.nonzeros;
  }
  for (int i = 0; i < n; i++)
    if (q.column[i + 1] < q.column[i]) q.column[i + 1] = q.column[i];
  for (int i = 0; i < entries; i++)
    entry[i] = (long *)bsearch(place + i, sorted, q.nonzeros, sizeof(long), by_place) - sorted;
  free(place), free(sorted);
}

/* ---- problems ---- */

static void problem_sizes(int n, int params, double end, double atol)
{
  q = (struct problem){.n = n, .params = params, .end = end, .atol = atol, .below = -1, .above = -1};
  q.start = doubles(n), q.p = doubles(params), q.weights = doubles(n);
}

/* A network drawn at random: README.md of examples/network states the rule. */
static void network(int n)
{
  uint64_t s = 1;
  problem_sizes(n, 3 * n, 100, 1e-4);
  for (int i = 0; i < n; i++) q.start[i] = draw(&s);
  for (int i = 0; i < n; i++) q.weights[i] = draw(&s);
  for (int r = 0; r < 3 * n; r++) {
    int from[2] = {r % n}, to[2], size, moved;
    do {
      size = draw(&s) < 0.4 ? 1 : 2;
      for (int i = 1; i < 2 * size; i++) {
        double far = draw(&s), which = draw(&s);
        int    species = far < 0.01 ? (int)(which * n) : (r + (int)(which * 16)) % n;
        if (i < size) from[i] = species; else to[i - size] = species;
      }
      moved = size == 1 ? from[0] != to[0]
                        : !((from[0] == to[0] && from[1] == to[1]) || (from[0] == to[1] && from[1] == to[0]));
    } while (!moved);
    begin_term(r + 1);
    for (int i = 0; i < size; i++) add_factor(from[i]);
    for (int i = 0; i < size; i++) add_change(from[i], -1);
    for (int i = 0; i < size; i++) add_change(to[i], 1);
    q.p[r] = pow(10, 8 * draw(&s) - 4);
  }
}

/* u and v lie side by side, so the Jacobian is a band of two below and two above. */
static void brusselator(int n)
{
  points = n;
  problem_sizes(2 * n, 3, 10, 1e-2);
  q.below = q.above = 2;
  q.p[0] = 1, q.p[1] = 3, q.p[2] = 0.02;
  for (int i = 0; i < n; i++) {
    q.start[2 * i] = 1 + sin(2 * M_PI * (i + 1) / (n + 1)), q.start[2 * i + 1] = 3;
    q.weights[2 * i] = 1. / (n + 1);
  }
  q.column = malloc(sizeof(int) * (2 * n + 1)), q.row = malloc(sizeof(int) * 8 * n);
  for (int j = 0; j < 2 * n; j++) {
    q.column[j] = q.nonzeros;
    for (int i = j - 2; i <= j + 2; i++)
      if (i >= 0 && i < 2 * n && (i == j || i / 2 == j / 2 || (i + j) % 2 == 0)) q.row[q.nonzeros++] = i;
  }
  q.column[2 * n] = q.nonzeros;
}

static void fill(double *to, int count, const double *from) { memcpy(to, from, sizeof(double) * count); }

/* Makes q the problem of that name. */
static int problem_named(const char *name)
{
  if (!strcmp(name, "robertson40") || !strcmp(name, "robertson4e5")) {
    problem_sizes(3, 3, name[9] == '4' && name[10] == '0' ? 40 : 4e5, 1e-6);
    fill(q.p, 3, (double[]){0.04, 3e7, 1e4});
    q.start[0] = 1, q.weights[0] = 1;
    read_table(robertson);
  } else if (!strcmp(name, "hires")) {
    problem_sizes(8, 12, 300, 1e-3);
    fill(q.p, 12, (double[]){1.71, 0.43, 8.32, 0.0007, 8.75, 10.03, 0.035, 1.12, 1.745, 280, 0.69, 1.81});
    q.start[0] = 1, q.start[7] = 0.0057, q.weights[5] = 1;
    read_table(hires);
  } else if (!strcmp(name, "oregonator")) {
    problem_sizes(3, 3, 330, 1e-2);
    fill(q.p, 3, (double[]){77.27, 0.161, 8.375e-6});
    fill(q.start, 3, (double[]){1, 2, 3});
    q.weights[1] = 1;
    read_table(oregonator);
    params_of = oregonator_pull;
  } else if (!strcmp(name, "pollution")) {
    problem_sizes(20, 25, 60, 1e-5);
    fill(q.p, 25, (double[]){0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 0.022, 1.2e4, 1.88,
                             1.63e4, 4.8e6, 3.5e-4, 0.0175, 1e8, 4.44e11, 1.24e3, 2.1, 5.78, 4.74e-2, 1.78e3, 3.12});
    q.start[1] = 0.2, q.start[3] = 0.04, q.start[6] = 0.1, q.start[7] = 0.3, q.start[8] = 0.01, q.start[16] = 0.007;
    q.weights[3] = 1;
    read_table(pollution);
  } else if (!strcmp(name, "vdpjump")) {
    problem_sizes(2, 1, 0.95, 1e-2);
    q.p[0] = 1e6, q.start[0] = 2, q.weights[0] = 1;
    read_table(vdp);
  } else if (!strncmp(name, "network", 7) && atoi(name + 7) > 1) {
    network(atoi(name + 7));
  } else if (!strncmp(name, "brusselator", 11) && atoi(name + 11) > 1) {
    brusselator(atoi(name + 11));
    return 1;
  } else {
    return 0;
  }
  coefficients = params_of ? 4 : q.params;
  k = doubles(coefficients + 1);
  k[0] = 1;
  fill(k + 1, params_of ? 0 : q.params, q.p);
  if (params_of) fill(k + 1, 4, (double[]){q.p[0], q.p[0] * q.p[2], 1 / q.p[0], q.p[1]});
  end_table();
  return 1;
}

/* Derivatives by s, w and q from those by the coefficients s, s q, 1/s and w. */
static void oregonator_pull(const double *by_k, double *out)
{
  const double s = q.p[0];
  out[0] = by_k[1] + q.p[2] * by_k[2] - by_k[3] / (s * s);
  out[1] = by_k[4];
  out[2] = s * by_k[2];
}

/* ---- values and derivatives ---- */

static inline double product(const double *y, int r)
{
  const int *f = factor + fat[r], count = fat[r + 1] - fat[r];
  if (count == 1) return y[f[0]];
  if (count == 2) return y[f[0]] * y[f[1]];
  double x = 1;
  for (int a = 0; a < count; a++) x *= y[f[a]];
  return x;
}
/* the product without factor a, and without b */
static inline double without(const double *y, int r, int a, int b)
{
  const int count = fat[r + 1] - fat[r];
  if (count == 1 || (count == 2 && a != b)) return 1;
  if (count == 2) return y[factor[2 * fat[r] + 1 - a]];
  double x = 1;
  for (int i = fat[r]; i < fat[r + 1]; i++)
    if (i != a && i != b) x *= y[factor[i]];
  return x;
}
static inline double gain(const double *l, int r)
{
  double x = 0;
  for (int c = cat[r]; c < cat[r + 1]; c++) x += change[c] * l[changed[c]];
  return x;
}

static void problem_rhs(const double *restrict y, double *restrict f)
{
  if (points) {
    const double a = q.p[0], b = q.p[1], d = q.p[2] * (points + 1) * (points + 1);
    const int    last = 2 * points - 2;
    for (int i = 0; i <= last; i += 2) {
      const double u = y[i], v = y[i + 1], uuv = u * u * v;
      f[i] = a + uuv - (b + 1) * u - 2 * d * u, f[i + 1] = b * u - uuv - 2 * d * v;
    }
    for (int i = 2; i < 2 * points; i++) f[i] += d * y[i - 2];
    for (int i = 0; i < last; i++) f[i] += d * y[i + 2];
    f[0] += d, f[1] += 3 * d, f[last] += d, f[last + 1] += 3 * d;
    return;
  }
  memset(f, 0, sizeof(double) * q.n);
  for (int r = 0; r < terms; r++) {
    double x = k[coefficient[r]] * product(y, r);
    for (int c = cat[r]; c < cat[r + 1]; c++) f[changed[c]] += change[c] * x;
  }
}

/* The non-zeros of f_y, in the order of the pattern. */
static void problem_jacobian(const double *restrict y, double *restrict v)
{
  if (points) {
    const double b = q.p[1], d = q.p[2] * (points + 1) * (points + 1);
    for (int j = 0, at = 0; j < q.n; j++) {
      const int    i = j & ~1;
      const double uv = y[i] * y[i + 1], uu = y[i] * y[i];
      if (j >= 2) v[at++] = d;
      if (j == i) v[at++] = 2 * uv - b - 1 - 2 * d, v[at++] = b - 2 * uv;
      else v[at++] = uu, v[at++] = -uu - 2 * d;
      if (j < q.n - 2) v[at++] = d;
    }
    return;
  }
  memset(v, 0, sizeof(double) * q.nonzeros);
  for (int r = 0; r < terms; r++) {
    const int *at = entry + eat[r];
    for (int a = fat[r]; a < fat[r + 1]; a++) {
      double x = k[coefficient[r]] * without(y, r, a, a);
      for (int c = cat[r]; c < cat[r + 1]; c++) v[*at++] += change[c] * x;
    }
  }
}

/* out = f_y^T l */
static inline void problem_pull(const double *restrict y, const double *restrict l, double *restrict out)
{
  if (points) {
    const double b = q.p[1], d = q.p[2] * (points + 1) * (points + 1);
    for (int i = 0; i < q.n; i += 2) {
      const double u = y[i], v = y[i + 1], apart = l[i] - l[i + 1];
      out[i] = 2 * u * v * apart - b * apart - l[i] - 2 * d * l[i], out[i + 1] = u * u * apart - 2 * d * l[i + 1];
    }
    for (int i = 2; i < q.n; i++) out[i] += d * l[i - 2];
    for (int i = 0; i < q.n - 2; i++) out[i] += d * l[i + 2];
    return;
  }
  memset(out, 0, sizeof(double) * q.n);
  for (int r = 0; r < terms; r++) {
    double x = k[coefficient[r]] * gain(l, r);
    for (int a = fat[r]; a < fat[r + 1]; a++) out[factor[a]] += x * without(y, r, a, a);
  }
}

static double *by_k;

static void to_params(double *out)
{
  if (params_of) params_of(by_k, out);
  else fill(out, q.params, by_k + 1);
}

/* out = f_p^T l */
static void problem_pull_params(const double *restrict y, const double *restrict l, double *restrict out)
{
  if (points) {
    double a = 0, b = 0, d = 0;
    const int last = q.n - 2;
    for (int i = 0; i <= last; i += 2) a += l[i], b += y[i] * (l[i + 1] - l[i]);
    for (int i = 0; i < q.n; i++) {
      const double edge = i % 2 ? 3 : 1;
      d += l[i] * ((i < 2 ? edge : y[i - 2]) - 2 * y[i] + (i >= last ? edge : y[i + 2]));
    }
    out[0] = a, out[1] = b, out[2] = d * (points + 1) * (points + 1);
    return;
  }
  if (!by_k) by_k = doubles(coefficients + 1);
  memset(by_k, 0, sizeof(double) * (coefficients + 1));
  for (int r = 0; r < terms; r++) by_k[coefficient[r]] += product(y, r) * gain(l, r);
  to_params(out);
}

/* m = f_p, column by column */
static inline void problem_by_params(const double *y, double *m)
{
  memset(m, 0, sizeof(double) * q.n * q.params);
  if (params_of || points) { /* few params: row by row, by pulling unit vectors */
    double *l = doubles(q.n), row[8];
    for (int i = 0; i < q.n; i++) {
      l[i] = 1;
      problem_pull_params(y, l, row);
      l[i] = 0;
      for (int j = 0; j < q.params; j++) m[(size_t)j * q.n + i] = row[j];
    }
    free(l);
    return;
  }
  for (int r = 0; r < terms; r++) {
    if (!coefficient[r]) continue;
    double x = product(y, r), *column = m + (size_t)(coefficient[r] - 1) * q.n;
    for (int c = cat[r]; c < cat[r + 1]; c++) column[changed[c]] += change[c] * x;
  }
}

/* Of terms: out = d/dy (l^T f_y w), and by the params. */
static inline void problem_second(const double *y, const double *l, const double *w, double *out)
{
  memset(out, 0, sizeof(double) * q.n);
  for (int r = 0; r < terms; r++) {
    if (fat[r + 1] - fat[r] < 2) continue;
    double x = k[coefficient[r]] * gain(l, r);
    for (int a = fat[r]; a < fat[r + 1]; a++)
      for (int b = fat[r]; b < fat[r + 1]; b++)
        if (a != b) out[factor[a]] += x * w[factor[b]] * without(y, r, a, b);
  }
}
static inline void problem_second_params(const double *y, const double *l, const double *w, double *out)
{
  if (!by_k) by_k = doubles(coefficients + 1);
  memset(by_k, 0, sizeof(double) * (coefficients + 1));
  for (int r = 0; r < terms; r++) {
    double x = 0;
    for (int a = fat[r]; a < fat[r + 1]; a++) x += w[factor[a]] * without(y, r, a, a);
    by_k[coefficient[r]] += x * gain(l, r);
  }
  to_params(out);
}

/* ---- flags and results ---- */

struct asked {
  double rtol, atol;
  int    reps;
};

static struct asked problem_from(int argc, char **argv)
{
  const char *name = flag(argc, argv, "problem", "robertson40");
  if (!problem_named(name)) { fprintf(stderr, "no problem %s\n", name); exit(2); }
  struct asked a = {atof(flag(argc, argv, "rtol", "1e-6")), 0, atoi(flag(argc, argv, "reps", "5"))};
  a.atol = a.rtol * q.atol;
  return a;
}

/* The largest difference over the largest value, each times its scale. */
static double apart(int n, const double *x, const double *ref, const double *scale)
{
  double most = 0, off = 0;
  for (int i = 0; i < n; i++) {
    double s = scale ? fabs(scale[i]) : 1;
    most = fmax(most, s * fabs(ref[i])), off = fmax(off, s * fabs(x[i] - ref[i]));
  }
  return off / most;
}

/* One line for the least time of all repetitions. With -ref FILE, a number a line (J, its derivatives by params, those
 * by initial values), errors as well; with -out FILE such a file is written. */
static void problem_report(int argc, char **argv, const char *peer, int steps, double forward, double adjoint,
                           double value, const double *by_p, const double *by_y)
{
  const int   count = 1 + q.params + q.n;
  const char *ref = flag(argc, argv, "ref", NULL), *out = flag(argc, argv, "out", NULL);
  double      by_params = -1, by_start = -1, *r = doubles(count);
  if (ref) {
    FILE *file = fopen(ref, "r");
    for (int i = 0; i < count; i++)
      if (!file || fscanf(file, "%lf", r + i) != 1) { fprintf(stderr, "%s: not %d numbers\n", ref, count); exit(1); }
    fclose(file);
    by_params = apart(q.params, by_p, r + 1, q.p), by_start = apart(q.n, by_y, r + 1 + q.params, NULL);
  }
  if (out) {
    FILE *file = fopen(out, "w");
    if (!file) exit(1);
    fprintf(file, "%.17g\n", value);
    for (int i = 0; i < q.params; i++) fprintf(file, "%.17g\n", by_p[i]);
    for (int i = 0; i < q.n; i++) fprintf(file, "%.17g\n", by_y[i]);
    if (fclose(file)) exit(1);
  }
  printf("{\"peer\":\"%s\",\"steps\":%d,\"forward_s\":%.9f,\"adjoint_s\":%.9f,\"total_s\":%.9f,\"objective\":%.17g,"
         "\"err_p\":%.3e,\"err_y0\":%.3e}\n", peer, steps, forward, adjoint, forward + adjoint, value, by_params,
         by_start);
  free(r);
}

static inline double objective(const double *y)
{
  double s = 0;
  for (int i = 0; i < q.n; i++) s += q.weights[i] * y[i];
  return s;
}

/* Puts non-zeros into a dense matrix, column by column. */
static inline void dense(const double *v, double *m)
{
  memset(m, 0, sizeof(double) * q.n * q.n);
  for (int j = 0; j < q.n; j++)
    for (int i = q.column[j]; i < q.column[j + 1]; i++) m[(size_t)j * q.n + q.row[i]] = v[i];
}
#endif
