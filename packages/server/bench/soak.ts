/**
 * Whether memory levels off: one server with default settings on the embedded store under a steady load of everything that it does, for
 * as long as asked. Samples of its process go to a CSV file, and the verdict to standard output. The load is light: the machine stays usable.
 *
 *     npm run bench -- soak --minutes 60 --out soak.csv
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { App, ExtensionPoint } from '@tenon/protocol';
import { createSetUpLink, loadConfig, openData } from '../src/index.ts';
import { type Node, startNode } from './support/nodes.ts';
import { withFolder } from './support/run.ts';
import { addKeys, addPublishers, keyPrefix, openSqliteTarget } from './support/scale-data.ts';
import { type Counts, runSoak, type SoakTarget } from './support/soak-load.ts';
import { describeSoak, readSamples } from './support/soak-verdict.ts';
import { makeUser, setStage } from './support/stage.ts';

const help = `Usage: npm run bench -- soak [options]

  --minutes <n>   how long (60)
  --keys <n>      guest keys whose lists are asked for (40000: more than the answer cache holds)
  --lists <n>     lists a second (80)
  --sample <n>    seconds between samples (15)
  --out <file>    the samples as CSV (soak.csv)
`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    minutes: { type: 'string', default: '60' },
    keys: { type: 'string', default: '40000' },
    lists: { type: 'string', default: '80' },
    sample: { type: 'string', default: '15' },
    out: { type: 'string', default: 'soak.csv' },
  },
});

/** Makes an account with a password, an application with plugins, and many guest keys with lists. */
async function prepare(folder: string, dataDir: string, keys: number): Promise<Omit<SoakTarget, 'port'>> {
  const user = await makeUser(loadConfig({ dataDir }, {}));
  const data = await openData(loadConfig({ dataDir }, {}));
  const { code } = await createSetUpLink(data.deps, false);
  await data.close();
  const account = { email: 'soak@example.org', password: randomBytes(12).toString('base64url') };
  const node = await startNode({ folder: join(folder, 'filling'), dataDir, environment: {} });
  try {
    const stage = await setStage(node.port, user);
    const fields = { ...stage.headers, 'content-type': 'application/json' };
    const post = async (path: string, body: object, headers: Readonly<Record<string, string>> = fields) => {
      const url = `http://localhost:${node.port}${path}`;
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    };
    const origin = { origin: `http://localhost:${node.port}`, 'content-type': 'application/json' };
    await post('/session/sign-up', { name: 'soak', ...account, linkCode: code }, origin);
    const { id: appId } = (await post('/api/v1/apps', { name: 'lists' })) as App;
    const made = await post(`/api/v1/apps/${appId}/extension-points`, { name: 'lists' });
    const { id: extensionPointId } = made as ExtensionPoint;
    const target = openSqliteTarget(join(dataDir, 'tenon.db'));
    const place = { appId, extensionPointId };
    await addKeys(target, place, await addPublishers(target, place), 0, keys);
    await target.close();
    const lists = `/api/v1/extension-points/${extensionPointId}/bindings/`;
    const [, point = ''] = /extension-points\/([^/]+)/.exec(stage.bindings) ?? [];
    return { stage, lists, keys, keyPrefix, changes: `/api/v1/extension-points/${point}/changes`, account };
  } finally {
    await node.stop();
  }
}

async function soak(node: Node, target: Omit<SoakTarget, 'port'>, minutes: number): Promise<Counts> {
  const end = AbortSignal.timeout(minutes * 60_000);
  return runSoak({ ...target, port: node.port }, Number(values.lists), end);
}

if (values.help) console.log(help);
else {
  setPriority(constants.priority.PRIORITY_LOW);
  const out = resolve(values.out);
  await withFolder(async (folder, defer) => {
    const dataDir = join(folder, 'data');
    const target = await prepare(folder, dataDir, Number(values.keys));
    const sampler = join(import.meta.dirname, 'support/soak-sampler.mjs');
    const environment = {
      NODE_OPTIONS: `--import=${sampler}`,
      SOAK_SAMPLES: out,
      SOAK_SAMPLE_SECONDS: values.sample,
    };
    const node = await startNode({ folder: join(folder, 'soak'), dataDir, environment });
    defer(() => node.stop());
    const counts = await soak(node, target, Number(values.minutes));
    for (const [what, times] of [...counts].sort()) console.log(`${what}: ${times}`);
    console.log(describeSoak(readSamples(readFileSync(out, 'utf8'))));
  });
}
