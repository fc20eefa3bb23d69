/**
 * What the server answers a second: one node and several, on each of the stores, beside a bare `node:http` server that does the
 * like without asking who calls. All servers, their stores and what makes the load run in processes of their own. They take turns in
 * short rounds, so that what else the machine does meanwhile falls on all of them. The time that a server's own processes spend on
 * a request depends less on that; on a machine where the load takes cores from the server, it is the figure to go by.
 *
 *     npm run bench -- packages/server/bench/http.bench.ts --help
 */
import { join } from 'node:path';
import process from 'node:process';
import { type Contender, startBare, startTenon, type TenonContender } from './support/contenders.ts';
import type { BenchOptions } from './support/options.ts';
import type { Defer, Progress } from './support/run.ts';
import { runBench } from './support/run-bench.ts';
import { missingStores, type StoreName, startStores } from './support/stores.ts';

const storeTitles: Readonly<Record<StoreName, string>> = { embedded: 'embedded', postgres: 'PostgreSQL, S3' };

/** How many nodes there are on some stores, and of how many processes each is. */
interface SetUp {
  readonly name: string;
  readonly nodes: number;
  readonly workers: number;
}

function setUpsOn(store: StoreName, { nodes, workers }: BenchOptions): readonly SetUp[] {
  const title = storeTitles[store];
  const alone = nodes.map((count) => {
    return { name: `${title}, ${count} ${count === 1 ? 'node' : 'nodes'}`, nodes: count, workers: 1 };
  });
  if (store !== 'embedded') return alone; // the stores of others don't care which processes are one node
  return [...alone, ...workers.map((count) => ({ name: `${title}, ${count} workers`, nodes: 1, workers: count }))];
}

/** Starts all set-ups, and the bare server, which comes first. */
async function startAll(
  options: BenchOptions,
  folder: string,
  defer: Defer,
  progress: Progress,
): Promise<readonly Contender[]> {
  const ours: TenonContender[] = [];
  for (const store of options.stores) {
    const missing = missingStores(store);
    if (missing !== false) {
      console.error(`Nothing is measured on ${storeTitles[store]}: ${missing}`);
      continue;
    }
    const stores = await startStores(store);
    defer(() => stores.stop());
    for (const { name, nodes, workers } of setUpsOn(store, options)) {
      progress.tell(`starting: ${name}`);
      const own = join(folder, `${store}-${ours.length}`);
      const environment = { TENON_WORKERS: String(workers) };
      const one = await startTenon({ name, folder: own, stores, nodes, environment });
      defer(() => one.stop());
      ours.push(one);
    }
  }
  const [model] = ours;
  if (model === undefined) throw new Error('There is nothing to measure');
  const bare = await startBare(model);
  defer(() => bare.stop());
  return [bare, ...ours];
}

await runBench(process.argv.slice(2), { base: 'node:http’s', start: startAll });
