import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { SimulationReport, SimulationRun, Version, VersionId } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { deleteSimulation, putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';
import type { List } from './helpers/world.ts';

let service: TestService;
/** What a simulation comes to; a test replaces it. */
let simulate: (plugin: Uint8Array) => Promise<SimulationReport>;

const passes = async () => reportOf('passed');
const fails = async () =>
  reportOf('failed', { assertions: [{ group: null, name: 'adds up', passed: false, reason: 'it is 3' }] });

before(async () => {
  const simulator = scriptedSimulator(({ plugin }) => simulate(plugin));
  service = await openService({
    config: { simulationWaitMs: 300, simulationLeaseMs: 900, simulationsAtOnce: 3 },
    simulator,
  });
  simulate = passes;
  await (await tested()).publish(2); // starts the processes, so that later tests end within the wait
});
beforeEach(() => {
  simulate = passes;
});
after(() => service.close());

async function tested(): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  await workshop.publish(1);
  await putSimulation(service, workshop.extensionPointId);
  return workshop;
}

/** A simulation that does not end before the test lets it. */
function held(report: () => Promise<SimulationReport>) {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  simulate = async () => {
    begun.resolve();
    await released.promise;
    return report();
  };
  return { begun: begun.promise, release: released.resolve };
}

const versionOf = async (workshop: Workshop, number: number): Promise<Version> =>
  (await workshop.call('GET', `/versions/${number}`)).json<Version>();

const runsOf = ({ id }: Pick<Version, 'id'>) => service.store.read.simulationRuns(id as VersionId);

/** The state and the verdict of a version, when its test has ended. */
async function settled(workshop: Workshop, number: number): Promise<string> {
  await until(async () => {
    service.simulationRuns.wake();
    return (await versionOf(workshop, number)).state !== 'testing';
  });
  const { state, verdict } = await versionOf(workshop, number);
  return `${state}, ${verdict}`;
}

describe('a publish at an extension point with simulations', () => {
  it('binds the version after they passed, and says so in its answer', async () => {
    const workshop = await tested();
    const { version, status, guestIds, isNewVersion } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict, isNewVersion], ['published', 'passed', true]);
    assert.match(status.detail, /^Version 2 is published\. Version 2 is active for all 2 guests\.$/);
    assert.equal(guestIds.length, 2);
    assert.equal(await workshop.bound(), 2);
    assert.equal((await versionOf(workshop, 1)).verdict, 'none_configured', 'older than the simulation');
  });

  it('binds no version that failed, and says why', async () => {
    const workshop = await tested();
    simulate = fails;
    const { version, status } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict], ['failed', 'failed']);
    assert.equal(status.reason, 'The simulation basics failed: adds up (it is 3)');
    assert.match(status.detail, /Version 2 failed its simulations: “.*”\. Version 1 is active for all 2 guests\./);
    assert.equal(await workshop.bound(), 1);
    for (const [action, json] of [['approve'], ['restore'], ['yank', { reason: 'No.' }]] as const) {
      assertProblem(await workshop.call('POST', `/versions/2/${action}`, json), 409, 'conflict');
    }
    assertProblem(await workshop.call('POST', '/rollback', { version: 2 }), 409, 'conflict');
    simulate = passes;
    const again = await workshop.publish(2);
    assert.deepEqual([again.isNewVersion, again.version.number, again.version.state], [true, 3, 'published']);
  });

  it('treats a simulation that timed out as failed', async () => {
    const workshop = await tested();
    simulate = async () => reportOf('timed_out', { detail: 'It ran for more than 10 s' });
    const { version } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict], ['failed', 'timed_out']);
    assert.equal(version.stateReason, 'The simulation basics timed out: It ran for more than 10 s');
    assert.equal(await workshop.bound(), 1);
  });

  it('answers before the verdict if it takes long; publishing the bytes again changes nothing', async () => {
    const workshop = await tested();
    const test = held(passes);
    const published = await workshop.publish(2);
    assert.deepEqual([published.version.state, published.version.verdict], ['testing', null]);
    assert.match(published.status.detail, /^Version 2 is being tested\. Version 1 is active/);
    const again = await workshop.publish(2);
    assert.deepEqual([again.isNewVersion, again.version.number], [false, 2]);
    assert.equal(await workshop.bound(), 1);
    assertProblem(await workshop.call('POST', '/rollback', { version: 2 }), 409, 'conflict');
    test.release();
    assert.equal(await settled(workshop, 2), 'published, passed');
    assert.equal(await workshop.bound(), 2);
  });

  it('repeats an errored test later, shows it, and binds nothing until then', async () => {
    const workshop = await tested();
    simulate = async () => reportOf('errored', { detail: 'Simulations are turned off' });
    const { version } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict], ['testing', 'errored']);
    const [run] = await runsOf(version);
    assert.equal(run?.detail, 'The simulation basics could not run: Simulations are turned off');
    assert.deepEqual([run?.state, run?.attempts], ['queued', 1]);
    assert.equal(await workshop.bound(), 1);
    simulate = async () => {
      throw new Error('the queue is full');
    };
    for (const [attempts, waitMs] of [
      [2, 10_000],
      [3, 20_000],
    ] as const) {
      service.advance(waitMs);
      service.simulationRuns.wake();
      await until(async () => {
        const [repeated] = await runsOf(version);
        return repeated?.attempts === attempts && repeated.state === 'queued';
      });
    }
    const [third] = await runsOf(version);
    assert.match(third?.detail ?? '', /queue is full/);
    simulate = passes;
    service.advance(30_000);
    assert.equal(await settled(workshop, 2), 'published, passed');
    assert.equal(await workshop.bound(), 2);
  });

  it('tests first, and then asks for approval', async () => {
    const workshop = await tested();
    await workshop.settings({ requiresApproval: true });
    const { version } = await workshop.publish(2);
    assert.deepEqual([version.state, version.verdict], ['awaiting_approval', 'passed']);
    simulate = fails;
    assert.equal((await workshop.publish(3)).version.state, 'failed', 'no approval is asked for');
    await workshop.call('POST', '/versions/2/approve');
    assert.equal(await workshop.bound(), 2, 'an approval tests nothing again');
  });

  it('needs no test without simulations, or when they were deleted meanwhile', async () => {
    const workshop = await tested();
    const test = held(passes);
    await workshop.publish(2);
    await deleteSimulation(service, workshop.extensionPointId);
    test.release();
    assert.equal(await settled(workshop, 2), 'published, none_configured');
    const { version } = await workshop.publish(3);
    assert.deepEqual([version.state, version.verdict], ['published', 'none_configured']);
    assert.deepEqual(await runsOf(version), []);
  });
});

describe('while a version is tested', () => {
  it('a change of the simulations or the schema tests it again', async () => {
    const workshop = await tested();
    for (const [number, change] of [
      [2, () => putSimulation(service, workshop.extensionPointId)],
      [3, () => workshop.settings({ schema: { exports: { evaluate: { description: 'Otherwise' } } } })],
    ] as const) {
      const test = held(passes);
      await workshop.publish(number);
      simulate = fails;
      await change();
      test.release();
      assert.equal(await settled(workshop, number), 'failed, failed', 'the first verdict counts for nothing');
    }
    assert.equal(await workshop.bound(), 1);
  });

  it('stricter requirements apply to it too, also when it is tested again', async () => {
    const stricter = [{ limits: { maxModuleBytes: 8 } }, { schema: { exports: { other: {} } } }];
    for (const [at, settings] of stricter.entries()) {
      const workshop = await tested();
      const test = held(passes);
      const { version } = await workshop.publish(2);
      await workshop.settings(settings);
      simulate = passes;
      test.release();
      assert.equal(await settled(workshop, 2), 'failed, failed');
      assert.match((await versionOf(workshop, 2)).stateReason ?? '', /^The module does not fit the extension point\. /);
      await workshop.call('POST', '/versions/2/simulation-runs', undefined, workshop.publisher);
      assert.equal(await settled(workshop, 2), 'failed, failed', `retest ${at}`);
      assert.equal((await runsOf(version)).length, 2);
      assert.equal(await workshop.bound(), 1);
    }
  });

  it('a newer version may pass before it; the newest that passed is bound', async () => {
    const workshop = await tested();
    const test = held(passes);
    await workshop.publish(2);
    simulate = passes;
    await workshop.publish(3);
    assert.equal(await settled(workshop, 3), 'published, passed');
    assert.equal(await workshop.bound(), 3);
    test.release();
    assert.equal(await settled(workshop, 2), 'published, passed');
    assert.equal(await workshop.bound(), 3);
  });

  it('a block of the plugin keeps it from hosts until the team approves it', async () => {
    const workshop = await tested();
    const test = held(passes);
    await workshop.publish(2);
    await workshop.call('PUT', '/block', { reason: 'No.' });
    test.release();
    assert.equal(await settled(workshop, 2), 'awaiting_approval, passed');
    assert.equal(await workshop.bound(), null);
    await workshop.call('DELETE', '/block');
    assert.equal(await workshop.bound(), 1);
    await workshop.call('POST', '/versions/2/approve');
    assert.equal(await workshop.bound(), 2);
  });

  it('the team may reject it: its result is only shown', async () => {
    const workshop = await tested();
    const test = held(passes);
    const { version } = await workshop.publish(2);
    const reject = (by: Workshop['owner']) => workshop.call('POST', '/versions/2/reject', { reason: 'No.' }, by);
    assertProblem(await reject(workshop.publisher), 403, 'forbidden');
    assert.equal((await reject(workshop.owner)).json<Version>().state, 'rejected');
    test.release();
    await until(async () => (await runsOf(version))[0]?.state === 'done');
    assert.deepEqual((await versionOf(workshop, 2)).state, 'rejected');
    assert.equal(await workshop.bound(), 1);
  });

  it('the team may withdraw its bytes: it is yanked, and only the team can restore it', async () => {
    const workshop = await tested();
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    const test = held(passes);
    assert.equal((await workshop.publish(2)).version.number, 3, 'the same bytes end the rollback');
    await workshop.call('POST', '/versions/2/yank', { reason: 'It leaks.' });
    test.release();
    assert.equal(await settled(workshop, 3), 'yanked, passed');
    assert.deepEqual((await versionOf(workshop, 3)).stateReason, 'It leaks.');
    assertProblem(await workshop.call('POST', '/versions/3/restore', undefined, workshop.publisher), 403, 'forbidden');
    assert.equal((await workshop.call('POST', '/versions/3/restore')).json<Version>().state, 'published');
    assert.equal(await workshop.bound(), 1, 'the rollback lasts');
  });

  it('the plugin or the extension point may be deleted: nothing is left', async () => {
    for (const what of ['plugin', 'extension point']) {
      const workshop = await tested();
      const test = held(passes);
      const { version } = await workshop.publish(2);
      const path = `/api/v1/extension-points/${workshop.extensionPointId}`;
      const deleted = await (what === 'plugin'
        ? workshop.call('DELETE', '')
        : service.call('DELETE', path, { token: workshop.owner.token }));
      assert.equal(deleted.statusCode, 204);
      test.release();
      assert.equal(await service.store.read.versionById(version.id as VersionId), undefined);
      assert.deepEqual(await runsOf(version), []);
    }
  });

  it('a rollback of its guests ends only when it has passed', async () => {
    const workshop = await tested();
    await workshop.publish(2);
    await workshop.call('POST', '/rollback', { version: 1 });
    const test = held(passes);
    await workshop.publish(3);
    assert.equal(await workshop.bound(), 1);
    test.release();
    assert.equal(await settled(workshop, 3), 'published, passed');
    assert.equal(await workshop.bound(), 3);
  });

  it('a rollback that was made after it was published lasts', async () => {
    const workshop = await tested();
    await workshop.publish(2);
    const test = held(passes);
    await workshop.publish(3);
    simulate = passes;
    await workshop.publish(4);
    assert.equal(await workshop.bound(), 4);
    await workshop.call('POST', '/rollback', { version: 1 });
    test.release();
    assert.equal(await settled(workshop, 3), 'published, passed');
    assert.equal(await workshop.bound(), 1);
    const repeated = held(passes);
    await workshop.publish(5);
    await workshop.call('POST', '/rollback', { version: 1 });
    repeated.release();
    assert.equal(await settled(workshop, 5), 'published, passed');
    assert.equal(await workshop.bound(), 1, 'rolled back again');
    simulate = passes;
    await workshop.publish(6);
    assert.equal(await workshop.bound(), 6);
  });

  it('the tests of one account leave room for those of others', async () => {
    const [first, second] = [await tested(), await tested()];
    const test = held(passes);
    for (const number of [2, 3, 4, 5]) await first.publish(number);
    simulate = passes;
    await second.publish(2);
    assert.equal(await settled(second, 2), 'published, passed');
    test.release();
    assert.equal(await settled(first, 5), 'published, passed');
  });

  it('a process whose lease has ended commits nothing', async () => {
    const workshop = await tested();
    const test = held(passes);
    const { version } = await workshop.publish(2);
    const nowMs = Date.now() + 10_000_000; // another node takes the run
    const [run] = await runsOf(version);
    assert.ok(run !== undefined);
    const lease = { nowMs, untilMs: nowMs + 1 };
    const taken = await service.store.write((tx) => tx.claimSimulationRun(run.id, lease));
    assert.equal(taken?.attempts, 2);
    test.release();
    await service.simulationRuns.settled(version.id as VersionId);
    assert.equal((await versionOf(workshop, 2)).state, 'testing');
    assert.equal(await workshop.bound(), 1);
    await service.store.write((tx) => tx.updateSimulationRun(run.id, { state: 'queued', dueAtMs: 1 }));
    simulate = fails;
    assert.equal(await settled(workshop, 2), 'failed, failed');
  });
});

describe('publishing for a trial (dryRun)', () => {
  it('runs the simulations, says what would happen, and stores nothing', async () => {
    const workshop = await tested();
    const passed = await workshop.publish(2, '?dryRun=true');
    assert.deepEqual([passed.version.state, passed.version.verdict], ['published', 'passed']);
    assert.equal(passed.guestIds.length, 2);
    simulate = fails;
    const failed = await workshop.publish(2, '?dryRun=true');
    assert.deepEqual([failed.version.state, failed.version.verdict], ['failed', 'failed']);
    assert.match(failed.status.detail, /adds up/);
    simulate = async () => reportOf('errored', { detail: 'off' });
    const errored = await workshop.publish(2, '?dryRun=true');
    assert.deepEqual([errored.version.state, errored.version.verdict], ['testing', 'errored']);
    assert.equal((await workshop.versions()).length, 1);
    assert.equal(await workshop.bound(), 1);
  });
});

describe('testing a version again', () => {
  const retest = async (workshop: Workshop, number: number, by = workshop.publisher): Promise<SimulationRun> =>
    (await workshop.call('POST', `/versions/${number}/simulation-runs`, undefined, by)).json<SimulationRun>();

  it('publishes a failed version that passes, and keeps a history', async () => {
    const workshop = await tested();
    simulate = fails;
    await workshop.publish(2);
    const failed = await retest(workshop, 2);
    assert.deepEqual([failed.state, failed.verdict], ['done', 'failed']);
    assert.equal(failed.simulations[0]?.assertions[0]?.name, 'adds up');
    simulate = passes;
    assert.equal((await retest(workshop, 2, workshop.owner)).verdict, 'passed');
    assert.equal(await workshop.bound(), 2);
    const { objects } = (await workshop.call('GET', '/versions/2/simulation-runs', undefined, workshop.publisher)).json<
      List<SimulationRun>
    >();
    assert.deepEqual(
      objects.map(({ verdict }) => verdict),
      ['passed', 'failed', 'failed'],
    );
  });

  it('keeps the reports of the newest test, and of the newest versions', async () => {
    const workshop = await tested();
    for (const number of [2, 3, 4, 5, 6]) await workshop.publish(number);
    await retest(workshop, 2);
    const reported = async (number: number) =>
      (await runsOf(await versionOf(workshop, number))).map(({ verdict, reportsJson }) => [
        verdict,
        reportsJson !== '[]',
      ]);
    assert.deepEqual(await reported(2), [
      ['passed', true],
      ['passed', false],
    ]);
    await workshop.publish(7);
    assert.deepEqual(await reported(2), [
      ['passed', false],
      ['passed', false],
    ]);
    assert.deepEqual(await reported(3), [['passed', true]]);
  });

  it('never unbinds a published version, and shows the result', async () => {
    const workshop = await tested();
    simulate = fails;
    assert.equal((await retest(workshop, 1, workshop.owner)).verdict, 'failed');
    const { state, verdict } = await versionOf(workshop, 1);
    assert.deepEqual([state, verdict], ['published', 'failed']);
    assert.equal(await workshop.bound(), 1);
    await workshop.call('POST', '/versions/1/yank', { reason: 'No.' });
    assert.equal((await workshop.call('POST', '/versions/1/restore')).statusCode, 200, 'nothing is gated again');
  });

  it('fails a version that awaits approval, so that it cannot be approved', async () => {
    const workshop = await tested();
    await workshop.settings({ requiresApproval: true });
    await workshop.publish(2);
    simulate = fails;
    await retest(workshop, 2);
    assert.equal(await settled(workshop, 2), 'failed, failed');
    assertProblem(await workshop.call('POST', '/versions/2/approve'), 409, 'conflict');
    simulate = passes;
    await retest(workshop, 2);
    assert.equal(await settled(workshop, 2), 'awaiting_approval, passed');
    assert.equal(await workshop.bound(), 1);
  });

  it('is for the team only while the plugin is blocked, and publishes nothing then', async () => {
    const workshop = await tested();
    simulate = fails;
    await workshop.publish(2);
    await workshop.call('PUT', '/block', { reason: 'It leaks.' });
    simulate = passes;
    const path = '/versions/2/simulation-runs';
    const refused = await workshop.call('POST', path, undefined, workshop.publisher);
    assertProblem(refused, 403, 'plugin_blocked');
    await retest(workshop, 2, workshop.owner);
    assert.equal(await settled(workshop, 2), 'awaiting_approval, passed');
    await workshop.call('DELETE', '/block');
    assert.equal(await workshop.bound(), 1);
  });

  it('starts an errored test at once, and each run once', async () => {
    const workshop = await tested();
    simulate = async () => reportOf('errored');
    await workshop.publish(2);
    const test = held(passes);
    const runs = await Promise.all([1, 2, 3].map(() => retest(workshop, 2)));
    assert.equal(new Set(runs.map(({ id }) => id)).size, 1);
    test.release();
    assert.equal(await settled(workshop, 2), 'published, passed');
  });

  it('needs simulations', async () => {
    const workshop = await openWorkshop(service);
    await workshop.publish(1);
    assertProblem(await workshop.call('POST', '/versions/1/simulation-runs'), 409, 'conflict');
  });
});
