import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import process from 'node:process';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../../test/helpers/random.ts';
import { sealAuditEvents } from '../src/audit/seal.ts';
import { verifyAuditChain } from '../src/audit/verify-chain.ts';
import { whyNoPostgres } from './helpers/postgres.ts';
import { backend as onPostgres } from './helpers/postgres-stores.ts';
import { backend as onSqlite } from './helpers/stores.ts';

const child = fileURLToPath(new URL('./contracts/audit-chain-child.ts', import.meta.url));

describe('sealers that are killed', () => {
  for (const [name, backend, skip] of [
    ['SQLite', onSqlite, false],
    ['PostgreSQL', onPostgres, whyNoPostgres(18)],
  ] as const) {
    it(`leave a whole chain on ${name}`, { skip }, async () => {
      const random = createRandom(7);
      const { location, remove } = await backend.makeLocation();
      await (await backend.openStore(location)).close(); // migrates
      for (let round = 0; round < 6; round++) {
        const children = [1, 2].map(() =>
          spawn(process.execPath, [child, backend.module, location], { stdio: ['ignore', 'pipe', 'inherit'] }),
        );
        await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
        await sleep(random.below(300));
        for (const one of children) {
          one.kill('SIGKILL');
          await once(one, 'exit');
        }
      }
      const store = await backend.openStore(location);
      const deps = { store, clock: Date.now, random: randomBytes };
      await sealAuditEvents(deps);
      const { faults, head, links } = await verifyAuditChain(deps);
      assert.deepEqual(faults, []);
      assert.equal(links, head.seq);
      assert.ok(links >= 12);
      await store.close();
      await remove();
    });
  }
});
