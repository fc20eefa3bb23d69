import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import type { OauthMetadata } from '@tenon/protocol';
import { CliError } from '../errors.ts';
import type { Target } from '../transport.ts';
import { loginRefused, readMetadata, requestDeviceCode, requestToken, revokeToken } from './oauth-client.ts';

/** What a healthy server says of itself. */
function metadataOf(issuer: string): OauthMetadata {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    device_authorization_endpoint: `${issuer}/oauth/device_authorization`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: ['read', 'publish', 'manage'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/docs`,
  };
}

/** A server that answers as a broken or a hostile one does, which the real one can't be made to. */
async function serveWith(t: TestContext, listener: RequestListener, path = ''): Promise<Target> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return { url, fetch: globalThis.fetch, timeoutMs: 5_000, signal: new AbortController().signal };
}

function answering(status: number, body: unknown, headers: Record<string, string> = {}): RequestListener {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

describe('readMetadata()', () => {
  it('asks below the path of the server first, then where RFC 8414 has it', async (t) => {
    const asked: (string | undefined)[] = [];
    const target = await serveWith(
      t,
      (request, response) => {
        asked.push(request.url);
        if (asked.length === 1) answering(404, {})(request, response);
        else answering(200, metadataOf(target.url))(request, response);
      },
      '/tenon',
    );
    assert.equal((await readMetadata(target)).issuer, target.url);
    assert.deepEqual(asked, [
      '/tenon/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/tenon',
    ]);
  });

  it('refuses a server that names another', async (t) => {
    for (const issuer of ['https://evil.example', 'http://localhost:1', '', 'nonsense', 'data:,x']) {
      const target = await serveWith(t, answering(200, metadataOf(issuer)));
      await assert.rejects(readMetadata(target), { code: 'issuer_mismatch', exitCode: 1 }, issuer);
    }
  });

  it('refuses a server that sends people or codes elsewhere', async (t) => {
    for (const [name, elsewhere] of [
      ['authorization_endpoint', 'https://evil.example/oauth/authorize'],
      ['authorization_endpoint', 'file:///etc/passwd'],
      ['authorization_endpoint', 'javascript:alert(1)'],
      ['token_endpoint', 'http://127.0.0.1:1/oauth/token'],
      ['device_authorization_endpoint', 'relative'],
    ] as const) {
      const target = await serveWith(t, (request, response) =>
        answering(200, { ...metadataOf(target.url), [name]: elsewhere })(request, response),
      );
      await assert.rejects(
        readMetadata(target),
        { code: 'unexpected_response', message: /to another site/ },
        elsewhere,
      );
    }
  });

  it('tells a server without login from one that answers nonsense, and from one that is away', async (t) => {
    const rejects = async (listener: RequestListener, expected: object) =>
      assert.rejects(readMetadata(await serveWith(t, listener)), expected);
    await rejects(answering(404, '<html>'), { code: 'login_not_supported', exitCode: 4 });
    for (const garbage of ['<html>Welcome</html>', '', 'null', '[]', '{"issuer":1}', '\u0000\u001b[31m']) {
      await rejects(answering(200, garbage), { code: 'unexpected_response', exitCode: 1 });
    }
    await rejects(answering(302, '', { location: 'https://elsewhere.example/x' }), { hint: /elsewhere\.example/ });
    await rejects(answering(502, '<html>'), { exitCode: 6 });
    await rejects((request) => request.socket.destroy(), { code: 'unreachable', exitCode: 6 });
  });
});

describe('requestToken()', () => {
  const parameters = { grant_type: 'authorization_code', code: 'a b&c' };
  const token = { access_token: 'tnn_x', token_type: 'Bearer', expires_in: 60, scope: 'read' };

  it('sends a form, and no other credentials than what is in it', async (t) => {
    let sent: unknown;
    const target = await serveWith(t, async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { authorization, 'content-type': contentType } = request.headers;
      sent = [request.method, contentType, authorization, body];
      answering(200, token)(request, response);
    });
    assert.deepEqual(await requestToken(target, metadataOf(target.url), parameters), token);
    const body = 'grant_type=authorization_code&code=a+b%26c&client_id=tenon-cli';
    assert.deepEqual(sent, ['POST', 'application/x-www-form-urlencoded', undefined, body]);
  });

  it('hands on what OAuth refuses, and throws everything else', async (t) => {
    const ask = async (listener: RequestListener) => {
      const target = await serveWith(t, listener);
      return requestToken(target, metadataOf(target.url), parameters);
    };
    assert.deepEqual(await ask(answering(400, { error: 'slow_down' })), { error: 'slow_down', description: undefined });
    await assert.rejects(ask(answering(400, { error: 'made up' })), { code: 'unexpected_response' });
    await assert.rejects(ask(answering(400, '<html>')), { code: 'unexpected_response' });
    await assert.rejects(ask(answering(200, { ...token, token_type: 'mac' })), { code: 'unexpected_response' });
    await assert.rejects(ask(answering(503, '')), { exitCode: 6 });
  });
});

describe('requestDeviceCode()', () => {
  it('leaves the scopes to the server when none are wished for', async (t) => {
    const bodies: string[] = [];
    const target = await serveWith(t, async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      bodies.push(body);
      answering(400, { error: 'invalid_scope' })(request, response);
    });
    for (const scopes of [undefined, ['read', 'manage'] as const]) {
      await requestDeviceCode(target, metadataOf(target.url), { scopes, deviceName: 'a machine' });
    }
    assert.deepEqual(bodies, [
      'client_id=tenon-cli&device_name=a+machine',
      'client_id=tenon-cli&scope=read+manage&device_name=a+machine',
    ]);
  });
});

describe('revokeToken()', () => {
  it('goes to the server below its own path, and minds a refusal', async (t) => {
    const asked: (string | undefined)[] = [];
    const target = await serveWith(
      t,
      (request, response) => {
        asked.push(request.url);
        answering(asked.length === 1 ? 200 : 404, '')(request, response);
      },
      '/tenon',
    );
    await revokeToken(target, 'tnn_x');
    await assert.rejects(revokeToken(target, 'tnn_x'), { exitCode: 4 });
    assert.deepEqual(asked, ['/tenon/oauth/revoke', '/tenon/oauth/revoke']);
  });
});

describe('loginRefused()', () => {
  it('gives each refusal its exit code, and disarms what the server says', () => {
    const codes = (['access_denied', 'expired_token', 'server_error', 'invalid_scope', 'invalid_grant'] as const).map(
      (error) => loginRefused({ error, description: undefined }).exitCode,
    );
    assert.deepEqual(codes, [3, 1, 6, 7, 1]);
    const { message } = loginRefused({ error: 'invalid_grant', description: 'no\u001b[31m.' });
    assert.equal(message, 'The server refused the login: invalid_grant (no\\u{1b}[31m).');
    assert.ok(loginRefused({ error: 'access_denied', description: undefined }) instanceof CliError);
  });
});
