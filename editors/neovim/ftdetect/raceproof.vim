" Neovim takes .cl for Lisp, and knows neither .ocl nor .hip.
autocmd BufNewFile,BufRead *.cl,*.ocl set filetype=opencl
autocmd BufNewFile,BufRead *.cuh set filetype=cuda
autocmd BufNewFile,BufRead *.hip set filetype=hip
