// A conversation with the server through the protocol library of the extension's client: node test/conversation.js PROGRAM.
// Says `ok` at the end, or why not.

const { spawn } = require('child_process');
const assert = require('assert');
const {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  InitializeRequest,
  InitializedNotification,
  DidOpenTextDocumentNotification,
  DidChangeTextDocumentNotification,
  DocumentDiagnosticRequest,
  DocumentDiagnosticReportKind,
  CodeActionRequest,
  CodeLensRequest,
  HoverRequest,
  ShutdownRequest,
  ExitNotification,
} = require('vscode-languageserver-protocol/node');

const TEXT = `__global__ void halves(float *y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() { halves<<<1, 64>>>(0); }
`;

function applied(text, edits) {
  const lines = text.split('\n');
  const offset = (at) => lines.slice(0, at.line).reduce((sum, line) => sum + line.length + 1, 0) + at.character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce((now, edit) => now.slice(0, offset(edit.range.start)) + edit.newText + now.slice(offset(edit.range.end)), text);
}

async function main() {
  const child = spawn(process.argv[2], ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const server = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  server.listen();
  const { capabilities } = await server.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    workspaceFolders: null,
    capabilities: { textDocument: { diagnostic: { relatedDocumentSupport: true } } },
  });
  assert(capabilities.diagnosticProvider && capabilities.codeActionProvider && capabilities.hoverProvider);
  await server.sendNotification(InitializedNotification.type, {});
  const uri = 'file:///kernels/a.cu';
  const textDocument = { uri };
  await server.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'cuda-cpp', version: 1, text: TEXT },
  });
  const found = await server.sendRequest(DocumentDiagnosticRequest.type, { textDocument });
  assert.strictEqual(found.kind, DocumentDiagnosticReportKind.Full);
  assert.deepStrictEqual(found.items.map((item) => [item.code, item.range.start.line]), [['data-race', 2]]);
  const lenses = await server.sendRequest(CodeLensRequest.type, { textDocument });
  assert(lenses[0].command.title.startsWith('racy'), JSON.stringify(lenses));
  const hover = await server.sendRequest(HoverRequest.type, { textDocument, position: { line: 2, character: 3 } });
  assert(hover.contents.value.includes('write to tile'), JSON.stringify(hover));
  const actions = await server.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: found.items[0].range,
    context: { diagnostics: found.items },
  });
  const fix = actions.find((action) => action.isPreferred);
  assert(fix, JSON.stringify(actions));
  await server.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges: [{ text: applied(TEXT, fix.edit.changes[uri]) }],
  });
  const mended = await server.sendRequest(DocumentDiagnosticRequest.type, { textDocument });
  assert.deepStrictEqual(mended.items, []);
  await server.sendRequest(ShutdownRequest.type);
  await server.sendNotification(ExitNotification.type);
  await new Promise((resolve) => child.on('exit', resolve));
  assert.strictEqual(child.exitCode, 0);
  console.log('ok');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
