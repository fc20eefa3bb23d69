import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Invitation, newId, type Plugin } from '@tenon/protocol';
import { moduleOfSize } from '../../bench/support/module-of-size.ts';
import type { CallOptions, TestService, TestUser } from './service.ts';

/** The sample plugin: a real module. */
export const sampleModule = readFileSync(new URL('../../sample/greet.wasm', import.meta.url));

/** The sample plugin with a number in a custom section, so that no two are alike. */
export function greeter(number: number): Buffer {
  const section = Buffer.from([0, 6, 1, 0x6e, 0, 0, 0, 0]); // a name of one byte, "n", and four for the number
  section.writeUInt32LE(number, 4);
  return Buffer.concat([sampleModule, section]);
}

/** `(module (func (export "evaluate")))`: what {@link makeExtensionPoint}'s schema asks for. */
const evaluating = Buffer.concat([
  Buffer.from('0061736d01000000', 'hex'),
  Buffer.from([1, 4, 1, 0x60, 0, 0]), // types: one function without parameters and results
  Buffer.from([3, 2, 1, 0]), // functions: one of it
  Buffer.from([7, 12, 1, 8]), // exports: one, with a name of 8 bytes
  Buffer.from('evaluate'),
  Buffer.from([0, 0]), // which is the function 0
  Buffer.from([10, 4, 1, 2, 0, 0x0b]), // code: one body, without locals, that ends
]);

/** A valid module whose bytes are like no other number's: the number is in a custom section. */
export function tinyModule(number: number): Buffer {
  const section = Buffer.alloc(6);
  section.set([1, 0x6e]); // a name of one byte, "n"
  section.writeUInt32LE(number, 2);
  return Buffer.concat([evaluating, Buffer.from([0, section.length]), section]);
}

/** `(module (func (export "test") (result i32) i32.const 0))`: a test of a simulation that passes. */
export const testModule = Buffer.concat([
  Buffer.from('0061736d01000000', 'hex'),
  Buffer.from([1, 5, 1, 0x60, 0, 1, 0x7f]), // types: one function that returns an i32
  Buffer.from([3, 2, 1, 0]), // functions: one of it
  Buffer.from([7, 8, 1, 4]), // exports: one, with a name of 4 bytes
  Buffer.from('test'),
  Buffer.from([0, 0]), // which is the function 0
  Buffer.from([10, 6, 1, 4, 0, 0x41, 0, 0x0b]), // code: one body that returns 0
]);

let lastFresh = 1_000_000;

/** A {@link tinyModule} whose bytes nothing has published yet: bytes that a team withdraws stay withdrawn. */
export function freshModule(): Buffer {
  return tinyModule(lastFresh++);
}

/** A module of exactly so many bytes that an extension point of {@link makeExtensionPoint} takes. */
export function largeModule(size: number): Buffer {
  const preambleBytes = 8;
  const filling = moduleOfSize(size - evaluating.length + preambleBytes).subarray(preambleBytes);
  return Buffer.concat([evaluating, filling]);
}

/** A multipart/form-data body, and the content type that goes with it. */
export function formOf(parts: readonly { name: string; content: Buffer | string; extra?: string }[]): {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
} {
  const boundary = 'a-boundary-of-the-tests';
  const chunks = parts.flatMap(({ name, content, extra = '' }) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"${extra}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** A list as it comes over the wire. */
export interface List<T> {
  readonly objects: T[];
  readonly nextCursor?: string;
  readonly previousCursor?: string;
  readonly total?: number;
}

/** An application with everybody who can have to do with it. */
export interface World {
  readonly service: TestService;
  readonly owner: TestUser;
  readonly admin: TestUser;
  readonly viewer: TestUser;
  readonly guest: TestUser;
  readonly otherGuest: TestUser;
  readonly stranger: TestUser;
  readonly appId: string;
  readonly extensionPointId: string;
  readonly guestKey: string;
  readonly guestId: string;
  /** What the guest has published, by the name `median`. */
  readonly plugin: Plugin;
}

export async function makeWorld(service: TestService): Promise<World> {
  const [owner, admin, viewer, guest, otherGuest, stranger] = await Promise.all(
    ['Olga', 'Adam', 'Vera', 'Gustav', 'Greta', 'Stan'].map((name) => service.user(name)),
  );
  assert.ok(owner && admin && viewer && guest && otherGuest && stranger);
  const appId = await makeApp(service, owner, { admin, viewer });
  const extensionPointId = await makeExtensionPoint(service, owner, appId);
  const guestKey = 'customers/globex';
  const guestId = await makeGuest(service, owner, appId, guestKey, guest);
  await makeGuest(service, owner, appId, 'customers/initech', otherGuest);
  const plugin = await publishAs(service, guest, extensionPointId, 'median', tinyModule(1));
  return {
    service,
    owner,
    admin,
    viewer,
    guest,
    otherGuest,
    stranger,
    appId,
    extensionPointId,
    guestKey,
    guestId,
    plugin,
  };
}

/** A call that must go well; its JSON. */
export async function ok<T>(service: TestService, method: string, path: string, options: CallOptions): Promise<T> {
  const response = await service.call(method, path, options);
  assert.ok(response.statusCode < 300, `${method} ${path}: ${response.statusCode} ${response.payload}`);
  return (response.payload === '' ? undefined : response.json()) as T;
}

export async function makeApp(
  service: TestService,
  owner: TestUser,
  team: Readonly<Record<string, TestUser>> = {},
): Promise<string> {
  const { token } = owner;
  const { id } = await ok<{ id: string }>(service, 'POST', '/api/v1/apps', { token, json: { name: 'Acme' } });
  for (const [role, user] of Object.entries(team)) {
    await makeMember(service, owner, id, role, user);
  }
  return id;
}

/** Makes a user a member of an application's team, by an invitation. */
export async function makeMember(
  service: TestService,
  owner: Pick<TestUser, 'token'>,
  appId: string,
  role: string,
  user: Pick<TestUser, 'token'>,
): Promise<void> {
  const json = { code: await inviteMember(service, owner, appId, role) };
  await ok(service, 'POST', '/api/v1/invitations/accept', { token: user.token, json });
}

/** The code of an invitation to the team. */
export async function inviteMember(
  service: TestService,
  { token }: Pick<TestUser, 'token'>,
  appId: string,
  role: string,
): Promise<string> {
  const path = `/api/v1/apps/${appId}/members`;
  return codeOf(await ok(service, 'POST', path, { token, json: { role } }));
}

function codeOf({ link }: { readonly link: string }): string {
  return new URL(link).searchParams.get('code') ?? '';
}

export async function makeExtensionPoint(service: TestService, owner: TestUser, appId: string): Promise<string> {
  const json = { name: 'Formulas', schema: { exports: ['evaluate'] } };
  const path = `/api/v1/apps/${appId}/extension-points`;
  return (await ok<{ id: string }>(service, 'POST', path, { token: owner.token, json })).id;
}

/** An invitation's code. */
export async function invite(service: TestService, owner: TestUser, appId: string, guestKey: string): Promise<string> {
  const json = { deliveryMethod: 'link', guestKey };
  return codeOf(await ok(service, 'POST', `/api/v1/apps/${appId}/guests`, { token: owner.token, json }));
}

/** Makes a user hold a guest; the guest's id. */
export async function makeGuest(
  service: TestService,
  owner: TestUser,
  appId: string,
  guestKey: string,
  user: TestUser,
): Promise<string> {
  const code = await invite(service, owner, appId, guestKey);
  const json = { code };
  const accepted = await ok<{ guestId: string }>(service, 'POST', '/api/v1/invitations/accept', {
    token: user.token,
    json,
  });
  return accepted.guestId;
}

export async function publishAs(
  service: TestService,
  user: TestUser,
  extensionPointId: string,
  name: string,
  bytes: Buffer,
): Promise<Plugin> {
  const path = `/api/v1/artifacts/${extensionPointId}/plugin/${user.id}/${name}`;
  const { token } = user;
  return ok<Plugin>(service, 'PUT', path, { token, body: bytes, headers: { 'content-type': 'application/wasm' } });
}

export async function listOfInvitations({ service, owner, appId }: World): Promise<Invitation[]> {
  const path = `/api/v1/apps/${appId}/invitations`;
  return (await ok<{ objects: Invitation[] }>(service, 'GET', path, { token: owner.token })).objects;
}

/** Bytes that the team yanked, of a plugin of the guest's that was deleted since. */
export async function withdrawnBytes(world: World): Promise<{ readonly contentAddress: string }> {
  const { service, guest, owner, extensionPointId } = world;
  const name = newId('version');
  const { id, contentAddress } = await publishAs(service, guest, extensionPointId, name, freshModule());
  const path = `/api/v1/artifacts/${id}`;
  await ok(service, 'POST', `${path}/versions/1/yank`, { token: owner.token, json: { reason: 'why' } });
  await ok(service, 'DELETE', path, { token: guest.token });
  assert.ok(contentAddress);
  return { contentAddress };
}
