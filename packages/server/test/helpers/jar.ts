import assert from 'node:assert/strict';
import { newId, type SessionState, type UserId } from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import { createSetUpLink } from '../../src/auth/one-time-links.ts';
import type { TestService } from './service.ts';

/** A browser as our pages find it: it keeps cookies, and says that what it sends comes from our own page. */
export interface Jar {
  readonly cookies: Map<string, string>;
  call(
    method: string,
    path: string,
    json?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<LightMyRequestResponse>;
  /** The access token of a page that is opened in it. */
  token(): Promise<string>;
}

export function openJar(service: TestService): Jar {
  const cookies = new Map<string, string>();
  const jar: Jar = {
    cookies,
    async call(method, path, json, headers = {}) {
      const cookie = Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; ');
      const response = await service.call(method, path, {
        json,
        headers: { 'sec-fetch-site': 'same-origin', ...(cookie === '' ? {} : { cookie }), ...headers },
      });
      for (const { name, value } of response.cookies) {
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return response;
    },
    async token() {
      const response = await jar.call('POST', '/session/token', {});
      assert.equal(response.statusCode, 201, response.payload);
      return response.json<{ accessToken: string }>().accessToken;
    },
  };
  return jar;
}

/** A user with an account and a browser session. */
export interface Person {
  readonly id: UserId;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly jar: Jar;
}

export const goodPassword = 'magnolia tugboat 17 linen';

/** Makes an account with a set-up link of the operator's, as its owner would. */
export async function signUpPerson(
  service: TestService,
  { name = 'Ada', email = `${newId('user')}@example.org`, password = goodPassword } = {},
): Promise<Person> {
  const jar = openJar(service);
  const { code } = await createSetUpLink(service.services.deps, false);
  const response = await jar.call('POST', '/session/sign-up', { name, email, password, linkCode: code });
  assert.equal(response.statusCode, 201, response.payload);
  const { account } = response.json<SessionState>();
  assert.ok(account);
  return { id: account.id as UserId, name, email, password, jar };
}

/** Signs a user in, in a new browser by default. */
export async function signIn(
  service: TestService,
  { email, password }: Person,
  jar: Jar = openJar(service),
): Promise<Jar> {
  const response = await jar.call('POST', '/session', { email, password });
  assert.equal(response.statusCode, 200, response.payload);
  return jar;
}
