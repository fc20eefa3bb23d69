/**
 * What it costs to trace requests: a node that doesn't, one that traces a hundredth of them, and one that traces all, in turns and
 * beside a collector that takes everything.
 *
 *     npm run bench -- packages/server/bench/tracing.bench.ts --only a2-304
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { type Contender, startTenon } from './support/contenders.ts';
import type { BenchOptions } from './support/options.ts';
import type { Defer } from './support/run.ts';
import { runBench } from './support/run-bench.ts';
import { startStores } from './support/stores.ts';

const ratioOf = (share: string) => ({ OTEL_TRACES_SAMPLER_ARG: share });

async function startCollector() {
  const server = createServer((message, response) => {
    message.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close().closeAllConnections() };
}

async function startAll(_options: BenchOptions, folder: string, defer: Defer): Promise<readonly Contender[]> {
  const collector = await startCollector();
  defer(() => collector.close());
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const contenders: Contender[] = [];
  for (const [name, environment] of [
    ['none is traced', {}],
    ['1 % are traced', { ...endpoint, ...ratioOf('0.01') }],
    ['all are traced', { ...endpoint, ...ratioOf('1') }],
  ] as const) {
    const stores = await startStores('embedded');
    const one = await startTenon({ name, folder: join(folder, name.slice(0, 3)), stores, nodes: 1, environment });
    defer(() => one.stop());
    contenders.push(one);
  }
  return contenders;
}

await runBench(process.argv.slice(2), { base: 'the server’s that traces none', start: startAll });
