-- Starts the language server for CUDA, HIP and OpenCL. Neovim 0.11 does so by itself; older ones (from 0.7) are told here.
if vim.lsp.enable then
  vim.lsp.enable('raceproof')
  return
end

local file = vim.api.nvim_get_runtime_file('lsp/raceproof.lua', false)[1]
local config = dofile(file)
local clients = {}

local function root_of(buffer)
  local directory = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':p:h')
  for _, marker in ipairs(config.root_markers) do
    local found = vim.fn.finddir(marker, directory .. ';')
    found = found ~= '' and found or vim.fn.findfile(marker, directory .. ';')
    if found ~= '' then
      return vim.fn.fnamemodify(found, ':p:h' .. (found:sub(-1) == '/' and ':h' or ''))
    end
  end
  return directory
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = config.filetypes,
  callback = function(event)
    local root = root_of(event.buf)
    clients[root] = clients[root] or vim.lsp.start_client({
      name = 'raceproof',
      cmd = config.cmd,
      root_dir = root,
      init_options = config.init_options,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      on_exit = function() clients[root] = nil end,
    })
    if clients[root] then
      vim.lsp.buf_attach_client(event.buf, clients[root])
    end
  end,
})
