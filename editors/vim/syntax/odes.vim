" Vim syntax file of odes models; written by editors_test.go.
if exists("b:current_syntax")
  finish
endif

syn case match
syn keyword odesItem alg assert const constraint control data discrete ensemble equilibrate event experiment fit
syn keyword odesItem fn import invariant let model objective observe output param reaction sample sens
syn keyword odesItem simulate solver state time unit use
syn keyword odesWord at else elseif end every for if in return stop then when
syn keyword odesOperatorWord and as crosses not or
syn keyword odesConstant true false pi inf nan
syn match odesOther "\<\%(by\|constant\|count\|delay\|doses\|down\|from\|linear\|mass\|on\|once\|past\|pending\|persistent\|piecewise\|priority\|random\|rate\|start\|to\|tol\|up\|values\|where\|with\)\>\ze\s\+[^= \t]"
syn match odesFunction "\<\%(abs\|acos\|acosh\|asin\|asinh\|at_event\|at_trigger\|atan\|atan2\|atanh\|beta\|cauchy\|cbrt\|ceil\|clamp\|cols\|cos\|cosh\|csv\|delay\)\>\ze("
syn match odesFunction "\<\%(diag\|dot\|erf\|erfc\|event_time\|exp\|expm1\|exponential\|eye\|final\|floor\|gamma\|grid\|half_cauchy\|half_normal\|hypot\|initial\|integral\|interp\|inverse_gamma\)\>\ze("
syn match odesFunction "\<\%(laplace\|lgamma\|lkj\|load\|log\|log10\|log1p\|log_prior\|loglaplace\|lognormal\|logspace\|mass_action\|max\|max_over\|mean\|min\|mod\|negbin\|nll\|noevent\)\>\ze("
syn match odesFunction "\<\%(norm\|normal\|ones\|outer\|poisson\|post\|pre\|prod\|rand\|randn\|round\|rows\|sigmoid\|sign\|sin\|sinh\|smoothstep\|sqrt\|steady\|step\)\>\ze("
syn match odesFunction "\<\%(steps\|student\|sum\|sum_at\|tan\|tanh\|transpose\|trunc\|uniform\|wrap\|zeros\)\>\ze("
syn match odesNumber "\<\d\+\.\=\d*\%([eE][-+]\=\d\+\)\=" nextgroup=odesUnit skipwhite
syn match odesNumber "\.\d\+\%([eE][-+]\=\d\+\)\=" nextgroup=odesUnit skipwhite
syn match odesUnit "\[[^\]]*\]" contained
syn match odesUnit "\]\s\+\zs\[[^\]]*\]"
syn match odesColon ":\ze\s*\[" nextgroup=odesUnit skipwhite
syn match odesDerivative "'"
syn match odesQuoted "`[^`]*`"
syn region odesString start=+"+ skip=+\\.+ end=+"+ oneline
syn match odesComment "#.*$" contains=odesTodo
syn match odesDoc "##\%(#\)\@!.*$"
syn keyword odesTodo TODO FIXME contained

hi def link odesItem Statement
hi def link odesWord Keyword
hi def link odesOther Keyword
hi def link odesOperatorWord Operator
hi def link odesConstant Constant
hi def link odesFunction Function
hi def link odesNumber Number
hi def link odesUnit Type
hi def link odesDerivative Special
hi def link odesQuoted Identifier
hi def link odesString String
hi def link odesComment Comment
hi def link odesDoc SpecialComment
hi def link odesTodo Todo

let b:current_syntax = "odes"
