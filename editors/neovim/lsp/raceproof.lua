-- The language server of raceproof, as `vim.lsp.config` and nvim-lspconfig have it.
return {
  cmd = { 'raceproof', 'lsp' },
  filetypes = { 'cuda', 'hip', 'opencl' },
  root_markers = { 'raceproof.toml', 'compile_commands.json', '.git' },
  -- What can be set: notes at the ends of lines, verdicts above kernels, all files of the project in the background.
  init_options = {
    inlayHints = { intervals = false, contracts = false },
    codeLens = true,
    workspace = true,
  },
}
