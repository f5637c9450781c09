// Starts `raceproof lsp` for CUDA, HIP and OpenCL. What is shown is the server's; nothing is decided here.

import { commands, ExtensionContext, window, workspace } from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

/** The languages of the files that are checked. */
const LANGUAGES = ['cuda-cpp', 'cuda', 'hip', 'opencl'];

let client: LanguageClient | undefined;

function settings(): object {
  const all = workspace.getConfiguration('raceproof');
  return {
    codeLens: all.get('codeLens'),
    workspace: all.get('workspace'),
    inlayHints: all.get('inlayHints'),
  };
}

function start(): LanguageClient {
  const all = workspace.getConfiguration('raceproof');
  const server: ServerOptions = {
    command: all.get<string>('path') ?? 'raceproof',
    args: ['lsp', ...(all.get<string[]>('arguments') ?? [])],
  };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.flatMap((language) => [
      { language, scheme: 'file' },
      { language, scheme: 'untitled' },
    ]),
    initializationOptions: settings(),
    synchronize: { configurationSection: 'raceproof' },
  };
  const started = new LanguageClient('raceproof', 'raceproof', server, options);
  started.start().catch((error: unknown) => {
    window.showErrorMessage(`raceproof cannot be started: ${String(error)}. Set raceproof.path, or install it.`);
  });
  return started;
}

export function activate(context: ExtensionContext): void {
  client = start();
  context.subscriptions.push(
    commands.registerCommand('raceproof.restart', async () => {
      await client?.stop();
      client = start();
    }),
    workspace.onDidChangeConfiguration((event) => {
      // What is on the command line counts from the next start.
      if (event.affectsConfiguration('raceproof.path') || event.affectsConfiguration('raceproof.arguments')) {
        void commands.executeCommand('raceproof.restart');
      }
    }),
  );
}

export function deactivate(): Thenable<void> | undefined {
  return client?.stop();
}
