// How long a host takes to load one plugin for each of 1,000 guests: from the server, from its disk, and without a server.
//
//   node packages/client/bench/cold-start.bench.ts
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClientOptions, createClient } from '@tenon/client';
import { diskStore } from '@tenon/client/disk';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from '../test/helpers/numbered-module.ts';
import { openStage } from '../test/helpers/stage.ts';

const guests = 1_000;
const moduleBytes = 10_000;
const rounds = 3;

const random = createRandom(1);
const stage = await openStage();
const keys = Array.from({ length: guests }, (_, at) => `customers/${at}`);
for (const [at, key] of keys.entries()) {
  await stage.invite(key);
  await stage.publish(key, `plugin.${at}`, numberedModule(at, random, moduleBytes));
}
const directory = await mkdtemp(join(tmpdir(), 'tenon-bench-'));

console.log(
  `${guests} guest keys with a module of ${moduleBytes} bytes each; until all are compiled. Median of ${rounds}, ms\n`,
);
await measure('one after the other', 1, {});
await measure('8 at a time', 8, {});
await measure('32 at a time', 32, {});
await measure('32 at a time, and kept on disk', 32, { fresh: true });
await measure('from disk, while the server confirms', 32, { disk: true });
await measure('from disk, offline', 32, { disk: true, offline: true });
await rm(directory, { recursive: true, force: true });
await stage.close();

async function measure(
  name: string,
  concurrency: number,
  { fresh = false, disk = false, offline = false }: { fresh?: boolean; disk?: boolean; offline?: boolean },
): Promise<void> {
  const times: number[] = [];
  const requests: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (fresh) await rm(directory, { recursive: true, force: true });
    const store: Partial<ClientOptions> = fresh || disk ? { store: diskStore({ directory }) } : {};
    const client = createClient({ baseUrl: stage.url, token: stage.token, streaming: false, offline, ...store });
    let asked = 0;
    client.on('response', () => asked++);
    const startedMs = performance.now();
    const wanted = keys.map((guestKey) => ({ extensionPointId: stage.extensionPointId, guestKey }));
    const { failures } = await client.warmUp(wanted, { concurrency });
    times.push(performance.now() - startedMs);
    requests.push(asked);
    if (failures[0] !== undefined) throw failures[0].error;
    await client.close();
  }
  const median = times.sort((a, b) => a - b)[rounds >> 1] ?? 0;
  console.log(`${median.toFixed(0).padStart(8)}  ${name}; ${requests[0]} requests`);
}
