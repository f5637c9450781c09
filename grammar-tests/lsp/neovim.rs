//! Neovim with the plugin of `editors/neovim`: opens racy files, hears of the races, applies the fix, and they are gone.
//!
//! `RACEPROOF_NVIM` names the program, or it is the one on the PATH; `scripts/test` installs it.

use super::real::{CUDA, OPENCL};
use crate::cli::Place;
use crate::support::tools::{self, path, program};
use std::process::Command;

/// What Neovim does: its findings, before and behind the fix, are written line by line.
const SCRIPT: &str = r"
local out = assert(io.open('seen.txt', 'w'))
local function findings()
  local all = {}
  for _, it in ipairs(vim.diagnostic.get(0)) do
    table.insert(all, string.format('%d %s %s', it.lnum, it.source, it.message:match('^[^\n]*')))
  end
  return all
end
local function wait(what, holds)
  if not vim.wait(60000, holds, 20) then out:write('waited in vain for ' .. what .. '\n') end
end
vim.cmd('edit a.cu')
wait('the race', function() return #findings() == 1 end)
out:write(vim.bo.filetype .. ' ' .. table.concat(findings(), '|') .. '\n')
local client = vim.lsp.get_active_clients()[1]
local params = vim.lsp.util.make_given_range_params({ 3, 0 }, { 3, 10 })
params.context = { diagnostics = {} }
local answer = client.request_sync('textDocument/codeAction', params, 60000, 0)
vim.lsp.util.apply_workspace_edit(answer.result[1].edit, client.offset_encoding)
wait('the end of the race', function() return #findings() == 0 end)
out:write(table.concat(vim.api.nvim_buf_get_lines(0, 3, 4, false)) .. '\n')
out:write(#findings() .. '\n')
vim.cmd('edit b.cl')
wait('the race of OpenCL', function() return #findings() == 1 end)
out:write(vim.bo.filetype .. ' ' .. table.concat(findings(), '|') .. '\n')
out:close()
vim.cmd('qall!')
";

#[test]
fn neovim_shows_a_race_and_the_fix_ends_it() {
    let Some(neovim) = tools::used("nvim", || program("RACEPROOF_NVIM", "nvim").ok_or(())) else { return };
    let files = [("a.cu", CUDA), ("b.cl", OPENCL), ("script.lua", SCRIPT), ("raceproof.toml", "")];
    let place = Place::with(&files);
    let plugin = format!("set runtimepath^={}/editors/neovim", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(neovim);
    command.args(["--headless", "--clean", "--cmd", &plugin, "-c", "luafile script.lua"]).current_dir(place.path());
    command.env("PATH", path()).env("RACEPROOF_NO_CACHE", "1");
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, place.path());
    }
    let ran = command.output().unwrap();
    let seen = std::fs::read_to_string(place.path().join("seen.txt")).unwrap_or_default();
    let lines: Vec<&str> = seen.lines().collect();
    let said = format!("{seen}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(lines.len() == 4, "{said}");
    assert!(lines[0].starts_with("cuda 2 raceproof data race on tile"), "{said}");
    assert!(lines[1].contains("__syncthreads();") && lines[2] == "0", "{said}");
    assert!(lines[3].starts_with("opencl 0 raceproof race between writes of the same value on y"), "{said}");
}
