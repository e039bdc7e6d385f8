// Starts `odes lsp` for models; the server does the rest. Two commands run `odes run` and `odes plot` on the model of
// the editor.
const { execFile } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { EventEmitter, ViewColumn, window, workspace, commands } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;
const panels = new Map(); // pictures by the file of their model

const program = () => workspace.getConfiguration('odes').get('path') || 'odes';

// model saves the model of the editor and returns its file; nothing where there is none.
async function model() {
  const document = window.activeTextEditor && window.activeTextEditor.document;
  if (!document || document.languageId !== 'odes') {
    window.showInformationMessage('odes: open a model first');
    return undefined;
  }
  if (document.isUntitled || !(await document.save())) {
    window.showInformationMessage('odes: save the model first');
    return undefined;
  }
  return document.fileName;
}

// run shows the results of a model in a terminal. The arguments reach the command as they are, without a shell.
async function run() {
  const file = await model();
  if (!file) return;
  const show = new EventEmitter();
  const close = new EventEmitter();
  let child;
  const terminal = window.createTerminal({
    name: `odes run ${path.basename(file)}`,
    pty: {
      onDidWrite: show.event,
      onDidClose: close.event,
      open: () => {
        child = execFile(program(), ['run', file], { cwd: path.dirname(file), maxBuffer: 1 << 26 }, (error, out, errors) => {
          show.fire((out + errors + (error && !errors ? `${error.message}\n` : '')).replace(/\n/g, '\r\n'));
        });
      },
      close: () => child && child.kill(),
    },
  });
  terminal.show(true);
}

// plot shows a picture of the outputs of a model beside its text.
async function plot() {
  const file = await model();
  if (!file) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'odes-'));
  const picture = path.join(folder, 'picture.html');
  const dark = window.activeColorTheme && [2, 3].includes(window.activeColorTheme.kind) ? ['--dark'] : [];
  execFile(program(), ['plot', file, '-o', picture, ...dark], { cwd: path.dirname(file) }, (error, _, errors) => {
    try {
      if (error) {
        window.showErrorMessage(`odes plot: ${(errors || error.message).trim()}`);
        return;
      }
      let panel = panels.get(file);
      if (!panel) {
        panel = window.createWebviewPanel('odes.plot', path.basename(file),
          { viewColumn: ViewColumn.Beside, preserveFocus: true }, {});
        panel.onDidDispose(() => panels.delete(file));
        panels.set(file, panel);
      }
      panel.webview.html = fs.readFileSync(picture, 'utf8');
      panel.reveal(undefined, true);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
}

exports.activate = async (context) => {
  context.subscriptions.push(commands.registerCommand('odes.run', run), commands.registerCommand('odes.plot', plot));
  const command = program();
  client = new LanguageClient('odes', 'odes', { command, args: ['lsp'] }, { documentSelector: [{ language: 'odes' }] });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`odes: cannot start "${command} lsp" (${error.message || error}); set odes.path to the odes command`);
  }
};

exports.deactivate = () => client && client.stop();
