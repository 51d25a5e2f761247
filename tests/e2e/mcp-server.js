// A server of one tool that reads nothing and says so: enough of MCP for both clients.
const lines = require('node:readline').createInterface({ input: process.stdin });
const tool = { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } };
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'probe', version: '1' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'the server was called' }] }),
};
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params ?? {}) ?? {};
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
