import assert from 'node:assert/strict';
import type { RegisteredPasskey, SessionState } from '@tenon/protocol';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import { type Jar, openJar, type Person } from './jar.ts';
import type { TestService } from './service.ts';
import {
  type Algorithm,
  createAuthenticator,
  type Deviation,
  type SoftwareAuthenticator,
} from './software-authenticator.ts';

/** Adds a passkey to the account that is signed in in a browser. */
export async function addPasskey(
  { jar }: Pick<Person, 'jar'>,
  { name = 'Laptop', algorithm }: { readonly name?: string; readonly algorithm?: Algorithm } = {},
): Promise<RegisteredPasskey & { readonly authenticator: SoftwareAuthenticator }> {
  const authenticator = createAuthenticator(undefined, algorithm);
  const options = await optionsOf(jar, '/session/passkeys/options');
  const response = await jar.call('POST', '/session/passkeys', { name, response: authenticator.create(options) });
  assert.equal(response.statusCode, 201, response.payload);
  return { ...response.json<RegisteredPasskey>(), authenticator };
}

export async function optionsOf(jar: Jar, path = '/session/passkey/options'): Promise<unknown> {
  const response = await jar.call('POST', path, {});
  assert.equal(response.statusCode, 200, response.payload);
  return response.json();
}

/** Signs in with a passkey, without an e-mail address. */
export async function signInWith(
  service: TestService,
  authenticator: SoftwareAuthenticator,
  { jar = openJar(service), deviation = {} }: { readonly jar?: Jar; readonly deviation?: Deviation } = {},
): Promise<{ readonly jar: Jar; readonly response: LightMyRequestResponse }> {
  const options = await optionsOf(jar);
  const response = await jar.call('POST', '/session/passkey', { response: authenticator.get(options, deviation) });
  return { jar, response };
}

/** Enters the password of an account that needs a second factor. */
export async function enterPassword(
  service: TestService,
  { email, password }: Person,
  jar = openJar(service),
): Promise<Jar> {
  const response = await jar.call('POST', '/session', { email, password });
  assert.equal(response.statusCode, 200, response.payload);
  const { account, secondFactor } = response.json<SessionState>();
  assert.equal(account, null);
  assert.ok(secondFactor);
  return jar;
}

export async function confirmWith({ jar }: Pick<Person, 'jar'>, authenticator: SoftwareAuthenticator): Promise<void> {
  const options = await optionsOf(jar, '/session/confirm/options');
  const response = await jar.call('POST', '/session/confirm', { passkey: authenticator.get(options) });
  assert.equal(response.statusCode, 204, response.payload);
}
