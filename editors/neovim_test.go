package editors

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNeovim: what docs/editors.md tells people to write starts the server in a real Neovim, which shows its errors,
// formats with it, and finds names. It needs nvim in the path.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("there is no nvim in the path")
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "editors.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## Neovim")
	_, rest, _ = strings.Cut(rest, "```lua\n")
	config, _, found := strings.Cut(rest, "```")
	here, err := filepath.Abs("vim")
	if err != nil || !found {
		t.Fatal(err, config)
	}
	config = strings.Replace(config, "/path/to/odes/editors/vim", filepath.ToSlash(here), 1)
	dir := t.TempDir()
	run := func(env []string, name string, args ...string) string {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run(nil, "go", "build", "-o", filepath.Join(dir, "odes"), "../cmd/odes")
	const script = `
local report = io.open(os.getenv('ODES_REPORT'), 'w')
local function await(what, test)
  report:write(what, ' ', tostring(vim.wait(60000, test, 50)), '\n')
end
await('attached', function() return next(vim.lsp.buf_get_clients(0)) ~= nil end)
await('errors', function() return #vim.diagnostic.get(0) == 1 end)
report:write('says ', vim.diagnostic.get(0)[1].message, '\n')
vim.api.nvim_buf_set_lines(0, 2, 3, false, { "x'=-x" })
await('mended', function() return #vim.diagnostic.get(0) == 0 end)
if vim.lsp.buf.format then vim.lsp.buf.format() else vim.lsp.buf.formatting_sync(nil, 30000) end
report:write('line ', vim.api.nvim_buf_get_lines(0, 2, 3, false)[1], '\n')
local found = vim.lsp.buf_request_sync(0, 'workspace/symbol', { query = 'x' }, 30000)
for _, answer in pairs(found) do report:write('symbols ', #answer.result, '\n') end
report:write('syntax ', vim.bo.filetype, ' ', vim.b.current_syntax or '', '\n')
report:close()
vim.cmd('qa!')
`
	for name, text := range map[string]string{
		"init.lua": config, "script.lua": script, "m.ode": "time t from 0 to 1\nstate x = 1\nx' = -y\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report := filepath.Join(dir, "report")
	env := []string{
		"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "ODES_REPORT=" + report,
		"XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_CACHE_HOME=" + dir,
	}
	said := run(env, nvim, "--headless", "-n", "-u", filepath.Join(dir, "init.lua"), "-c", "syntax on",
		filepath.Join(dir, "m.ode"), "-c", "luafile "+filepath.Join(dir, "script.lua"))
	got, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err, said)
	}
	for _, want := range []string{
		"attached true\n", "errors true\n", `says "y" is not defined`, "mended true\n", "line x' = -x\n", "symbols 2\n",
		"syntax odes odes\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s\n%s", want, got, said)
		}
	}
}
