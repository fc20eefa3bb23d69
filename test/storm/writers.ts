import { setTimeout as sleep } from 'node:timers/promises';
import type { PublishedPlugin, TokenCreated } from '@tenon/protocol';
import type { Answer, Question } from './balancer.ts';
import { beHost } from './hosts.ts';
import { addressOf, moduleOf, type Publisher, pluginNames } from './stage.ts';
import type { Host, World } from './world.ts';

/** For how long something is asked for again before it counts as never acknowledged: longer than any machine takes. */
const patienceMs = 240_000;

/**
 * Asks for a change until it is acknowledged, as one who was told nothing, or 503, does: nobody knows what came of such a request.
 *
 * @param isDone whether the answer acknowledges it; `isRepeated` when a request before may have done it already
 */
async function insist(
  { balancer, chance, notes }: World,
  [method, path, question]: readonly [method: string, path: string, question: Question],
  isDone: (status: number | undefined, isRepeated: boolean) => boolean,
): Promise<Answer> {
  const endsAt = performance.now() + patienceMs;
  for (let isRepeated = false; ; isRepeated = true) {
    const answer = await balancer.ask(method, path, question);
    const { status, body } = answer;
    if (isDone(status, isRepeated)) return answer;
    const isHonest = status === undefined || status === 503 || status === 429;
    if (!isHonest) notes.wrong(`${method} ${path} is answered ${status} ${body}`);
    if (performance.now() > endsAt) throw new Error(`${method} ${path} was never acknowledged`);
    await sleep(chance.between(20, 200));
  }
}

/** Publishes further and further versions, and takes some of them back. */
export async function bePublisher(world: World, { id, token, guestKey }: Publisher): Promise<void> {
  const { chance, notes, stage, versions, isOver } = world;
  const left = new Map<string, string[]>(pluginNames.map((name) => [name, []])); // those not yanked
  for (let number = 1; !isOver(); number++) {
    const name = chance.pick(pluginNames);
    const path = `/api/v1/artifacts/${stage.extensionPointId}/plugin/${id}/${name}`;
    const register = world.bound.get(guestKey)?.get(name);
    const present = left.get(name);
    if (register === undefined || present === undefined) throw new Error(`There is no ${name} of ${guestKey}`);
    const body = moduleOf(
      number,
      stage.publishers.findIndex((one) => one.id === id),
    );
    const address = addressOf(body);
    const publishing = register.begin(address);
    const headers = { 'content-type': 'application/wasm' };
    const answer = await insist(
      world,
      ['PUT', path, { token, body, headers }],
      (status) => status === 200 || status === 201,
    );
    publishing.acknowledged();
    const numbered = versions.get(path) ?? [];
    versions.set(path, [...numbered, address]);
    present.push(address);
    const { version, contentAddress } = JSON.parse(answer.body.toString()) as PublishedPlugin;
    if (contentAddress !== address || version.number !== numbered.length + 1) {
      notes.wrong(`${path}: version ${version.number} is ${contentAddress}, not ${numbered.length + 1} of ${address}`);
    }
    if (chance.number() < 0.3) {
      present.pop();
      const yanking = register.begin(present.at(-1) ?? null);
      const question = { token, json: { reason: 'It rains.' } };
      await insist(
        world,
        ['POST', `${path}/versions/${version.number}/yank`, question],
        (status, isRepeated) => status === 200 || (isRepeated && status === 409), // it is yanked already
      );
      yanking.acknowledged();
    }
    await sleep(chance.between(0, 60));
  }
}

/** Makes tokens, uses them and revokes them. */
export async function beKeeper(world: World): Promise<void> {
  const { chance, stage, isOver, revoked } = world;
  const { token } = stage.keeper;
  const isMember = world.register(true);
  while (!isOver()) {
    const json = { name: 'of the storm', scopes: ['read'], expiresInDays: 1 };
    const made = await insist(world, ['POST', '/api/v1/tokens', { token, json }], (status) => status === 201);
    const fresh = JSON.parse(made.body.toString()) as TokenCreated;
    const host: Host = { token: fresh.token, isRevoked: world.register(false), isMember };
    const asking = beHost(world, host);
    await sleep(chance.between(50, 400));
    const revoking = host.isRevoked.begin(true);
    const path = `/api/v1/tokens/${fresh.id}`;
    await insist(
      world,
      ['DELETE', path, { token }],
      (status, isRepeated) => status === 204 || (isRepeated && status === 404),
    );
    revoking.acknowledged();
    revoked.push(fresh.token);
    await sleep(isOver() ? 0 : 1500); // who asks with it meets 401 from some moment on
    world.hosts.delete(host);
    await asking;
  }
}

/** Lets a user into the application and out again. @returns who asks as that user */
export async function beDoorkeeper(world: World): Promise<Host> {
  const { chance, stage, isOver } = world;
  const host: Host = { token: stage.visitor.token, isRevoked: world.register(false), isMember: world.register(false) };
  const asking = beHost(world, host);
  const { token } = stage.owner;
  const path = `/api/v1/apps/${stage.appId}/members/${stage.visitor.id}`;
  while (!isOver()) {
    const letting = host.isMember.begin(true);
    const inviting = ['POST', `/api/v1/apps/${stage.appId}/members`, { token, json: { role: 'viewer' } }] as const;
    const { link } = JSON.parse(String((await insist(world, inviting, (status) => status === 200)).body));
    const code = new URL(link).searchParams.get('code');
    await insist(
      world,
      ['POST', '/api/v1/invitations/accept', { token: stage.visitor.token, json: { code } }],
      (status, isRepeated) => status === 200 || (isRepeated && status === 410),
    );
    letting.acknowledged();
    await sleep(chance.between(100, 900));
    const removing = host.isMember.begin(false);
    await insist(
      world,
      ['DELETE', path, { token }],
      (status, isRepeated) => status === 204 || (isRepeated && status === 404),
    );
    removing.acknowledged();
    await sleep(chance.between(100, 1500));
  }
  await asking;
  return host;
}
