import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ContentAddress, SimulationReport } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { ClientDisconnected } from '../src/http/bodies/read-bytes.ts';
import { createKeyedMutex } from '../src/http/limits/keyed-mutex.ts';
import { takeTurn } from '../src/simulations/simulation-inputs.ts';
import { openWorkshop, type Workshop } from './helpers/plugins.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';
import { putSimulation, reportOf, scriptedSimulator } from './helpers/simulations.ts';

let service: TestService;
let simulate: (name: string) => Promise<SimulationReport>;

const passes = async (name: string) => reportOf('passed', { name });
const used = () => service.services.bodyBudget.used;

before(async () => {
  service = await openService({ simulator: scriptedSimulator(({ simulation }) => simulate(simulation.name)) });
});
beforeEach(() => {
  simulate = passes;
});
after(() => service.close());

/** Two published versions, then simulations of that many bytes each. */
async function tested(...bytes: number[]): Promise<Workshop> {
  const workshop = await openWorkshop(service);
  await workshop.publish(1);
  await workshop.publish(2);
  for (const [at, size] of bytes.entries()) {
    await putSimulation(service, workshop.extensionPointId, { name: `s${at}`, bytes: size });
  }
  return workshop;
}

/** Simulations that don't end before the test lets them. */
function held() {
  const released = Promise.withResolvers<void>();
  const begun: string[] = [];
  simulate = async (name) => {
    begun.push(name);
    await released.promise;
    return passes(name);
  };
  return { begun, release: released.resolve };
}

const compare = (workshop: Workshop, by = workshop.publisher) =>
  workshop.call('GET', '/versions/2/comparison?against=1', undefined, by);

const attempt = (workshop: Workshop) =>
  service.call('POST', `/api/v1/extension-points/${workshop.extensionPointId}/simulations/trial`, {
    token: workshop.owner.token,
    json: {},
  });

const sizeOf = async (workshop: Workshop) => (await workshop.versions())[0]?.size as number;

describe('requests that run simulations', () => {
  const requests = {
    comparison: { send: (workshop: Workshop) => compare(workshop), versions: 2 },
    trial: { send: attempt, versions: 1 },
    'dry run': { send: (workshop: Workshop) => workshop.tryPublish(3, '?dryRun=true'), versions: 0 },
  };

  for (const [name, { send, versions }] of Object.entries(requests)) {
    it(`a ${name} takes memory for its versions and its largest simulation`, async () => {
      const workshop = await tested(1000, 3000, 2000);
      const moduleBytes = versions === 0 ? 0 : versions * (await sizeOf(workshop));
      const { begun, release } = held();
      const before = used();
      const answer = send(workshop);
      await until(() => begun.length === 1);
      const [taken, expected] = [used() - before, 3000 + moduleBytes];
      assert.ok(taken >= expected && taken < expected + 500, `${taken}`); // with the body
      release();
      assert.equal((await answer).statusCode, 200, (await answer).payload);
      assert.equal(used(), before);
    });

    it(`a ${name} does not start when the memory for bodies is full`, async () => {
      const workshop = await tested(2 ** 36);
      const { begun } = held();
      assertProblem(await send(workshop), 503, 'unavailable');
      assert.deepEqual(begun, []);
    });
  }

  it('of one account take turns, and those of another account run meanwhile', async () => {
    const workshop = await tested(1000);
    const { begun, release } = held();
    const before = used();
    const answers = Array.from({ length: 5 }, () => compare(workshop));
    await until(() => begun.length === 1);
    const one = used() - before;
    answers.push(compare(workshop, workshop.owner));
    await until(() => begun.length === 2);
    assert.equal(used() - before, 2 * one);
    answers.push(attempt(workshop));
    release();
    for (const { statusCode, payload } of await Promise.all(answers)) assert.equal(statusCode, 200, payload);
  });

  it('read a module only when the simulations before it have ended', async () => {
    const workshop = await tested(1000);
    const missing = 'A'.repeat(43) as ContentAddress;
    const module = { testModule: missing, testModuleSize: 9, fixturesJson: null };
    await putSimulation(service, workshop.extensionPointId, { name: 's1', ...module });
    const ran: string[] = [];
    simulate = async (name) => {
      ran.push(name);
      return passes(name);
    };
    assert.equal((await compare(workshop)).statusCode, 500);
    assert.deepEqual(ran, ['s0', 's0']);
  });
});

describe('takeTurn()', () => {
  it('gives up at once for a client that disconnects, and passes the turn on', async () => {
    const deps = { mutex: createKeyedMutex() };
    const held = Promise.withResolvers<number>();
    const first = takeTurn(deps, { fairnessKey: 'a' }, () => held.promise);
    const controller = new AbortController();
    const { signal } = controller;
    const second = takeTurn(deps, { fairnessKey: 'a', signal }, () => assert.fail('it has disconnected'));
    const third = takeTurn(deps, { fairnessKey: 'a' }, async () => 3);
    controller.abort();
    await assert.rejects(second, ClientDisconnected);
    await assert.rejects(
      takeTurn(deps, { fairnessKey: 'b', signal }, () => assert.fail('it has disconnected')),
      ClientDisconnected,
    );
    held.resolve(1);
    assert.deepEqual(await Promise.all([first, third]), [1, 3]);
  });
});
