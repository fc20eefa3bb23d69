// Serves a data folder: `node serve-child.ts <folder> [port]`. Tells its URL in a line on standard output.
import process from 'node:process';
import { loadConfig, serveUntilStopped } from '../../src/index.ts';

const [dataDir, port = '0'] = process.argv.slice(2);
await serveUntilStopped(loadConfig({ dataDir, port }), ({ url }) => console.log(url));
console.log('closed');
