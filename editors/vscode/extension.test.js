// Runs the extension in Node.js, with a stand-in for the editor and the real client library's protocol and odes command:
// node --test. The command must be in the path.
const { test } = require('node:test');
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const rpc = require('vscode-jsonrpc/node');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'odes-test-'));
const file = path.join(folder, 'm.ode');
fs.writeFileSync(file, "time t from 0 to 1\nstate x = 1\nx' = -x\nobjective J = final(x)\n");

// editor stands in for the module vscode, and notes what the extension does with it.
const editor = { registered: {}, messages: [], panels: [], written: '', saved: 0 };
class EventEmitter {
  constructor() { this.event = (listener) => { this.listener = listener; }; }
  fire(value) { if (this.listener) this.listener(value); }
}
const note = (text) => { editor.messages.push(text); };
const vscode = {
  EventEmitter,
  ViewColumn: { Beside: -2 },
  workspace: { getConfiguration: () => ({ get: () => 'odes' }) },
  commands: { registerCommand: (name, f) => { editor.registered[name] = f; return { dispose() {} }; } },
  window: {
    showErrorMessage: note,
    showInformationMessage: note,
    activeColorTheme: { kind: 2 },
    createWebviewPanel: () => {
      const panel = { webview: { html: '' }, onDidDispose() {}, reveal() {} };
      editor.panels.push(panel);
      return panel;
    },
    createTerminal: ({ pty }) => ({ show() { pty.onDidWrite((s) => { editor.written += s; }); pty.open(); } }),
  },
};
class LanguageClient {
  constructor(id, name, server, client) { Object.assign(this, { server, client }); editor.client = this; }
  async start() { this.started = true; }
  async stop() { this.stopped = true; }
}
const load = Module._load;
Module._load = (name, ...rest) => {
  if (name === 'vscode') return vscode;
  if (name === 'vscode-languageclient/node') return { LanguageClient };
  return load(name, ...rest);
};
const extension = require('./extension.js');

async function until(what, condition) {
  for (let k = 0; k < 600; k++) {
    if (condition()) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail(`${what}: ${JSON.stringify(editor.messages)}`);
}

test('it starts the server for models, and has its commands', async () => {
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(editor.client.server, { command: 'odes', args: ['lsp'] });
  assert.deepStrictEqual(editor.client.client.documentSelector, [{ language: 'odes' }]);
  assert.deepStrictEqual(Object.keys(editor.registered).sort(), ['odes.plot', 'odes.run']);
});

test('without a model the commands say so', async () => {
  await editor.registered['odes.run']();
  await editor.registered['odes.plot']();
  assert.deepStrictEqual(editor.messages.splice(0), ['odes: open a model first', 'odes: open a model first']);
});

test('a model runs and is drawn, once saved', async () => {
  const document = { languageId: 'odes', fileName: file, save: async () => { editor.saved++; return true; } };
  vscode.window.activeTextEditor = { document };
  await editor.registered['odes.run']();
  await until('run', () => editor.written.includes('J'));
  assert.ok(editor.written.includes('\r\n'));
  await editor.registered['odes.plot']();
  await until('plot', () => editor.panels.length === 1 && editor.panels[0].webview.html.includes('<svg'));
  await editor.registered['odes.plot']();
  await new Promise((done) => setTimeout(done, 500));
  assert.strictEqual(editor.panels.length, 1);
  assert.strictEqual(editor.saved, 3);
  fs.writeFileSync(file, 'time t from (\n');
  await editor.registered['odes.plot']();
  await until('error', () => editor.messages.some((m) => m.startsWith('odes plot: ') && m.includes('error')));
});

test('the server speaks the protocol of the client library', async () => {
  const child = spawn('odes', ['lsp']);
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(child.stdout), new rpc.StreamMessageWriter(child.stdin));
  connection.listen();
  const answer = await connection.sendRequest('initialize', { processId: null, rootUri: null, capabilities: {} });
  for (const name of ['workspaceSymbolProvider', 'documentRangeFormattingProvider', 'hoverProvider']) {
    assert.strictEqual(answer.capabilities[name], true);
  }
  await connection.sendRequest('shutdown');
  await connection.sendNotification('exit');
  await until('exit', () => child.exitCode === 0);
  connection.dispose();
  await extension.deactivate();
  assert.ok(editor.client.stopped);
});
