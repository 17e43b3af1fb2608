// Starts `gpulint lsp` and leaves the rest to it.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const command = vscode.workspace.getConfiguration("gpulint").get("path").replace("${workspaceFolder}", folder);
  const files = { documentSelector: [{ scheme: "file" }] };
  client = new LanguageClient("gpulint", "gpulint", { command, args: ["lsp"] }, files);
  return client.start().catch((error) =>
    vscode.window.showErrorMessage(`gpulint does not start (${command}): ${error.message ?? error}. See the setting gpulint.path.`)
  );
}

async function restart() {
  await client?.dispose();
  await start();
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("gpulint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("gpulint.path") && restart())
  );
  return start();
};

exports.deactivate = () => client?.dispose();
