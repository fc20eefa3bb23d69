// A host that serves web requests: node src/main.ts
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { createPluginRunner } from './plugin-runner.ts';
import { readSettings } from './settings.ts';
import { createWebHost } from './web-host.ts';

const { url, token, extensionPointId, folder, port, maxAgeMs, callTimeoutMs, trace } = readSettings();
const client = createClient({ baseUrl: url, token, store: diskStore({ directory: folder }), maxAgeMs });
client.on('stale', ({ error }) =>
  console.log(`The server is unavailable (${error.code}). The cached plugins stay in use.`),
);
client.on('recover', () => console.log('The server is available again.'));
client.on('change', () => console.log('Another version is bound.'));

const runner = createPluginRunner({ timeoutMs: callTimeoutMs, trace });
const host = createWebHost(client, extensionPointId, runner);
host.listen(port, '127.0.0.1', () => {
  console.log(`Serving http://127.0.0.1:${(host.address() as AddressInfo).port}/guests/<guest key>/greet`);
});

process.once('SIGTERM', async () => {
  host.close();
  await runner.close();
  await client.close();
});
