import { setTimeout as sleep } from 'node:timers/promises';
import type { PublishedPlugin, TokenCreated } from '@tenon/protocol';
import type { Reply, RequestOptions } from './client.ts';
import { addressOf, moduleOf, type Publisher, pluginNames } from './fixture.ts';
import { runReader } from './readers.ts';
import type { Reader, Workload } from './workload.ts';

/** A write that is not acknowledged in this time fails the test. */
const writeTimeoutMs = 240_000;

/**
 * Repeats a write until the server acknowledges it, as a client must after a failed connection or a 503: the write may or may not
 * have taken effect.
 *
 * @param isDone whether the status acknowledges the write; `isRetry` if an earlier attempt may have taken effect
 */
async function writeUntilAcknowledged(
  { client, random, report, isOver }: Workload,
  [method, path, options]: readonly [method: string, path: string, options: RequestOptions],
  isDone: (status: number | undefined, isRetry: boolean) => boolean,
): Promise<Reply> {
  const endsAt = performance.now() + writeTimeoutMs;
  for (let isRetry = false; ; isRetry = true) {
    const reply = await client.send(method, path, options);
    const { status, body } = reply;
    if (isDone(status, isRetry)) return reply;
    const isRetryable = status === undefined || status === 503 || status === 429;
    if (!isRetryable) report.violation(`${method} ${path}: unexpected ${status} ${body}`);
    if (!isRetryable && isOver()) return reply;
    if (performance.now() > endsAt) throw new Error(`${method} ${path} was not acknowledged in ${writeTimeoutMs} ms`);
    await sleep(random.between(20, 200));
  }
}

/** Publishes versions, and yanks some of them. */
export async function runPublisher(workload: Workload, { id, token, guestKey }: Publisher): Promise<void> {
  const { random, report, fixture, versions, isOver } = workload;
  const active = new Map<string, string[]>(pluginNames.map((name) => [name, []])); // versions that are not yanked
  for (let number = 1; !isOver(); number++) {
    const name = random.pick(pluginNames);
    const path = `/api/v1/artifacts/${fixture.extensionPointId}/plugin/${id}/${name}`;
    const register = workload.bindings.get(guestKey)?.get(name);
    const activeAddresses = active.get(name);
    if (register === undefined || activeAddresses === undefined) throw new Error(`No plugin ${name} of ${guestKey}`);
    const body = moduleOf(
      number,
      fixture.publishers.findIndex((publisher) => publisher.id === id),
    );
    const address = addressOf(body);
    const publish = register.startWrite(address);
    const headers = { 'content-type': 'application/wasm' };
    const reply = await writeUntilAcknowledged(
      workload,
      ['PUT', path, { token, body, headers }],
      (status) => status === 200 || status === 201,
    );
    publish.acknowledge();
    const published = versions.get(path) ?? [];
    versions.set(path, [...published, address]);
    activeAddresses.push(address);
    const { version, contentAddress } = JSON.parse(reply.body.toString()) as PublishedPlugin;
    if (contentAddress !== address || version.number !== published.length + 1) {
      const expected = `version ${published.length + 1} with ${address}`;
      report.violation(`${path}: published version ${version.number} with ${contentAddress}, not ${expected}`);
    }
    if (random.chance(0.3)) {
      activeAddresses.pop();
      const yank = register.startWrite(activeAddresses.at(-1) ?? null);
      await writeUntilAcknowledged(
        workload,
        ['POST', `${path}/versions/${version.number}/yank`, { token, json: { reason: 'Chaos test.' } }],
        (status, isRetry) => status === 200 || (isRetry && status === 409), // it is yanked already
      );
      yank.acknowledge();
    }
    await sleep(random.between(0, 60));
  }
}

/** Creates tokens, reads with them, and revokes them. */
export async function runTokenOwner(workload: Workload): Promise<void> {
  const { random, fixture, isOver, revokedTokens, createRegister } = workload;
  const { token } = fixture.tokenOwner;
  const isMember = createRegister(true);
  while (!isOver()) {
    const json = { name: 'chaos test', scopes: ['read'], expiresInDays: 1 };
    const reply = await writeUntilAcknowledged(
      workload,
      ['POST', '/api/v1/tokens', { token, json }],
      (status) => status === 201,
    );
    const created = JSON.parse(reply.body.toString()) as TokenCreated;
    const reader: Reader = { token: created.token, isRevoked: createRegister(false), isMember };
    const reading = runReader(workload, reader);
    await sleep(random.between(50, 400));
    const revocation = reader.isRevoked.startWrite(true);
    await writeUntilAcknowledged(
      workload,
      ['DELETE', `/api/v1/tokens/${created.id}`, { token }],
      (status, isRetry) => status === 204 || (isRetry && status === 404),
    );
    revocation.acknowledge();
    revokedTokens.push(created.token);
    await sleep(isOver() ? 0 : 1500); // the reader goes on, and must receive 401
    workload.readers.delete(reader);
    await reading;
  }
}

/** Adds a user to the application and removes it again. @returns the reader that acts as this user */
export async function runMembershipChanges(workload: Workload): Promise<Reader> {
  const { random, fixture, isOver, createRegister } = workload;
  const { appId, visitor } = fixture;
  const reader: Reader = { token: visitor.token, isRevoked: createRegister(false), isMember: createRegister(false) };
  const reading = runReader(workload, reader);
  const { token } = fixture.owner;
  while (!isOver()) {
    const joining = reader.isMember.startWrite(true);
    const inviting = ['POST', `/api/v1/apps/${appId}/members`, { token, json: { role: 'viewer' } }] as const;
    const invited = await writeUntilAcknowledged(workload, inviting, (status) => status === 200);
    const code = new URL(JSON.parse(String(invited.body)).link).searchParams.get('code');
    await writeUntilAcknowledged(
      workload,
      ['POST', '/api/v1/invitations/accept', { token: visitor.token, json: { code } }],
      (status, isRetry) => status === 200 || (isRetry && status === 410),
    );
    joining.acknowledge();
    await sleep(random.between(100, 900));
    const removal = reader.isMember.startWrite(false);
    await writeUntilAcknowledged(
      workload,
      ['DELETE', `/api/v1/apps/${appId}/members/${visitor.id}`, { token }],
      (status, isRetry) => status === 204 || (isRetry && status === 404),
    );
    removal.acknowledge();
    await sleep(random.between(100, 1500));
  }
  await reading;
  return reader;
}
