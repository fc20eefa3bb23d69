import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DeviceAuthorization } from '@tenon/protocol';

/** A program that waits for a login's answer on this machine, as `tenon login` does. */
export interface Program {
  readonly redirectUri: string;
  readonly verifier: string;
  /** The approval page's path, for this program; with parameters changed. */
  page(changes?: Readonly<Record<string, string>>): string;
  /** The queries that came to its callback. */
  readonly answers: URLSearchParams[];
  close(): void;
}

export async function startProgram(): Promise<Program> {
  const answers: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/callback') answers.push(url.searchParams);
    response.setHeader('content-type', 'text/html').end('<!doctype html><link rel="icon" href="data:,"><h1>Done</h1>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  return {
    redirectUri,
    verifier,
    answers,
    page(changes = {}) {
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: 'tenon-cli',
        redirect_uri: redirectUri,
        scope: 'read publish',
        state: 'the-state',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...changes,
      });
      return `/oauth/authorize?${query}`;
    },
    close: () => server.close(),
  };
}

/** Sends a form to one of OAuth's endpoints. */
export async function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly json: Readonly<Record<string, string>> }> {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams({ client_id: 'tenon-cli', ...form }) });
  return { status: response.status, json: (await response.json()) as Record<string, string> };
}

/** Asks for a login by a device's code. */
export async function askByDevice(url: string, deviceName = 'build-box'): Promise<DeviceAuthorization> {
  const { json } = await postForm(`${url}/oauth/device_authorization`, { scope: 'read', device_name: deviceName });
  return json as unknown as DeviceAuthorization;
}
