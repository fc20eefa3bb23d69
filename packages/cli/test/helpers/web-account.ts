import assert from 'node:assert/strict';
import type { AuthorizationView } from '@tenon/protocol';

/** A user with an account and a browser session, as the server sees it. */
export interface WebAccount {
  readonly email: string;
  readonly password: string;
  /** What the approval page shows for an authorization URL. */
  readonly view: (url: string) => Promise<AuthorizationView>;
  /** Decides on the page at an authorization URL. @returns where the browser is sent */
  readonly decide: (url: string, decision: Decision) => Promise<string>;
  /** Decides, and goes where the browser is sent. @returns what is shown there */
  readonly decideAndReturn: (url: string, decision: Decision) => Promise<{ status: number; text: string }>;
  /** Types a device's code, and decides. */
  readonly decideDevice: (userCode: string, decision: Decision) => Promise<void>;
}

export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly scopes?: readonly string[];
  readonly password?: string;
}

const password = 'magnolia tugboat 17 linen';

/** Makes an account at a server that is open to everybody. */
export async function signUp(serverUrl: string, name: string): Promise<WebAccount> {
  const email = `${name.toLowerCase()}@example.org`;
  const headers = { 'content-type': 'application/json', origin: new URL(serverUrl).origin };
  const post = (path: string, body: unknown, cookie = '') =>
    fetch(serverUrl + path, { method: 'POST', headers: { ...headers, cookie }, body: JSON.stringify(body) });
  const signedUp = await post('/session/sign-up', { name, email, password });
  assert.equal(signedUp.status, 201, await signedUp.text());
  const cookie = signedUp.headers
    .getSetCookie()
    .map((field) => field.split(';')[0])
    .join('; ');
  const send = async (path: string, body: unknown) => {
    const response = await post(path, body, cookie);
    assert.ok(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
    return response;
  };
  const decide = async (url: string, decision: Decision) => {
    const request = new URL(url).search.slice(1);
    const outcome = await (await send('/session/authorization', { request, ...decision })).json();
    return (outcome as { redirectTo: string }).redirectTo;
  };
  return {
    email,
    password,
    decide,
    async view(url) {
      const request = new URL(url).search.slice(1);
      return (await (await send('/session/authorization/view', { request })).json()) as AuthorizationView;
    },
    async decideAndReturn(url, decision) {
      const response = await fetch(await decide(url, decision));
      return { status: response.status, text: await response.text() };
    },
    async decideDevice(userCode, decision) {
      await send('/session/device', { userCode, ...decision });
    },
  };
}
