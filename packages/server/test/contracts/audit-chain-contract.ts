import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { type AppId, newId, type UserId } from '@tenon/protocol';
import { createRandom } from '../../../../test/helpers/random.ts';
import { volume } from '../../../../test/helpers/volume.ts';
import { sealEvent } from '../../src/audit/chain.ts';
import { purgeExpiredAuditEvents } from '../../src/audit/read-audit.ts';
import { readAuditHead, sealAuditEvents, sealBatchSize } from '../../src/audit/seal.ts';
import { type VerifyAuditOptions, verifyAuditChain } from '../../src/audit/verify-chain.ts';
import type { AuditPosition } from '../../src/db/audit-chain-records.ts';
import { type AuditEventRecord, deletedUserName } from '../../src/db/audit-records.ts';
import type { Store } from '../../src/db/store.ts';
import { verifyRows } from '../helpers/audit-verifier.ts';
import { auditEvent, createRecords, someTimeMs } from '../helpers/records.ts';
import type { Backend } from './backend.ts';

type Row = Readonly<Record<string, unknown>>;

/** Runs SQL behind the back of the server, and returns the rows with parsed JSON. */
export type RunSql = (location: string, sql: string) => Promise<Row[]>;

const nowMs = someTimeMs + 1_000_000;

/** The hash chain over the audit trail, and what it detects. */
export function auditChainContract(name: string, backend: Backend, runSql: RunSql): void {
  describe(`the audit chain on ${name}`, () => {
    let store: Store;
    let location: string;
    const removals: (() => Promise<void>)[] = [];
    beforeEach(async () => {
      const made = await backend.makeLocation();
      ({ location } = made);
      removals.push(made.remove);
      store = await backend.openStore(location);
    });
    afterEach(() => store.close());
    after(async () => {
      for (const remove of removals) await remove();
    });

    const depsOf = (on: Store) => ({ store: on, clock: () => nowMs, random: randomBytes });
    const sql = (text: string): Promise<Row[]> => runSql(location, text);
    const seal = (): Promise<number> => sealAuditEvents(depsOf(store));
    const head = (): Promise<AuditPosition> => readAuditHead(depsOf(store));
    const faults = async (options?: VerifyAuditOptions): Promise<string[]> =>
      (await verifyAuditChain(depsOf(store), options)).faults.map(({ subject, detail }) => `${subject}: ${detail}`);
    const put = (...events: AuditEventRecord[]): Promise<void> => store.write((tx) => tx.insertAuditEvents(events));

    /** Verifies the chain, also independently. */
    async function assertWhole(): Promise<void> {
      assert.deepEqual(await faults(), []);
      const [links, events] = [
        await sql('select * from audit_links order by seq'),
        await sql('select * from audit_events'),
      ];
      const [anchor] = await sql("select hash from audit_positions where kind = 'anchor'");
      assert.equal(verifyRows(links, events, String(anchor?.hash ?? '')), (await head()).hash);
    }

    const user = newId('user');
    const rich = (fields: Partial<AuditEventRecord> = {}): AuditEventRecord =>
      auditEvent({
        appId: newId('app'),
        accountId: user,
        by: 'user',
        userId: user,
        userName: 'Ada 👩‍🚀 O’Neil',
        viaId: newId('session'),
        viaName: 'Browser/1.0',
        address: '2001:db8::1',
        targetName: 'a "name"',
        details: { name: { before: 'a', after: null }, zebra: [1, 'two'], constructor: true, 10: 0, 9: 1.5 },
        guestKeys: { [newId('guest')]: 'customers/globex', [newId('guest')]: '__proto__' },
        ...fields,
      });

    it('is empty at first', async () => {
      assert.deepEqual(await head(), { seq: 0, hash: '' });
      await assertWhole();
    });

    it('seals rows of before, bulk inserts, equal times, and clocks that go back, once and without gaps', async () => {
      const many = Array.from({ length: 2 * sealBatchSize + 10 }, (_, at) =>
        auditEvent({ atMs: someTimeMs - (at % 3) }),
      );
      await put(...many);
      await put(rich(), auditEvent({ atMs: 1 }));
      assert.equal(await seal(), many.length + 2);
      assert.equal(await seal(), 0);
      await assertWhole();
      await put(rich({ atMs: 0 }));
      assert.equal((await head()).seq, many.length + 2);
      await assertWhole(); // which seals
      assert.equal((await head()).seq, many.length + 3);
    });

    it('names each field that was changed', async () => {
      const event = rich();
      await put(auditEvent());
      await seal();
      await put(event);
      await seal();
      const changes: Readonly<Record<string, string>> = {
        atMs: '"atMs" + 1',
        action: "'app.delete'",
        appId: "'app_other'",
        accountId: 'null',
        by: "'system'",
        userId: "'usr_other'",
        viaId: 'null',
        targetId: "'app_other'",
        details: `'{"name": 1}'`,
        userName: "'Eve'",
        viaName: 'null',
        address: "'192.0.2.1'",
        targetName: "'Other'",
        guestKeys: 'null',
      };
      assert.deepEqual(
        Object.keys(changes).sort(),
        Object.keys(event)
          .filter((field) => field !== 'id')
          .sort(),
      );
      for (const [field, value] of Object.entries(changes)) {
        await sql(`create table saved as select * from audit_events where id = '${event.id}'`);
        await sql(`update audit_events set "${field}" = ${value} where id = '${event.id}'`);
        const [fault = '', ...others] = await faults();
        assert.ok(fault.startsWith(`audit event 2, ${event.id}: `) && fault.includes(`"${field}"`), fault);
        assert.deepEqual(others, []);
        await sql(`update audit_events set "${field}" = (select "${field}" from saved) where id = '${event.id}'`);
        await sql('drop table saved');
      }
      await assertWhole();
    });

    it('names values of parts that had none', async () => {
      const event = auditEvent();
      await put(event);
      await seal();
      await sql(`update audit_events set "userName" = 'Eve', "guestKeys" = '{}', "targetName" = 'x'`);
      assert.equal((await faults()).length, 3);
    });

    it('names missing, moved, inserted and changed rows', async () => {
      const events = Array.from({ length: 6 }, () => rich());
      await put(...events);
      await seal();
      const before = await head();
      const ids = (await sql('select "eventId" from audit_links order by seq')).map(({ eventId }) => String(eventId));
      const cases: Readonly<Record<string, readonly [sql: string, undo: string, fault: RegExp]>> = {
        event: [`delete from audit_events where id = '${ids[2]}'`, '', /^audit event 3, evt_\w+: it is missing$/],
        link: ['delete from audit_links where seq = 3', '', /^audit event 3: its link is missing$/],
        newest: ['delete from audit_links where seq > 4', '', /^audit event 5: its link is missing$/],
        moved: [
          'update audit_links set seq = case seq when 3 then -4 else -3 end where seq in (3, 4); update audit_links set seq = -seq where seq < 0',
          '',
          /^audit event 3, evt_\w+: its link was changed, moved, or inserted/,
        ],
        digest: [
          `update audit_links set body = person where seq = 2`,
          '',
          /^audit event 2, evt_\w+: its link was changed/,
        ],
        subject: [
          `update audit_links set "subjectId" = 'usr_x' where seq = 2`,
          '',
          /^audit event 2, evt_\w+: its link/,
        ],
        sealed: ['update audit_links set "sealedAtMs" = 1 where seq = 2', '', /^audit event 2, evt_\w+: its link/],
        salt: [
          'update audit_links set "personSalt" = null where seq = 2',
          '',
          /^audit event 2, evt_\w+: "userName" or/,
        ],
        guests: [
          'update audit_links set "guestsSalt" = null where seq = 2',
          '',
          /^audit event 2, evt_\w+: "guestKeys" was/,
        ],
        body: [
          'update audit_links set "bodySalt" = null where seq = 2',
          '',
          /^audit event 2, evt_\w+: it was deleted, and/,
        ],
        erased: [
          `update audit_links set "bodySalt" = null where seq = 2; delete from audit_events where id = '${ids[1]}'`,
          '',
          /^audit event 2, evt_\w+: it is missing, but its account was not deleted$/,
        ],
        head: [
          "update audit_positions set hash = 'x' where kind = 'head'",
          '',
          /^audit event 6, evt_\w+: its hash is not/,
        ],
        anchor: [
          "insert into audit_positions (kind, seq, hash) values ('anchor', 2, 'x')",
          "delete from audit_positions where kind = 'anchor'",
          /^audit event 3, evt_\w+: its link was changed/,
        ],
      };
      const tables = ['audit_events', 'audit_links', 'audit_positions'];
      for (const [what, [change, undo, fault]] of Object.entries(cases)) {
        for (const table of tables) await sql(`create table saved_${table} as select * from ${table}`);
        await sql(change);
        assert.match((await faults())[0] ?? 'none', fault, what);
        if (undo !== '') await sql(undo);
        for (const table of tables) {
          await sql(`delete from ${table}`);
          const columns = Object.keys((await sql(`select * from saved_${table} limit 1`))[0] ?? {});
          const list = columns.map((column) => `"${column}"`).join();
          await sql(`insert into ${table} (${list}) select ${list} from saved_${table}`);
          await sql(`drop table saved_${table}`);
        }
        assert.deepEqual(await faults({ expected: before }), [], what);
      }
      await put(rich());
      await sql('update audit_events set "isSealed" = true where "isSealed" is null');
      assert.match((await faults())[0] ?? '', /^audit event evt_\w+: it is not in the hash chain$/);
    });

    it('detects a chain that was computed again only with a head that was stored elsewhere', async () => {
      await put(rich(), rich(), rich());
      await seal();
      const expected = await head();
      await put(rich());
      await seal();
      assert.deepEqual(await faults({ expected }), []);
      assert.deepEqual(await faults({ expected: { ...expected, seq: 9 } }), [
        'audit event 9: it is the expected head, and the chain does not reach it',
      ]);
      await sql(`update audit_events set "userName" = 'Eve'`);
      await sql('delete from audit_links');
      await sql('delete from audit_positions');
      await sql('update audit_events set "isSealed" = null');
      assert.equal(await seal(), 4);
      assert.deepEqual(await faults(), []);
      assert.match((await faults({ expected }))[0] ?? '', /^audit event 3: its hash is not that of the expected head/);
    });

    it('stays whole when accounts and applications are deleted', async () => {
      const records = createRecords(store);
      const [person, other] = [await records.user(), await records.user()];
      const app = await records.app();
      const by = (id: UserId, appId: AppId | null, fields: Partial<AuditEventRecord> = {}) =>
        rich({ appId, accountId: id, userId: id, ...fields });
      const own = by(person.id, null);
      await put(own, by(person.id, app.id), by(other.id, app.id, { targetId: person.id, targetName: 'Ada' }));
      await put(auditEvent({ accountId: person.id, appId: app.id, by: 'system', address: '203.0.113.9' }));
      await seal();
      await assertWhole();
      await store.write((tx) => tx.eraseUser(person.id, { name: deletedUserName, deletedAtMs: 1 }));
      await store.write((tx) => tx.deleteApp(app.id));
      const found = await faults();
      assert.ok(found.length >= 5 && found.every((fault) => fault.includes('was not deleted')), found.join('\n'));
      const text = JSON.stringify(await sql('select * from audit_events'));
      assert.ok(!text.includes('203.0.113.9') && !text.includes(own.id));
      await put(auditEvent({ action: 'account.delete', targetId: person.id, targetName: deletedUserName }));
      await put(auditEvent({ action: 'app.delete', appId: app.id, targetId: app.id }));
      await assertWhole();
      const [link] = await sql(`select * from audit_links where "eventId" = '${own.id}'`);
      for (const salt of ['bodySalt', 'personSalt', 'targetSalt', 'guestsSalt']) assert.equal(link?.[salt], null);
      await sql(`update audit_events set "userName" = 'Eve' where "userName" = '${deletedUserName}'`);
      assert.match((await faults())[0] ?? '', /"userName" or .* was erased, and has a value/);
    });

    it('begins at an anchor after audit retention', async () => {
      const dayMs = 24 * 60 * 60_000;
      const ages = [9, 8, 1, 7, 6, 0];
      for (const age of ages) await put(auditEvent({ atMs: nowMs - age * dayMs }));
      await seal();
      const expected = await head();
      await put(auditEvent({ atMs: nowMs + 99 * dayMs })); // by a clock that was ahead
      assert.equal(await purgeExpiredAuditEvents(depsOf(store), 5 * dayMs), 2, 'up to the first newer event');
      await assertWhole();
      assert.deepEqual(await faults({ expected }), []);
      assert.match((await faults({ expected: { seq: 1, hash: 'x' } }))[0] ?? '', /audit retention has deleted it/);
      const later = { ...depsOf(store), clock: () => nowMs + 20 * dayMs };
      assert.equal(await purgeExpiredAuditEvents(later, 5 * dayMs), 5);
      assert.deepEqual(await faults(), []);
      await put(auditEvent());
      await assertWhole();
      assert.equal((await head()).seq, 8);
    });

    it('seals each event once with several sealers, writers, and erasures at the same time', async () => {
      const others = await Promise.all([1, 2].map(() => backend.openStore(location)));
      try {
        const records = createRecords(store);
        const people = [await records.user(), await records.user(), await records.user()];
        const rounds = volume(6, 40);
        const writing = people.map(async ({ id }, at) => {
          const on = [store, ...others][at] ?? store;
          for (let round = 0; round < rounds; round++) {
            const events = Array.from({ length: 1 + (round % 7) }, () =>
              rich({ accountId: id, userId: id, targetId: id }),
            );
            await on.write((tx) => tx.insertAuditEvents(events));
          }
          await on.write(async (tx) => {
            await tx.eraseUser(id, { name: deletedUserName, deletedAtMs: 1 });
            await tx.insertAuditEvent(auditEvent({ action: 'account.delete', targetId: id }));
          });
        });
        let isDone = false;
        const sealing = [store, ...others].map(async (on) => {
          while (!isDone) await sealAuditEvents(depsOf(on));
        });
        await Promise.all(writing);
        isDone = true;
        await Promise.all(sealing);
        await assertWhole();
      } finally {
        await Promise.all(others.map((other) => other.close()));
      }
    });

    it('seals nothing if the transaction is rolled back in between', async () => {
      await put(rich(), rich());
      await assert.rejects(
        store.writeLocking(async (tx) => {
          const before = await tx.lockAuditHead();
          const [event] = await tx.takeUnsealedAuditEvents(1);
          assert.ok(event);
          await tx.insertAuditLinks([sealEvent(event, before, nowMs, randomBytes)]);
          throw new Error('killed');
        }),
        /killed/,
      );
      assert.deepEqual(await head(), { seq: 0, hash: '' });
      assert.equal(await seal(), 2);
      await assertWhole();
    });

    it('is verified from the newest links alone', async () => {
      await put(...Array.from({ length: 30 }, () => rich()));
      await seal();
      assert.equal((await verifyAuditChain(depsOf(store), { newest: 10 })).links, 10);
      await sql('update audit_events set "atMs" = 1 where id = (select "eventId" from audit_links where seq = 2)');
      assert.deepEqual(await faults({ newest: 10 }), []);
      await sql('update audit_events set "atMs" = 1 where id = (select "eventId" from audit_links where seq = 25)');
      assert.equal((await faults({ newest: 10 })).length, 1);
    });

    it('agrees with an independent verifier on random trails', async () => {
      const random = createRandom(20);
      const keys = ['', 'a', 'é', '👩‍🚀', '\u2028', 'constructor', '10', '9', '-0'];
      // Not in keys: JSON.parse() of Node.js 26 sometimes reads a key with an escape as another key.
      const texts = [...keys, '"', '\\', '\n'];
      const text = () => random.pick(texts);
      const value = (depth: number): unknown => {
        const kind = random.below(depth > 2 ? 4 : 6);
        if (kind === 0) return null;
        if (kind === 1) return text();
        if (kind === 2) return random.below(1_000_000) / 7;
        if (kind === 3) return random.below(2) === 0;
        const members = Array.from({ length: random.below(4) }, () => value(depth + 1));
        return kind === 4 ? members : Object.fromEntries(members.map((member) => [random.pick(keys), member]));
      };
      const maybe = (): string | null => (random.below(3) === 0 ? null : text());
      for (let round = 0; round < volume(5, 50); round++) {
        const events = Array.from({ length: random.below(20) }, () =>
          auditEvent({
            atMs: random.below(1e12),
            userName: maybe(),
            viaName: maybe(),
            address: maybe(),
            targetName: maybe(),
            details: { all: value(0), ...(value(9) as object) },
            guestKeys: random.below(2) === 0 ? null : { [newId('guest')]: text() },
          }),
        );
        await put(...events);
        await assertWhole();
      }
    });
  });
}
