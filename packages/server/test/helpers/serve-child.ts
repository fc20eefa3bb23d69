// Serves a data folder: `node serve-child.ts <folder> [port]`, and writes its URL to standard output. SERVE_CONSTANTS changes values of
// the configuration that no setting changes, as JSON.
import process from 'node:process';
import { loadConfig, serveUntilStopped } from '../../src/index.ts';

const [dataDir, port = '0'] = process.argv.slice(2);
const constants = JSON.parse(process.env.SERVE_CONSTANTS ?? '{}');
await serveUntilStopped({ ...loadConfig({ dataDir, port }), ...constants }, ({ url }) => console.log(url));
console.log('closed');
