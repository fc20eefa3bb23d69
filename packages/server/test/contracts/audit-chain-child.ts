import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { sealAuditEvents } from '../../src/audit/seal.ts';
import { auditEvent } from '../helpers/records.ts';
import type { Backend } from './backend.ts';

/* Writes audit events and seals them until it is killed. Arguments: the module of the backend, and the location. */

const [module = '', location = ''] = process.argv.slice(2);
const { backend } = (await import(module)) as { readonly backend: Backend };
const store = await backend.openStore(location);
for (let round = 0; ; round++) {
  const events = Array.from({ length: 1 + (round % 40) }, () => auditEvent({ userName: 'Ada' }));
  await store.write((tx) => tx.insertAuditEvents(events));
  await sealAuditEvents({ store, clock: Date.now, random: randomBytes });
  if (round === 0) process.stdout.write('sealing\n');
}
