import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { isSecret, makeSecret, secretRandomBytes } from '@tenon/protocol';
import { until } from '../../../test/helpers/until.ts';
import { signUpPerson } from './helpers/jar.ts';
import { type Bystander, makeBystander } from './helpers/others.ts';
import { type Served, serveApart, untilAtMost } from './helpers/served.ts';
import { openService, type TestService } from './helpers/service.ts';
import type { WireAnswer } from './helpers/wire.ts';
import { formOf, largeModule, makeWorld, publishAs, tinyModule, type World } from './helpers/world.ts';

const MiB = 1024 * 1024;

/** A real program, which takes a thread a while. */
const realModule = readFileSync(createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm'));

describe('a flood from one token', () => {
  let service: TestService;
  let world: World;
  let served: Served;
  let bystanderOn: (served: Served) => Bystander;
  let bystander: Bystander;
  before(async () => {
    service = await openService({ config: { logLevel: 'warn' } });
    world = await makeWorld(service);
    bystanderOn = await makeBystander(service);
    const settings = {
      TENON_MODULE_WORKERS: '1',
      TENON_RATES: 'writes-per-second=20,write-burst=20',
      TENON_LIMITS: 'requests-per-account=24',
      TENON_TRUSTED_PROXIES: '127.0.0.1',
    };
    served = await serveApart(service.dataDir, settings, { moduleQueue: 4, maxBodyMemoryBytes: 32 * MiB });
    bystander = bystanderOn(served);
    await bystander.work(2);
  });
  after(async () => {
    await served.stop();
    await service.close();
  });

  /**
   * Sends requests without a pause on a number of connections, until others have done their work and the awaited status came:
   * on a fast machine that is at once, and on a slow one later.
   *
   * @returns the number of responses by status
   */
  async function flood(
    connections: number,
    others: () => Promise<void>,
    ask: (at: number) => Promise<WireAnswer>,
    awaited: number,
  ): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    let areOthersDone = false;
    const ends = Array.from({ length: connections }, async (_, at) => {
      while (!areOthersDone || !statuses.has(awaited)) {
        const status = await ask(at).then(
          (answer) => answer.status,
          () => 0, // a connection that was cut
        );
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    });
    try {
      await others();
    } catch (error) {
      statuses.set(awaited, 0); // nothing is awaited after a failure
      throw error;
    } finally {
      areOthersDone = true;
      await Promise.all(ends);
    }
    return statuses;
  }
  const only = (statuses: Map<number, number>, ...expected: number[]) => {
    for (const status of statuses.keys())
      assert.ok(expected.includes(status), `${status}: ${statuses.get(status)} times`);
    assert.ok((statuses.get(expected[0] ?? 0) ?? 0) > 0, `none was answered ${expected[0]}`);
  };
  const bearer = (token: string) => `authorization: Bearer ${token}`;
  const listLine = () => `GET /api/v1/extension-points/${world.extensionPointId}/bindings/${world.guestKey} HTTP/1.1`;

  it('of lists and contents is served without delays for others', async () => {
    const { owner, plugin, appId } = world;
    const lines = [
      listLine(),
      `GET /api/v1/c/${plugin.contentAddress} HTTP/1.1`,
      `GET /api/v1/apps/${appId}/guests HTTP/1.1`,
    ];
    only(
      await flood(
        24,
        () => bystander.work(15),
        (at) => served.ask([lines[at % lines.length] ?? '', bearer(owner.token)]),
        200,
      ),
      200,
    );
  });

  it('above the limit of concurrent requests of an account gets 429, with any of its tokens', async () => {
    const { owner, guest, extensionPointId } = world;
    const { contentAddress } = await publishAs(service, guest, extensionPointId, 'large', largeModule(24 * MiB));
    const second = await service.token(owner.id);
    const large = `GET /api/v1/c/${contentAddress} HTTP/1.1`;
    const stuck = await Promise.all(
      Array.from({ length: 24 }, async (_, at) => {
        const socket = await served.connect();
        socket.pause();
        socket.write(`${large}\r\nhost: x\r\n${bearer(at % 2 === 0 ? owner.token : second)}\r\n\r\n`);
        return socket;
      }),
    );
    await until(async () => (await served.metric('tenon_http_requests_in_progress')) >= 24);
    const refused = await served.ask([large, bearer(second)]);
    assert.equal(refused.status, 429, refused.body.toString());
    assert.equal(refused.headers['retry-after'], '1');
    await bystander.work(3);
    for (const socket of stuck) socket.destroy();
    await untilAtMost(served, 'tenon_http_requests_in_progress', 0);
    assert.equal((await served.ask([`HEAD /api/v1/c/${contentAddress} HTTP/1.1`, bearer(second)])).status, 200);
  });

  it('of unknown tokens gets 401 without delays for others', async () => {
    const secret = makeSecret('accessToken', randomBytes(secretRandomBytes));
    assert.ok(isSecret('accessToken', secret));
    const wrong = ['nonsense', secret];
    const ask = (at: number) => served.ask([listLine(), bearer(wrong[at % 2] ?? '')]);
    only(await flood(24, () => bystander.work(10), ask, 401), 401);
  });

  it('of changes gets 429 above its rate without delays for others', async () => {
    const { guest, extensionPointId } = world;
    // A rate that the slowest machine exceeds.
    const slow = await serveApart(service.dataDir, { TENON_RATES: 'writes-per-second=1,write-burst=6' });
    const other = bystanderOn(slow);
    let number = 5000;
    const ask = () => {
      const bytes = tinyModule(number++);
      return slow.ask(
        [
          `PUT /api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/median HTTP/1.1`,
          bearer(guest.token),
          'content-type: application/wasm',
          `content-length: ${bytes.length}`,
        ],
        bytes,
      );
    };
    try {
      only(await flood(16, () => other.work(5), ask, 429), 429, 200, 201, 503);
    } finally {
      await slow.stop();
    }
  });

  it('of large modules to instrument blocks neither threads nor memory for others', async () => {
    const key = await service.apiKey(world.guest.id);
    const form = formOf([{ name: 'wasm', content: realModule }]);
    const lines = [
      'POST /instrument HTTP/1.1',
      bearer(key),
      `content-type: ${form.headers['content-type']}`,
      `content-length: ${form.body.length}`,
    ];
    const statuses = await flood(
      12,
      () => bystander.work(3),
      () => served.ask(lines, form.body),
      503,
    );
    only(statuses, 503, 200, 429, 0);
    await untilAtMost(served, 'tenon_worker_tasks_running', 0);
    assert.equal(await served.metric('tenon_worker_tasks_queued'), 0);
    await bystander.work(1);
  });

  it('of large modules to publish stays within the memory budget', async () => {
    const { guest, extensionPointId } = world;
    const module = largeModule(8 * MiB);
    const before = await served.metric('process_resident_memory_bytes');
    let most = before;
    const ask = (at: number) =>
      served.ask(
        [
          `PUT /api/v1/artifacts/${extensionPointId}/plugin/${guest.id}/large${at} HTTP/1.1`,
          bearer(guest.token),
          'content-type: application/wasm',
          `content-length: ${module.length}`,
        ],
        module,
      );
    const others = async () => {
      for (let round = 0; round < 2; round++) {
        await bystander.work(1);
        most = Math.max(most, await served.metric('process_resident_memory_bytes'));
      }
    };
    only(await flood(16, others, ask, 503), 503, 200, 201, 429, 0);
    const grown = (most - before) / MiB;
    assert.ok(grown < 256, `${Math.round(grown)} MiB more, where 32 are set aside for what is sent without end`);
  });

  it('of passwords is limited while others sign in', async () => {
    const person = await signUpPerson(service);
    const before = await served.metric('process_resident_memory_bytes');
    const signIn = (email: string, password: string, from: string) => {
      const body = JSON.stringify({ email, password });
      return served.ask(
        [
          'POST /session HTTP/1.1',
          'content-type: application/json',
          `x-forwarded-for: ${from}`,
          `content-length: ${body.length}`,
        ],
        body,
      );
    };
    let most = before;
    const others = async () => {
      for (let round = 0; round < 2; round++) {
        const answer = await signIn(person.email, person.password, `203.0.113.${round}`);
        assert.equal(answer.status, 200, answer.body.toString());
        await bystander.work(1);
        most = Math.max(most, await served.metric('process_resident_memory_bytes'));
      }
    };
    let count = 0;
    const ask = () => signIn(`unknown${count++}@example.org`, 'not a password', '198.51.100.7');
    const statuses = await flood(50, others, ask, 429);
    only(statuses, 429, 401);
    const grown = (most - before) / MiB;
    assert.ok(grown < (50 * 64) / 4, `${Math.round(grown)} MiB more for 50 at once, of which each takes 64`);
  });
});
