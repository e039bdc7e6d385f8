/* The functions of FMI 3.0 for model exchange (https://fmi-standard.org). What is above says what the model has.
 * Value references count: the time, params, values, derivatives of states, what is derived, roots. */

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FMI3_FUNCTION_PREFIX
#define FMI_PASTE(a, b) a##b
#define FMI_JOIN(a, b) FMI_PASTE(a, b)
#define FMI(name) FMI_JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define FMI(name) name
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

typedef uint32_t fmiReference;
typedef const char *fmiText;
typedef enum { fmiOK, fmiWarning, fmiDiscard, fmiError, fmiFatal } fmiStatus;
typedef void (*fmiLog)(void *environment, fmiStatus status, fmiText category, fmiText message);

enum {
    FIRST_PARAM = 1,
    FIRST_VALUE = FIRST_PARAM + MODEL_PARAMS,
    FIRST_RATE = FIRST_VALUE + MODEL_VALUES,
    FIRST_DERIVED = FIRST_RATE + MODEL_STATES,
    FIRST_ROOT = FIRST_DERIVED + MODEL_DERIVED,
    FIRST_SWITCH = FIRST_ROOT + MODEL_ROOTS,
    N_VARIABLES = FIRST_SWITCH + MODEL_SWITCHES
};

enum { BEGUN, INITIALIZING, IN_EVENT, CONTINUOUS, ENDED };

/* Vectors of everything that derivatives are of, or by. One more keeps them from being empty. */
typedef struct {
    double t, p[MODEL_PARAMS + 1], y[MODEL_VALUES + 1];
} Point;

typedef struct {
    double start[MODEL_VALUES + 1], rates[MODEL_VALUES + 1], derived[MODEL_DERIVED + 1], roots[MODEL_ROOTS + 1];
} Image;

typedef struct {
    Point at;
    Image of;              /* what was computed of it */
    bool rates, derived;   /* whether it still holds */
    bool started;          /* the values at the start were computed */
    bool given[MODEL_VALUES + 1]; /* values that were set before */
    bool pending[MODEL_EVENTS + 1];
    int side[MODEL_EVENTS + 1]; /* of 0, on which a root was last; 0 where it is to leave it first */
    double last[MODEL_EVENTS + 1]; /* the time up to which events at known times have fired */
    double clock;  /* the next time at which a clock changes its sign, where it is known */
    bool clocked;
    int mode;
    bool logging;
    void *environment;
    fmiLog log;
} Instance;

static fmiStatus failed(const Instance *m, fmiText why)
{
    if (m && m->log && m->logging)
        m->log(m->environment, fmiError, "logStatusError", why);
    return fmiError;
}

static void changed(Instance *m)
{
    m->rates = m->derived = false;
}

/* Until the run begins, values follow the params, but for those that were set. */
static void follow(Instance *m)
{
    int i;
    if (m->mode > INITIALIZING || m->started)
        return;
    MODEL(start)(m->at.p, m->of.start);
    for (i = 0; i < MODEL_VALUES; i++)
        if (!m->given[i])
            m->at.y[i] = m->of.start[i];
    m->started = true;
    changed(m);
}

static void rates(Instance *m)
{
    follow(m);
    if (!m->rates)
        MODEL(rates)(m->at.t, m->at.y, m->at.p, m->of.rates);
    m->rates = true;
}

static void derived(Instance *m)
{
    follow(m);
    if (!m->derived)
        MODEL(derived)(m->at.t, m->at.y, m->at.p, m->of.derived);
    m->derived = true;
}

static void roots(const Instance *m, double *g)
{
#if MODEL_HAS_ROOTS
    MODEL(root_functions)(m->at.t, m->at.y, m->at.p, g);
#else
    (void)m;
    (void)g;
#endif
}

/* Where rates may jump without an event. */
static void switches(const Instance *m, double *g)
{
#if MODEL_HAS_SWITCHES
    MODEL(switches)(m->at.t, m->at.y, m->at.p, g);
#else
    (void)m;
    (void)g;
#endif
}

static fmiStatus get(Instance *m, fmiReference r, double *value)
{
    if (r >= N_VARIABLES)
        return failed(m, "there is no variable of this value reference");
    follow(m);
    if (r < FIRST_PARAM)
        *value = m->at.t;
    else if (r < FIRST_VALUE)
        *value = m->at.p[r - FIRST_PARAM];
    else if (r < FIRST_RATE)
        *value = m->at.y[r - FIRST_VALUE];
    else if (r < FIRST_DERIVED) {
        rates(m);
        *value = m->of.rates[r - FIRST_RATE];
    } else if (r < FIRST_ROOT) {
        derived(m);
        *value = m->of.derived[r - FIRST_DERIVED];
    } else if (r < FIRST_SWITCH) {
        roots(m, m->of.roots);
        *value = m->of.roots[r - FIRST_ROOT];
    } else {
        double g[MODEL_SWITCHES + 1];
        switches(m, g);
        *value = g[r - FIRST_SWITCH];
    }
    return fmiOK;
}

static fmiStatus set(Instance *m, fmiReference r, double value)
{
    if (r < FIRST_PARAM)
        m->at.t = value;
    else if (r < FIRST_VALUE) {
        m->at.p[r - FIRST_PARAM] = value;
        m->started = m->clocked = false;
    } else if (r < FIRST_RATE) {
        m->at.y[r - FIRST_VALUE] = value;
        if (m->mode <= INITIALIZING)
            m->given[r - FIRST_VALUE] = true;
    } else
        return failed(m, "this variable is computed, so it cannot be set");
    changed(m);
    return fmiOK;
}

/* Where a root is due: it was on one side, and has come to 0 or to the other. */
#if MODEL_HAS_ROOTS
static bool crossed(const Instance *m, int event, const double *g)
{
    return (model_ways[event] >= 0 && m->side[event] < 0 && g[event] >= 0.0) ||
        (model_ways[event] <= 0 && m->side[event] > 0 && g[event] <= 0.0);
}
#endif

#if MODEL_HAS_EVENTS
static int sign(double x)
{
    return (x > 0.0) - (x < 0.0);
}
#endif

/* Fires what is due, round by round: what the events of a round set off comes in the next one. */
static bool fire(Instance *m, bool *stop)
{
    bool some = false;
#if MODEL_HAS_EVENTS
    enum { MOST = 100000 }; /* rounds at one time */
    double g[MODEL_ROOTS + 1], before[MODEL_ROOTS + 1];
    bool due[MODEL_EVENTS], done[MODEL_EVENTS];
    int round, e, k, n;
    for (round = 0; round < MOST && !*stop; round++) {
        roots(m, g);
        n = 0;
        for (e = 0; e < MODEL_EVENTS; e++) {
            due[e] = done[e] = false;
#if MODEL_HAS_ROOTS
            if (e < MODEL_ROOTS)
                due[e] = m->pending[e] || crossed(m, e, g);
#endif
#if MODEL_HAS_TIMES
            if (e >= MODEL_ROOTS) {
                const double next = MODEL(next_time)(e, m->last[e], m->at.y, m->at.p);
                due[e] = next <= m->at.t + 8.0*DBL_EPSILON*fabs(m->at.t);
                if (due[e])
                    m->last[e] = next;
            }
#endif
            n += due[e];
        }
        if (n == 0)
            break;
        while (n-- > 0) {
            int best = -1;
            for (e = 0; e < MODEL_EVENTS; e++) {
                if (!due[e])
                    continue;
                if (best >= 0) {
#if MODEL_HAS_PRIORITY
                    const double a = MODEL(priority)(e, m->at.t, m->at.y, m->at.p);
                    const double b = MODEL(priority)(best, m->at.t, m->at.y, m->at.p);
                    if (a < b || (a == b && model_order[e] > model_order[best]))
                        continue;
#else
                    if (model_order[e] > model_order[best])
                        continue;
#endif
                }
                best = e;
            }
            due[best] = false;
            m->pending[best] = false;
            if (best < MODEL_ROOTS) {
                roots(m, g);
                if (model_transients[best] && g[best] < 0.0)
                    continue; /* its condition has ceased to hold */
                before[best] = g[best];
                done[best] = true;
            }
            some = true;
            m->clocked = false;
            if (MODEL(fire)(best, m->at.t, m->at.y, m->at.p))
                *stop = true;
        }
        roots(m, g);
        for (k = 0; k < MODEL_ROOTS; k++) {
            if (done[k]) /* what its own body leaves at the root, but for rounding, does not arm it */
                m->side[k] = fabs(g[k]) > 10.0*fabs(before[k]) + DBL_MIN ? sign(g[k]) : 0;
#if MODEL_HAS_ROOTS
            else if (!crossed(m, k, g) && g[k] != 0.0)
                m->side[k] = sign(g[k]);
#endif
        }
    }
    changed(m);
#else
    (void)m;
    (void)stop;
#endif
    return some;
}

#if MODEL_HAS_CLOCKS
/* The next time at which a clock changes its sign: one of 4096 parts of the run holds it, which is then halved. */
static double clock_change(const Instance *m)
{
    enum { PARTS = 4096 };
    double was[MODEL_CLOCKS], g[MODEL_CLOCKS], from, to, step, a = nextafter(m->at.t, INFINITY);
    int k, i;
    MODEL(span)(m->at.p, &from, &to);
    step = (to - from)/PARTS;
    MODEL(clocks)(a, m->at.y, m->at.p, was);
    for (k = 0; k <= PARTS && a < to; k++) {
        double b = fmin(a + step, to), lo = a;
        bool changes = false;
        MODEL(clocks)(b, m->at.y, m->at.p, g);
        for (i = 0; i < MODEL_CLOCKS; i++)
            changes = changes || (was[i] >= 0.0) != (g[i] >= 0.0);
        while (changes) {
            const double mid = lo + (b - lo)/2.0;
            bool before = true;
            if (mid <= lo || mid >= b)
                return b;
            MODEL(clocks)(mid, m->at.y, m->at.p, g);
            for (i = 0; i < MODEL_CLOCKS; i++)
                before = before && (was[i] >= 0.0) == (g[i] >= 0.0);
            if (before)
                lo = mid;
            else
                b = mid;
        }
        a = b;
    }
    return INFINITY;
}
#endif

/* The next time at which rates may jump without an event. */
static double next_jump(Instance *m)
{
    double next = INFINITY;
#if MODEL_HAS_MOMENTS
    {
        double times[MODEL_MOMENTS];
        int i;
        MODEL(moments)(m->at.t, m->at.y, m->at.p, times);
        for (i = 0; i < MODEL_MOMENTS; i++)
            if (times[i] > m->at.t)
                next = fmin(next, times[i]);
    }
#endif
#if MODEL_HAS_CLOCKS
    if (!m->clocked || m->clock <= m->at.t) {
        m->clock = clock_change(m);
        m->clocked = true;
    }
    next = fmin(next, m->clock);
#endif
    (void)m;
    return next;
}

EXPORT fmiText FMI(fmi3GetVersion)(void) { return "3.0"; }

EXPORT fmiStatus FMI(fmi3SetDebugLogging)(void *instance, bool on, size_t n, const fmiText categories[])
{
    (void)n;
    (void)categories;
    ((Instance *)instance)->logging = on;
    return fmiOK;
}

static void reset(Instance *m)
{
    const bool logging = m->logging;
    void *const environment = m->environment;
    const fmiLog log = m->log;
    memset(m, 0, sizeof *m);
    m->logging = logging;
    m->environment = environment;
    m->log = log;
    MODEL(defaults)(m->at.p);
}

EXPORT void *FMI(fmi3InstantiateModelExchange)(fmiText name, fmiText token, fmiText resources, bool visible, bool logging,
    void *environment, fmiLog log)
{
    Instance *m;
    (void)name;
    (void)resources;
    (void)visible;
    if (!token || strcmp(token, MODEL_TOKEN) != 0) {
        if (log && logging)
            log(environment, fmiError, "logStatusError", "the instantiationToken is not that of this FMU");
        return NULL;
    }
    m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->logging = logging;
    m->environment = environment;
    m->log = log;
    reset(m);
    return m;
}

EXPORT void *FMI(fmi3InstantiateCoSimulation)(fmiText name, fmiText token, fmiText resources, bool visible, bool logging,
    bool events, bool early, const fmiReference required[], size_t n, void *environment, fmiLog log, void (*update)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)required;
    (void)n, (void)environment, (void)log, (void)update;
    return NULL;
}

EXPORT void *FMI(fmi3InstantiateScheduledExecution)(fmiText name, fmiText token, fmiText resources, bool visible,
    bool logging, void *environment, fmiLog log, void (*update)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log, (void)update;
    (void)lock, (void)unlock;
    return NULL;
}

EXPORT void FMI(fmi3FreeInstance)(void *instance) { free(instance); }

EXPORT fmiStatus FMI(fmi3EnterInitializationMode)(void *instance, bool has_tolerance, double tolerance, double start,
    bool has_stop, double stop)
{
    Instance *m = instance;
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    if (m->mode != BEGUN)
        return failed(m, "the initialization is over");
    m->at.t = start;
    m->mode = INITIALIZING;
    changed(m);
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3ExitInitializationMode)(void *instance)
{
    Instance *m = instance;
    double g[MODEL_ROOTS + 1];
    int e;
    if (m->mode != INITIALIZING)
        return failed(m, "this is not the initialization");
    follow(m);
    m->mode = IN_EVENT;
    roots(m, g);
    for (e = 0; e < MODEL_EVENTS; e++) {
        m->last[e] = nextafter(m->at.t, -INFINITY);
#if MODEL_HAS_EVENTS
        if (e < MODEL_ROOTS) {
            m->side[e] = sign(g[e]);
            m->pending[e] = model_starts[e] && g[e] >= 0.0;
        }
#endif
    }
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3EnterEventMode)(void *instance)
{
    ((Instance *)instance)->mode = IN_EVENT;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3EnterContinuousTimeMode)(void *instance)
{
    Instance *m = instance;
    if (m->mode <= INITIALIZING)
        return failed(m, "the initialization is not over");
    m->mode = CONTINUOUS;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3Terminate)(void *instance)
{
    ((Instance *)instance)->mode = ENDED;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3Reset)(void *instance)
{
    reset(instance);
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3UpdateDiscreteStates)(void *instance, bool *again, bool *stop, bool *nominals, bool *values,
    bool *has_next, double *next)
{
    Instance *m = instance;
    *again = *stop = *nominals = *has_next = false;
    if (m->mode <= INITIALIZING)
        return failed(m, "the initialization is not over");
    *values = fire(m, stop);
    *next = next_jump(m);
#if MODEL_HAS_TIMES
    {
        int e;
        for (e = MODEL_ROOTS; e < MODEL_EVENTS; e++)
            *next = fmin(*next, MODEL(next_time)(e, m->last[e], m->at.y, m->at.p));
    }
#endif
    *has_next = *next < INFINITY;
    if (!*has_next)
        *next = 0.0;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3EvaluateDiscreteStates)(void *instance)
{
    (void)instance;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3CompletedIntegratorStep)(void *instance, bool no_set_before, bool *event, bool *stop)
{
    Instance *m = instance;
    (void)no_set_before;
    *event = *stop = false;
#if MODEL_HAS_ROOTS
    {
        double g[MODEL_ROOTS];
        int e;
        roots(m, g);
        for (e = 0; e < MODEL_ROOTS; e++)
            if (crossed(m, e, g))
                m->pending[e] = *event = true;
            else if (g[e] != 0.0)
                m->side[e] = sign(g[e]);
    }
#else
    (void)m;
#endif
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3SetTime)(void *instance, double time)
{
    Instance *m = instance;
    m->at.t = time;
    changed(m);
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3SetContinuousStates)(void *instance, const double states[], size_t n)
{
    Instance *m = instance;
    if (n != MODEL_STATES)
        return failed(m, "this is not the number of states");
    memcpy(m->at.y, states, n*sizeof *states);
    changed(m);
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetContinuousStates)(void *instance, double states[], size_t n)
{
    Instance *m = instance;
    if (n != MODEL_STATES)
        return failed(m, "this is not the number of states");
    follow(m);
    memcpy(states, m->at.y, n*sizeof *states);
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetNominalsOfContinuousStates)(void *instance, double nominals[], size_t n)
{
    size_t i;
    (void)instance;
    for (i = 0; i < n; i++)
        nominals[i] = 1.0;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetContinuousStateDerivatives)(void *instance, double derivatives[], size_t n)
{
    Instance *m = instance;
    size_t i;
    if (n != MODEL_STATES)
        return failed(m, "this is not the number of states");
    rates(m);
    memcpy(derivatives, m->of.rates, n*sizeof *derivatives);
    for (i = 0; i < n; i++)
        if (!isfinite(derivatives[i]))
            return fmiDiscard; /* a shorter step may not come there */
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetEventIndicators)(void *instance, double indicators[], size_t n)
{
    Instance *m = instance;
    if (n != MODEL_ROOTS + MODEL_SWITCHES)
        return failed(m, "this is not the number of event indicators");
    if (n > 0) {
        follow(m);
        roots(m, indicators);
        switches(m, indicators + MODEL_ROOTS);
    }
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetNumberOfEventIndicators)(void *instance, size_t *n)
{
    (void)instance;
    *n = MODEL_ROOTS + MODEL_SWITCHES;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetNumberOfContinuousStates)(void *instance, size_t *n)
{
    (void)instance;
    *n = MODEL_STATES;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetFloat64)(void *instance, const fmiReference refs[], size_t n, double values[], size_t n_values)
{
    size_t i;
    if (n_values != n)
        return failed(instance, "each variable has one value");
    for (i = 0; i < n; i++)
        if (get(instance, refs[i], &values[i]) != fmiOK)
            return fmiError;
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3SetFloat64)(void *instance, const fmiReference refs[], size_t n, const double values[],
    size_t n_values)
{
    size_t i;
    if (n_values != n)
        return failed(instance, "each variable has one value");
    for (i = 0; i < n; i++)
        if (set(instance, refs[i], values[i]) != fmiOK)
            return fmiError;
    return fmiOK;
}

/* The derivatives. In the initialization, values that were not set move with the params. */

static void tangent(Instance *m, Point *d, Image *to)
{
    const double *const y = m->at.y, *const p = m->at.p;
    int i;
    if (m->mode <= INITIALIZING) {
        MODEL(start_tangent)(m->at.t, y, p, d->t, d->y, d->p, to->start);
        for (i = 0; i < MODEL_VALUES; i++)
            if (!m->given[i])
                d->y[i] += to->start[i];
    }
    MODEL(rates_tangent)(m->at.t, y, p, d->t, d->y, d->p, to->rates);
    MODEL(derived_tangent)(m->at.t, y, p, d->t, d->y, d->p, to->derived);
    MODEL(root_functions_tangent)(m->at.t, y, p, d->t, d->y, d->p, to->roots);
}

static void more(Point *sum, const Point *x)
{
    int i;
    sum->t += x->t;
    for (i = 0; i < MODEL_PARAMS; i++)
        sum->p[i] += x->p[i];
    for (i = 0; i < MODEL_VALUES; i++)
        sum->y[i] += x->y[i];
}

static void adjoint(Instance *m, const Image *from, Point *bar, int groups)
{
    const double *const y = m->at.y, *const p = m->at.p;
    Point x;
    int i;
    memset(&x, 0, sizeof x);
    if (groups & 1) {
        MODEL(rates_adjoint)(m->at.t, y, p, from->rates, &x.t, x.y, x.p);
        more(bar, &x);
    }
    if (groups & 2) {
        MODEL(derived_adjoint)(m->at.t, y, p, from->derived, &x.t, x.y, x.p);
        more(bar, &x);
    }
    if (groups & 4) {
        MODEL(root_functions_adjoint)(m->at.t, y, p, from->roots, &x.t, x.y, x.p);
        more(bar, &x);
    }
    if (m->mode <= INITIALIZING) {
        double back[MODEL_VALUES + 1];
        for (i = 0; i < MODEL_VALUES; i++)
            back[i] = m->given[i] ? 0.0 : bar->y[i];
        memset(&x, 0, sizeof x);
        MODEL(start_adjoint)(m->at.t, y, p, back, &x.t, x.y, x.p);
        memset(x.y, 0, sizeof x.y);
        more(bar, &x);
    }
}

/* Where a variable stands: as what derivatives are by, or among what they are of. */
static double *known(Point *at, fmiReference r)
{
    if (r < FIRST_PARAM)
        return &at->t;
    if (r < FIRST_VALUE)
        return &at->p[r - FIRST_PARAM];
    return r < FIRST_RATE ? &at->y[r - FIRST_VALUE] : NULL;
}

static double *unknown(Point *at, Image *of, fmiReference r, int *group)
{
    if (r < FIRST_RATE)
        return known(at, r);
    if (r < FIRST_DERIVED) {
        *group |= 1;
        return &of->rates[r - FIRST_RATE];
    }
    if (r < FIRST_ROOT) {
        *group |= 2;
        return &of->derived[r - FIRST_DERIVED];
    }
    *group |= 4;
    return r < FIRST_SWITCH ? &of->roots[r - FIRST_ROOT] : NULL;
}

EXPORT fmiStatus FMI(fmi3GetDirectionalDerivative)(void *instance, const fmiReference unknowns[], size_t n_unknowns,
    const fmiReference knowns[], size_t n_knowns, const double seed[], size_t n_seed, double sensitivity[],
    size_t n_sensitivity)
{
    Instance *m = instance;
    Point d;
    Image to;
    size_t i;
    int group = 0;
    if (n_seed != n_knowns || n_sensitivity != n_unknowns)
        return failed(m, "each variable has one value");
    memset(&d, 0, sizeof d);
    memset(&to, 0, sizeof to);
    for (i = 0; i < n_knowns; i++) {
        double *const at = known(&d, knowns[i]);
        if (!at)
            return failed(m, "a derivative is by the time, params and values alone");
        *at += seed[i];
    }
    follow(m);
    tangent(m, &d, &to);
    for (i = 0; i < n_unknowns; i++) {
        const double *const at = unknown(&d, &to, unknowns[i], &group);
        if (!at)
            return failed(m, "this variable has no derivative");
        sensitivity[i] = *at;
    }
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3GetAdjointDerivative)(void *instance, const fmiReference unknowns[], size_t n_unknowns,
    const fmiReference knowns[], size_t n_knowns, const double seed[], size_t n_seed, double sensitivity[],
    size_t n_sensitivity)
{
    Instance *m = instance;
    Point bar;
    Image from;
    size_t i;
    int groups = 0;
    if (n_seed != n_unknowns || n_sensitivity != n_knowns)
        return failed(m, "each variable has one value");
    memset(&bar, 0, sizeof bar);
    memset(&from, 0, sizeof from);
    for (i = 0; i < n_unknowns; i++) {
        double *const at = unknown(&bar, &from, unknowns[i], &groups);
        if (!at)
            return failed(m, "this variable has no derivative");
        *at += seed[i];
    }
    follow(m);
    adjoint(m, &from, &bar, groups);
    for (i = 0; i < n_knowns; i++) {
        const double *const at = known(&bar, knowns[i]);
        if (!at)
            return failed(m, "a derivative is by the time, params and values alone");
        sensitivity[i] = *at;
    }
    return fmiOK;
}

/* A state of the FMU is a copy of its instance. */

EXPORT fmiStatus FMI(fmi3GetFMUState)(void *instance, void **state)
{
    if (!*state)
        *state = malloc(sizeof(Instance));
    if (!*state)
        return failed(instance, "there is no memory for the state");
    memcpy(*state, instance, sizeof(Instance));
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3SetFMUState)(void *instance, void *state)
{
    memcpy(instance, state, sizeof(Instance));
    return fmiOK;
}

EXPORT fmiStatus FMI(fmi3FreeFMUState)(void *instance, void **state)
{
    (void)instance;
    free(*state);
    *state = NULL;
    return fmiOK;
}

/* All variables are of Float64, there are no clocks, and nothing is configured: the rest of the interface. */

#define OTHER(name, ...) \
    EXPORT fmiStatus FMI(name)(void *instance, __VA_ARGS__) \
    { \
        return failed(instance, "the FMU has nothing for " #name); \
    }
#define TYPE(name, type) \
    OTHER(fmi3Get##name, const fmiReference r[] , size_t n, type v[], size_t k) \
    OTHER(fmi3Set##name, const fmiReference r[], size_t n, const type v[], size_t k)
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

TYPE(Float32, float)
TYPE(Int8, int8_t)
TYPE(UInt8, uint8_t)
TYPE(Int16, int16_t)
TYPE(UInt16, uint16_t)
TYPE(Int32, int32_t)
TYPE(UInt32, uint32_t)
TYPE(Int64, int64_t)
TYPE(UInt64, uint64_t)
TYPE(Boolean, bool)
TYPE(String, fmiText)
OTHER(fmi3GetBinary, const fmiReference r[], size_t n, size_t s[], const uint8_t *v[], size_t k)
OTHER(fmi3SetBinary, const fmiReference r[], size_t n, const size_t s[], const uint8_t *const v[], size_t k)
OTHER(fmi3GetClock, const fmiReference r[], size_t n, bool v[])
OTHER(fmi3SetClock, const fmiReference r[], size_t n, const bool v[])
OTHER(fmi3GetNumberOfVariableDependencies, fmiReference r, size_t *n)
OTHER(fmi3GetVariableDependencies, fmiReference r, size_t a[], fmiReference b[], size_t c[], int d[], size_t n)
OTHER(fmi3SerializedFMUStateSize, void *s, size_t *n)
OTHER(fmi3SerializeFMUState, void *s, uint8_t b[], size_t n)
OTHER(fmi3DeserializeFMUState, const uint8_t b[], size_t n, void **s)
OTHER(fmi3GetIntervalDecimal, const fmiReference r[], size_t n, double v[], int q[])
OTHER(fmi3GetIntervalFraction, const fmiReference r[], size_t n, uint64_t a[], uint64_t b[], int q[])
OTHER(fmi3GetShiftDecimal, const fmiReference r[], size_t n, double v[])
OTHER(fmi3GetShiftFraction, const fmiReference r[], size_t n, uint64_t a[], uint64_t b[])
OTHER(fmi3SetIntervalDecimal, const fmiReference r[], size_t n, const double v[])
OTHER(fmi3SetIntervalFraction, const fmiReference r[], size_t n, const uint64_t a[], const uint64_t b[])
OTHER(fmi3SetShiftDecimal, const fmiReference r[], size_t n, const double v[])
OTHER(fmi3SetShiftFraction, const fmiReference r[], size_t n, const uint64_t a[], const uint64_t b[])
OTHER(fmi3GetOutputDerivatives, const fmiReference r[], size_t n, const int32_t o[], double v[], size_t k)
OTHER(fmi3DoStep, double t, double h, bool n, bool *a, bool *b, bool *c, double *d)
OTHER(fmi3ActivateModelPartition, fmiReference r, double t)

EXPORT fmiStatus FMI(fmi3EnterConfigurationMode)(void *instance)
{
    return failed(instance, "the FMU has no configuration");
}

EXPORT fmiStatus FMI(fmi3ExitConfigurationMode)(void *instance)
{
    return failed(instance, "the FMU has no configuration");
}

EXPORT fmiStatus FMI(fmi3EnterStepMode)(void *instance)
{
    return failed(instance, "the FMU has no step mode");
}
