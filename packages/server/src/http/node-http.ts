import process from 'node:process';

/** An `import` of `node:http` would also load `fetch` and `WebSocket`, which adds 50 ms to each start. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
