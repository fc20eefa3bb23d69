import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { QuotaOverrideRecord } from '../../../src/db/quota-records.ts';
import { createRecords, simulationRunRecord, someTimeMs } from '../../helpers/records.ts';
import { type Backend, opened } from '../backend.ts';
import { assertPages } from './pages.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Overrides and warnings of quotas, what simulations use, and credentials that expire. */
export function quotasContract(backend: Backend): void {
  describe('quotas', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('have overrides of accounts and applications, which are replaced, listed by name, and deleted with them', async () => {
      const { app, owner } = await records().stage();
      const ofUser: QuotaOverrideRecord = {
        subjectId: owner.id,
        name: 'tokens',
        userId: owner.id,
        appId: null,
        value: 2 ** 40,
        updatedAtMs: someTimeMs,
      };
      const ofApp = { ...ofUser, subjectId: app.id, name: 'plugins', userId: null, appId: app.id, value: 7 };
      await store.it.write((tx) => tx.putQuotaOverride({ ...ofUser, value: 1 }));
      for (const one of [ofUser, ofApp]) await store.it.write((tx) => tx.putQuotaOverride(one));
      assert.deepEqual(await store.it.read.quotaOverrides([owner.id]), [ofUser]);
      assert.equal((await store.it.read.quotaOverrides([owner.id, app.id])).length, 2);
      const listed = await assertPages(
        (page) => store.it.read.listedQuotaOverrides(page),
        ({ subjectId, name }) => JSON.stringify([subjectId, name]),
      );
      const names = listed.map(({ subjectName }) => subjectName);
      assert.ok(names.includes(owner.name) && names.includes(app.name));
      await store.it.write((tx) => tx.deleteQuotaOverride(app.id, 'plugins'));
      assert.deepEqual(await store.it.read.quotaOverrides([app.id]), []);
      await store.it.write((tx) => tx.eraseUser(owner.id, { name: 'gone', deletedAtMs: someTimeMs }));
      assert.deepEqual(await store.it.read.quotaOverrides([owner.id]), []);
    });

    it('remember the level of a warning', async () => {
      const user = await records().user();
      const warning = {
        subjectId: user.id,
        name: 'tokens',
        userId: user.id,
        appId: null,
        percent: 80,
        warnedAtMs: someTimeMs,
      };
      assert.equal(await store.it.read.quotaWarning(user.id, 'tokens'), undefined);
      await store.it.write((tx) => tx.putQuotaWarning(warning));
      await store.it.write((tx) => tx.putQuotaWarning({ ...warning, percent: 95 }));
      assert.deepEqual(await store.it.read.quotaWarning(user.id, 'tokens'), { ...warning, percent: 95 });
      assert.equal(await store.it.read.quotaWarning(user.id, 'plugins'), undefined);
    });

    it('charge simulations to an account and an application', async () => {
      const { app, owner } = await records().stage();
      assert.equal(await store.it.read.userSimulationsChargedUntilMs(owner.id), 0);
      const payers = { userId: owner.id, appId: app.id };
      await store.it.write((tx) => tx.putSimulationsCharge(payers, { ofUser: 5, ofApp: 6 }));
      assert.equal(await store.it.read.userSimulationsChargedUntilMs(owner.id), 5);
      assert.equal(await store.it.read.appSimulationsChargedUntilMs(app.id), 6);
    });

    it('count the bytes of reports, until they are emptied', async () => {
      const { app, key, publisher } = await records().stage();
      const version = await records().version(key('reported'));
      const run = simulationRunRecord({ versionId: version.id, userId: publisher.id });
      const bytes = async () => (await store.it.read.countPlugins(app.id)).bytes;
      const before = await bytes();
      await store.it.write((tx) => tx.insertSimulationRun(run));
      assert.equal(await bytes(), before);
      const reportsJson = '[{"name":"é"}]';
      await store.it.write((tx) => tx.updateSimulationRun(run.id, { reportsJson, dueAtMs: someTimeMs }));
      assert.equal(await bytes(), before + 15);
      await store.it.write((tx) => tx.updateSimulationRun(run.id, { dueAtMs: someTimeMs + 1 }));
      assert.equal(await bytes(), before + 15);
      await store.it.write((tx) => tx.updateSimulationRun(run.id, { reportsJson: '[]' }));
      assert.equal(await bytes(), before);
    });
  });

  describe('credentials that expire', () => {
    const store = opened(backend, backend.openStore);
    const records = () => createRecords(store.it);

    it('are found some days before and after, once, and not those of sessions or of a short life', async () => {
      const owner = await records().user();
      const nowMs = someTimeMs + 100 * dayMs;
      const token = (ageDays: number, leftDays: number, fields = {}) =>
        records().token(owner, {
          createdAtMs: nowMs - ageDays * dayMs,
          expiresAtMs: nowMs + leftDays * dayMs,
          ...fields,
        });
      const session = await records().session(owner);
      await token(83, 7.1);
      const [month, week, gone] = [await token(84, 6), await token(5, 2), await token(10, -3)];
      await token(4, 3);
      await token(20, -8);
      await token(0.9, 0.05);
      await token(84, 6, { sessionId: session.id });
      const key = await records().apiKey(owner, { createdAtMs: nowMs - 89 * dayMs, expiresAtMs: nowMs + dayMs });
      const found = await store.it.read.expiringCredentials(nowMs, 100);
      assert.deepEqual(
        found.map(({ id }) => id),
        [gone, week, month, key].map(({ id }) => id),
      );
      assert.equal((await store.it.read.expiringCredentials(nowMs, 2)).length, 2);
      const ids = found.map(({ id }) => id);
      await store.it.write((tx) => tx.markExpiryWarned(ids, nowMs));
      assert.deepEqual(await store.it.read.expiringCredentials(nowMs, 100), []);
    });
  });
}
