import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimulationRun, Version } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { openWorkshop } from './helpers/plugins.ts';
import { assertProblem, openService } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
import { type List, ok } from './helpers/world.ts';

describe('TENON_SIMULATIONS=off', () => {
  it('binds no version that must be tested; the server tests it when simulations are on again', async () => {
    const off = await openService({ config: { simulations: 'off' } });
    const workshop = await openWorkshop(off);
    await workshop.publish(1);
    await putSimulation(off, workshop.extensionPointId);
    const { version } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict], ['testing', 'errored']);
    const { objects } = (await workshop.call('GET', '/versions/2/simulation-runs')).json<List<SimulationRun>>();
    assert.deepEqual(
      objects.map(({ state, verdict, attempts }) => [state, verdict, attempts]),
      [['queued', 'errored', 1]],
    );
    assert.match(objects[0]?.detail ?? '', /Simulations are turned off on this server\.$/);
    const retested = await workshop.call('POST', '/versions/2/simulation-runs');
    assert.equal(retested.json<SimulationRun>().verdict, 'errored');
    assert.equal(await workshop.bound(), 1);

    const on = await openService({ config: { dataDir: off.dataDir } });
    on.advance(20_000);
    on.simulationRuns.wake();
    const { token } = workshop.owner;
    const read = () => ok<Version>(on, 'GET', `${workshop.path()}/versions/2`, { token });
    await until(async () => (await read()).state !== 'testing');
    const { state, verdict } = await read();
    assert.deepEqual([state, verdict], ['published', 'passed']);
    assert.equal(await workshop.bound(), 2);
    await on.close();
    await off.close();
  });
});

describe('a version that is being tested, or failed', () => {
  it('is not approved, pinned, rolled back to, yanked, or restored; the team may reject it before it has failed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const simulator = scriptedSimulator(async () => {
      await promise;
      return reportOf('failed');
    });
    const service = await openService({ config: { simulationWaitMs: 50 }, simulator });
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    await putSimulation(service, workshop.extensionPointId);
    await workshop.publish(2);
    const { extensionPointId, first, owner } = workshop;
    const pinPath = `/api/v1/extension-points/${extensionPointId}/guests/${first}/pins/median`;
    const stateOf = async () => (await workshop.call('GET', '/versions/2')).json<Version>().state;
    for (const state of ['testing', 'failed']) {
      await until(async () => (await stateOf()) === state);
      for (const [path, json] of [
        ['/versions/2/approve'],
        ...(state === 'failed' ? [['/versions/2/reject', { reason: 'No.' }] as const] : []),
        ['/versions/2/yank', { reason: 'No.' }],
        ['/versions/2/restore'],
        ['/rollback', { version: 2 }],
      ] as const) {
        assertProblem(await workshop.call('POST', path, json), 409, 'conflict');
      }
      const pinned = await service.call('PUT', pinPath, { token: owner.token, json: { version: 2 } });
      assertProblem(pinned, 409, 'conflict');
      assert.equal(await stateOf(), state);
      assert.equal(await workshop.bound(), 1);
      resolve();
    }
    await service.close();
  });
});
