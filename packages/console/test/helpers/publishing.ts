import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { PublishedPlugin, SessionToken } from '@tenon/protocol';
import type { Stage, Visitor } from './stage.ts';
import { accept, signUpThrough, type Workshop } from './workshop.ts';

const greet = readFileSync(new URL('../../../server/sample/greet.wasm', import.meta.url));

/** The sample plugin with a custom section that nobody reads: other bytes for each text, and the same module. */
export function greetThatSays(text: string): Buffer {
  const content = Buffer.concat([Buffer.from([1, 0x70]), Buffer.from(text)]);
  assert.ok(content.length < 128, 'the length is written in one byte');
  return Buffer.concat([greet, Buffer.from([0, content.length]), content]);
}

/** A user who publishes, with a browser and with programs. */
export interface Publisher {
  readonly visitor: Visitor;
  readonly userId: string;
  call<T>(method: string, path: string, json?: unknown): Promise<T>;
  /** Publishes a version of a plugin, and fails on an answer that is an error. */
  publish(extensionPointId: string, name: string, bytes: Buffer, query?: string): Promise<PublishedPlugin>;
}

/** Signs a user up who accepts an invitation to the guest. */
export async function openPublisher(
  stage: Stage,
  workshop: Workshop,
  guestKey: string,
  name: string,
): Promise<Publisher> {
  const visitor = await stage.visitor({ acceptDownloads: true });
  await signUpThrough(visitor, await workshop.invite(guestKey), name);
  await accept(visitor);
  const { accessToken } = await visitor.page.evaluate(async (): Promise<SessionToken> => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/session/token', { method: 'POST', headers, body: '{}' })).json();
  });
  const send = async <T>(method: string, path: string, body?: BodyInit, type = 'application/json'): Promise<T> => {
    const headers = { authorization: `Bearer ${accessToken}`, ...(body === undefined ? {} : { 'content-type': type }) };
    const response = await fetch(stage.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? (undefined as T) : JSON.parse(text);
  };
  const call: Publisher['call'] = (method, path, json) =>
    send(method, path, json === undefined ? undefined : JSON.stringify(json));
  const { id: userId } = await call<{ id: string }>('GET', '/api/v1/me');
  return {
    visitor,
    userId,
    call,
    publish: (extensionPointId, pluginName, bytes, query = '') =>
      send(
        'PUT',
        `/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${pluginName}${query}`,
        new Uint8Array(bytes),
        'application/wasm',
      ),
  };
}
