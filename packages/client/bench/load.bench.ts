// The duration of a call in microseconds: from memory, and with revalidation.
//
//   node packages/client/bench/load.bench.ts
import { createClient } from '@tenon/client';
import { createRandom } from '../../../test/helpers/random.ts';
import { numberedModule } from '../test/helpers/numbered-module.ts';
import { openStage } from '../test/helpers/stage.ts';

const rounds = 7;
const random = createRandom(1);
const stage = await openStage();
const keys = Array.from({ length: 10 }, (_, at) => `customers/${at}`);
for (const [at, key] of keys.entries()) {
  await stage.invite(key);
  for (const name of ['greet', 'count', 'translate']) {
    await stage.publish(key, `${name}.${at}`, numberedModule(at, random, 10_000));
  }
}

const client = createClient({ baseUrl: stage.url, token: stage.token, streaming: false, maxAgeMs: 3_600_000 });
const { extensionPointId } = stage;
const address =
  Object.values((await client.getBindings({ extensionPointId, guestKey: 'customers/0' })).bindings)[0]
    ?.contentAddress ?? '';
for (const key of keys) await client.load({ extensionPointId, guestKey: key });
await client.getContent(address);
let at = 0;
const nextKey = (): string => keys[at++ % keys.length] ?? '';

console.log('microseconds a call: the median of rounds, the fastest, the slowest\n');
await measure('load(): the newest of three, compiled', 50_000, () =>
  client.load({ extensionPointId, guestKey: nextKey() }),
);
await measure('load() by its name', 50_000, () =>
  client.load({ extensionPointId, guestKey: 'customers/0', name: 'greet.0' }),
);
await measure('getBindings()', 50_000, () => client.getBindings({ extensionPointId, guestKey: nextKey() }));
await measure('getContent(): a copy of 10 KB', 20_000, () => client.getContent(address));
await measure('for comparison: an async function', 50_000, async () => at++);
await measure('load() with revalidation: 304', 1_000, () =>
  client.load({ extensionPointId, guestKey: nextKey() }, { maxAgeMs: 0 }),
);
const headers = { authorization: `Bearer ${stage.token}` };
const url = `${stage.url}/api/v1/extension-points/${extensionPointId}/bindings/customers%2F0`;
const etag = (await fetch(url, { headers })).headers.get('etag') ?? '';
await measure('for comparison: fetch() of that 304', 1_000, async () =>
  (await fetch(url, { headers: { ...headers, 'if-none-match': etag } })).arrayBuffer(),
);
await client.close();
await stage.close();

async function measure(name: string, calls: number, call: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startedMs = performance.now();
    for (let done = 0; done < calls; done++) await call();
    if (round > 0) times.push(((performance.now() - startedMs) * 1000) / calls);
  }
  times.sort((a, b) => a - b);
  const [fastest = 0, median = 0, slowest = 0] = [times[0], times[times.length >> 1], times.at(-1)];
  console.log(`${[median, fastest, slowest].map((us) => us.toFixed(2).padStart(9)).join(' ')}  ${name}`);
}
