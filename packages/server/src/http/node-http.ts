import process from 'node:process';

/** What the server uses of `node:http`. An `import` of that module also loads `fetch` and `WebSocket`: 50 ms of every start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
