// Tests the installed extension in a real editor: what a user sees of it in one session. CONTRIBUTING.md says how to run
// it; it is no part of CI, since the editor is large. The folder that is open is empty. The result is the file
// result.json in it.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const model = "time t from 0 to 1\nparam k = 1\nstate x=1\nx' = -k*x\n" +
  'event low when x <= 0.5 { x = 1 }\nobjective J = final(x)\n';

// until waits for what a condition returns, if that is not false or empty.
async function until(what, condition) {
  for (let k = 0; k < 300; k++) {
    const value = await condition();
    if (value && value.length !== 0) return value;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`${what} does not come`);
}

const ask = (name, ...rest) => vscode.commands.executeCommand(name, ...rest);
const labels = (items) => items.map((i) => (typeof i.label === 'string' ? i.label : i.label.label));

async function session(folder) {
  const write = (name, text) => {
    fs.writeFileSync(path.join(folder, name), text);
    return vscode.workspace.openTextDocument(path.join(folder, name));
  };
  const wrong = await write('wrong.ode', model.replace('-k*x', '-kk*x'));
  await vscode.window.showTextDocument(wrong);
  assert.equal(wrong.languageId, 'odes');
  const errors = await until('an error', () => vscode.languages.getDiagnostics(wrong.uri));
  assert.match(errors[0].message, /"kk" is not defined/);

  const doc = await write('m.ode', model);
  const editor = await vscode.window.showTextDocument(doc);
  const at = new vscode.Position(2, 6); // the name of the state
  const hover = await until('a hover', () => ask('vscode.executeHoverProvider', doc.uri, at));
  assert.match(hover[0].contents[0].value, /state x/);
  const symbols = await ask('vscode.executeDocumentSymbolProvider', doc.uri);
  assert.ok(symbols.some((s) => s.name === 'low'));
  const everywhere = await ask('vscode.executeWorkspaceSymbolProvider', 'low');
  assert.ok(everywhere.some((s) => s.name === 'low'));
  const renamed = await ask('vscode.executeDocumentRenameProvider', doc.uri, at, 'y');
  assert.equal(renamed.entries()[0][1].length, 6);
  const style = { tabSize: 4, insertSpaces: true };
  assert.ok((await ask('vscode.executeFormatDocumentProvider', doc.uri, style)).length > 0);
  assert.ok((await ask('vscode.executeFormatRangeProvider', doc.uri, new vscode.Range(2, 0, 3, 0), style)).length > 0);

  await editor.edit((e) => e.insert(new vscode.Position(6, 0), 'objective K = at_event('));
  const { items } = await ask('vscode.executeCompletionItemProvider', doc.uri, new vscode.Position(6, 23), '(');
  items.sort((a, b) => ((a.sortText || labels([a])[0]) < (b.sortText || labels([b])[0]) ? -1 : 1));
  assert.equal(labels(items)[0], 'low'); // the event
  await ask('undo');

  await ask('odes.plot');
  await until('a picture', () => vscode.window.tabGroups.all.flatMap((g) => g.tabs)
    .filter((tab) => tab.input instanceof vscode.TabInputWebview));
  await vscode.window.showTextDocument(doc, vscode.ViewColumn.One);
  await ask('odes.run');
  await until('a terminal', () => vscode.window.terminals);
}

exports.run = async () => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  let result = { passed: true, version: vscode.version };
  try {
    await session(folder);
  } catch (e) {
    result = { passed: false, version: vscode.version, error: String(e.stack) };
  }
  fs.writeFileSync(path.join(folder, 'result.json'), `${JSON.stringify(result)}\n`);
  if (!result.passed) throw new Error(result.error);
};
