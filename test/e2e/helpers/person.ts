import assert from 'node:assert/strict';
import type { SessionState, SessionToken } from '@tenon/protocol';

/** A user with an account, who uses the API instead of pages. */
export interface Person {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly userId: string;
  /** Calls the API; fails on an answer that is an error. */
  call<T>(method: string, path: string, json?: unknown): Promise<T>;
  /** Publishes a module. */
  publish(extensionPointId: string, name: string, wasm: Uint8Array): Promise<void>;
}

/** Opens an account on a server that is open to everybody. */
export async function signUp(url: string, name: string, email: string, password: string): Promise<Person> {
  const post = (path: string, body: unknown, cookie: string) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(url).origin, cookie },
      body: JSON.stringify(body),
    });
  const signedUp = await post('/session/sign-up', { name, email, password }, '');
  const { account } = await sound<SessionState>(signedUp);
  const cookie = signedUp.headers
    .getSetCookie()
    .map((field) => field.split(';')[0])
    .join('; ');
  const { accessToken } = await sound<SessionToken>(await post('/session/token', {}, cookie));
  const authorization = `Bearer ${accessToken}`;
  const userId = account?.id ?? '';
  return {
    name,
    email,
    password,
    userId,
    async call(method, path, json) {
      const init = json === undefined ? {} : { body: JSON.stringify(json) };
      const headers = json === undefined ? { authorization } : { authorization, 'content-type': 'application/json' };
      return sound(await fetch(`${url}/api/v1${path}`, { method, headers, ...init }));
    },
    async publish(extensionPointId, pluginName, wasm) {
      const body = new FormData();
      body.append('artifact', new Blob([Uint8Array.from(wasm)]), `${pluginName}.wasm`);
      const path = `/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${pluginName}`;
      await sound(await fetch(url + path, { method: 'PUT', headers: { authorization }, body }));
    },
  };
}

async function sound<T>(response: Response): Promise<T> {
  const text = await response.text();
  assert.ok(response.ok, `${response.url}: ${response.status} ${text}`);
  return JSON.parse(text === '' ? 'null' : text);
}
