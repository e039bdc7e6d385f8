// Starts `odes lsp` for models; the server does the rest.
const { window, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = async () => {
  const command = workspace.getConfiguration('odes').get('path') || 'odes';
  client = new LanguageClient('odes', 'odes', { command, args: ['lsp'] }, { documentSelector: [{ language: 'odes' }] });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(`odes: cannot start "${command} lsp" (${error.message}); set odes.path to the odes command`);
  }
};

exports.deactivate = () => client && client.stop();
