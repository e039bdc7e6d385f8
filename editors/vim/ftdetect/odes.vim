autocmd BufRead,BufNewFile *.ode setfiletype odes
