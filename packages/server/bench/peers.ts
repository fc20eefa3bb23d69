/**
 * What the server answers a second beside others that people serve such things from: Verdaccio, from the npm registry, and the OCI
 * distribution registry, from Debian. Each is got for this alone, into a folder that is removed afterwards; one that can't be had is
 * left out. They are asked without credentials, ours with a token.
 *
 *     npm run bench -- peers [--quick] [--only <case>] [--json]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { CaseName } from './support/cases.ts';
import { type Contender, startTenon } from './support/contenders.ts';
import { ociRegistry } from './support/oci-registry.ts';
import type { BenchOptions } from './support/options.ts';
import type { Defer, Progress } from './support/run.ts';
import { runBench } from './support/run-bench.ts';
import { startStores } from './support/stores.ts';
import { verdaccio } from './support/verdaccio.ts';

/** What is the like of what. */
const titles: Readonly<Partial<Record<CaseName, string>>> = {
  'a2-304': '304: a binding list, a package’s metadata, a manifest, none of which has changed',
  'a2-200': '200: the same, whole',
  'a3-64k': '64 KiB: a plugin, a tarball, a blob',
  'a3-1m': '1 MiB',
};

async function startAll(
  _options: BenchOptions,
  folder: string,
  defer: Defer,
  progress: Progress,
): Promise<readonly Contender[]> {
  const stores = await startStores('embedded');
  progress.tell('starting: Tenon');
  const ours = await startTenon({ name: 'Tenon, authenticated', folder: join(folder, 'tenon'), stores, nodes: 1 });
  defer(() => ours.stop());
  const started: Contender[] = [ours];
  for (const { name, start } of [verdaccio, ociRegistry]) {
    progress.tell(`getting ${name}`);
    const own = join(folder, name);
    mkdirSync(own);
    try {
      const peer = await start(own);
      defer(() => peer.stop());
      started.push(peer);
    } catch (error) {
      progress.clear();
      console.error(`${name} can't be had here: ${error instanceof Error ? error.message : error}`);
    }
  }
  return started;
}

await runBench(process.argv.slice(2), { base: 'Tenon’s', titles, start: startAll });
