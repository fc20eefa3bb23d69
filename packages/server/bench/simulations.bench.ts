/**
 * What simulations cost others, and a publish: binding lists while 100 simulations compute without a pause, beside a server without
 * any; and a publish of a small plugin where its extension point has a simulation, beside one where it has none.
 *
 *     npm run bench -- packages/server/bench/simulations.bench.ts
 *     npm run bench -- packages/server/bench/simulations.bench.ts --seconds 10 --at-once 4
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { wat } from '../test/helpers/wat.ts';
import { startTenon, type TenonContender } from './support/contenders.ts';
import { startLoadGenerator } from './support/load.ts';
import { describeMachine } from './support/report.ts';
import { createProgress, withFolder } from './support/run.ts';
import { startStores } from './support/stores.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    publishes: { type: 'string', default: '30' },
    /** How many run at once; by default what the server's own default is. */
    'at-once': { type: 'string' },
  },
});

const simulations = 100;

/** A test module that computes for about a second. */
const busy = wat(`(module (func (export "test") (result i32) (local $n i32)
  (local.set $n (i32.const 1000000000))
  (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
  (i32.const 0)))`);

const greet = readFileSync(new URL('../sample/greet.wasm', import.meta.url));

/** A module like the sample that no publish had before. */
function freshGreet(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...greet, 0, 21, 4, ...Buffer.from('salt'), ...randomBytes(16)]);
}

type Call = (method: string, path: string, body?: object, signal?: AbortSignal) => Promise<unknown>;

function callerOf({ ports: [port], stage }: TenonContender): Call {
  return async (method, path, body, signal) => {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { ...stage.headers, 'content-type': isModule ? 'application/wasm' : 'application/json' },
      ...(body && { body: isModule ? new Uint8Array(body) : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** Keeps as many simulations in the queue until stopped. @returns how many ended */
async function simulate(call: Call, extensionPointId: string, until: AbortSignal): Promise<number> {
  let ended = 0;
  const simulation = { testModuleBase64: busy.toString('base64') };
  const path = `/extension-points/${extensionPointId}/simulations/trial`;
  const repeat = async (): Promise<void> => {
    while (!until.aborted) {
      const page = (await call('POST', path, { simulation }, until)) as { objects: readonly unknown[] };
      ended += page.objects.length;
    }
  };
  await Promise.allSettled(Array.from({ length: simulations }, repeat));
  return ended;
}

async function measureLists(server: TenonContender, call: Call): Promise<void> {
  const extensionPointId = extensionPointOf(server.stage);
  const generator = startLoadGenerator(1);
  const measure = async (name: 'a2-304' | 'a2-200') => {
    const kinds = server.kinds[name] ?? [];
    const { requestsPerSecond, latencies } = await generator.load({
      ports: server.ports,
      connections: 4,
      seconds: Number(values.seconds),
      kinds,
    });
    const [p50 = 0, p99 = 0] = [latencies.percentileMs(0.5), latencies.percentileMs(0.99)];
    return { requestsPerSecond, p50, p99 };
  };
  for (const name of ['a2-304', 'a2-200'] as const) {
    await measure(name); // warms up
    const calm = await measure(name);
    const ends = new AbortController();
    const simulating = simulate(call, extensionPointId, ends.signal);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const loaded = await measure(name);
    ends.abort();
    await simulating;
    const row = (title: string, { requestsPerSecond, p50, p99 }: typeof calm) =>
      console.log(
        `${title.padEnd(40)}${requestsPerSecond.toFixed(0).padStart(10)}/s${p50.toFixed(2).padStart(9)} ms${p99.toFixed(2).padStart(9)} ms`,
      );
    row(`${name}, no simulations`, calm);
    row(`${name}, ${simulations} simulations`, loaded);
    console.log(
      `${''.padEnd(40)}${(loaded.requestsPerSecond / calm.requestsPerSecond).toFixed(2).padStart(10)}×  ${(loaded.p50 / calm.p50).toFixed(2).padStart(8)}×  ${(loaded.p99 / calm.p99).toFixed(2).padStart(9)}×`,
    );
    if (loaded.p50 > 2 * calm.p50) process.exitCode = 1;
  }
  generator.close();
}

async function measurePublishes({ stage }: TenonContender, call: Call): Promise<void> {
  const simulation = `/extension-points/${extensionPointOf(stage)}/simulations/greets`;
  const path = stage.publish.replace('/api/v1', '').replace('{connection}', '0');
  const measure = async (title: string): Promise<number> => {
    const times: number[] = [];
    for (let count = 0; count < Number(values.publishes); count++) {
      const beganAt = performance.now();
      await call('PUT', path, freshGreet());
      times.push(performance.now() - beganAt);
      await new Promise((resolve) => setTimeout(resolve, 1_000)); // the next process starts meanwhile
    }
    times.sort((a, b) => a - b);
    const [median = 0, slow = 0] = [times[times.length >> 1], times[Math.floor(times.length * 0.9)]];
    console.log(`${title.padEnd(40)}${median.toFixed(0).padStart(10)} ms, p90 ${slow.toFixed(0)} ms`);
    return median;
  };
  const plain = await measure('publish, no simulation');
  const fixtures = [{ export: 'greet', input: 'Ada', expect: { equals: 'Hello, Ada!' } }];
  await call('PUT', simulation, { fixtures });
  const addedMs = (await measure('publish, one simulation')) - plain;
  console.log(`${'a simulation adds'.padEnd(40)}${addedMs.toFixed(0).padStart(10)} ms`);
  if (addedMs > 150) process.exitCode = 1;
  await call('DELETE', simulation);
}

function extensionPointOf({ bindings }: TenonContender['stage']): string {
  return /extension-points\/([^/]+)/.exec(bindings)?.[1] ?? '';
}

const progress = createProgress();
await withFolder(async (folder, defer) => {
  const stores = await startStores('embedded');
  defer(() => stores.stop());
  const atOnce = values['at-once'];
  const environment: Record<string, string> = atOnce === undefined ? {} : { TENON_LIMITS: `simulations=${atOnce}` };
  progress.tell('starting');
  const server = await startTenon({ name: 'tenon', folder, stores, nodes: 1, environment });
  defer(() => server.stop());
  const call = callerOf(server);
  console.log(`${describeMachine()}, load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
  await measurePublishes(server, call);
  await measureLists(server, call);
  console.log(`load average ${(loadavg()[0] ?? 0).toFixed(1)}`);
});
