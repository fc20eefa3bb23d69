import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Response as LightMyRequestResponse } from 'light-my-request';
import type { Route } from '../src/http/route.ts';
import { allRoutes } from '../src/routes.ts';
import { openJar, type Person, signIn, signUpPerson } from './helpers/jar.ts';
import { assertProblem, openService, type TestService } from './helpers/service.ts';

/*
 * What a browser's cookie opens, and for whom, on every route that is declared: those of the session for our own pages, and
 * nothing else. What the description of the interface shows as a body is what is sent.
 */

let service: TestService;
let person: Person;
before(async () => {
  service = await openService({
    config: { codeTriesPerMinute: 10_000, signInTriesPerMinute: 10_000, signInsPerMinute: 10_000 },
  });
  person = await signUpPerson(service);
});
after(() => service.close());

const ofOwnPages = allRoutes.filter(({ access }) => access.kind === 'ownOrigin' || access.kind === 'session');
const ofSession = ofOwnPages.filter(({ access }) => access.kind === 'session');
const ofTokens = allRoutes.filter(({ access }) => !['public', 'ownOrigin', 'session'].includes(access.kind));

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function bodyOf({ body }: Route): unknown {
  return body?.doc.content['application/json']?.example;
}

type Headers = Readonly<Record<string, string>>;

async function liveCookie(): Promise<string> {
  const { cookies } = await signIn(service, person);
  return `tenon-session-8366=${cookies.get('tenon-session-8366')}`;
}

function send(route: Route, headers: Headers): Promise<LightMyRequestResponse> {
  const json = bodyOf(route);
  return service.call(route.method, route.path, { ...(json === undefined ? {} : { json }), headers });
}

const otherSites: Readonly<Record<string, Headers>> = {
  'another site': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://evil.example' },
  'another site, by a form': { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'null' },
  'a sibling domain': { 'sec-fetch-site': 'same-site', origin: 'http://evil.localhost:8366' },
  'another site, in a browser without fetch metadata': { origin: 'https://evil.example' },
  'a sandboxed frame, in a browser without fetch metadata': { origin: 'null' },
  'another port of this machine': { origin: 'http://localhost:9999', host: 'localhost:8366' },
};

describe('routes for our own pages', () => {
  it('exist', () => assert.ok(ofSession.length >= 7 && ofOwnPages.length >= 12));

  for (const route of ofOwnPages) {
    it(`${nameOf(route)} rejects requests of other origins, and changes nothing`, async () => {
      const cookie = await liveCookie();
      for (const [site, headers] of Object.entries(otherSites)) {
        const response = await send(route, { ...headers, cookie });
        assertProblem(response, 403, 'cross_site_request');
        assert.equal(response.headers['set-cookie'], undefined, site);
      }
      const state = await service.call('GET', '/session', { headers: { cookie } });
      assert.equal(state.json().account?.id, person.id, 'the session goes on');
    });

    it(`${nameOf(route)} is not readable by other origins`, async () => {
      const responses = [await send(route, {}), await send(route, { origin: 'https://evil.example' })];
      const asked = { origin: 'https://evil.example', 'access-control-request-method': route.method };
      const headers = { ...asked, 'access-control-request-headers': 'content-type' };
      responses.push(await service.call('OPTIONS', route.path, { headers }));
      for (const answer of responses) {
        const granted = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
        assert.deepEqual(granted, []);
        assert.ok(answer.statusCode === 204 || answer.headers['cache-control'] === 'no-store');
      }
    });

    if (route.body !== undefined) {
      it(`${nameOf(route)} accepts only JSON, which forms can't send`, async () => {
        const cookie = await liveCookie();
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', '']) {
          const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': type };
          const response = await service.call(route.method, route.path, {
            body: JSON.stringify(bodyOf(route)),
            headers,
          });
          assertProblem(response, 415, 'unsupported_media_type');
        }
      });
    }
  }
});

describe('routes of the session', () => {
  for (const route of ofSession) {
    it(`${nameOf(route)} requires the cookie of an open session`, async () => {
      const live = await liveCookie();
      const ended = await liveCookie();
      await service.call('DELETE', '/session', { headers: { cookie: ended } });
      const callers: Readonly<Record<string, Headers>> = {
        'no cookie': {},
        'an empty one': { cookie: 'tenon-session-8366=' },
        'an unknown one': { cookie: `tenon-session-8366=${'A'.repeat(43)}` },
        'one of another form': { cookie: `tenon-session-8366=${'A'.repeat(5000)}` },
        "an ended session's": { cookie: ended },
        "the known browser's": { cookie: `tenon-session-8366=${person.jar.cookies.get('tenon-browser-8366')}` },
        'a token in it': { cookie: `tenon-session-8366=${await person.jar.token()}` },
        'the live one, and another of its name': { cookie: `${live}; tenon-session-8366=x` },
        'the name that it has over https': { cookie: live.replace('tenon-session-8366', '__Host-tenon-session') },
        'a token in its place': { authorization: `Bearer ${await person.jar.token()}` },
      };
      for (const [caller, headers] of Object.entries(callers)) {
        const { code } = assertProblem(
          await send(route, { 'sec-fetch-site': 'same-origin', ...headers }),
          401,
          'not_signed_in',
        );
        assert.equal(code, 'not_signed_in', caller);
      }
      const { statusCode, payload } = await send(route, { 'sec-fetch-site': 'same-origin', cookie: live });
      assert.ok(statusCode < 500 && !/not_signed_in|cross_site_request/.test(payload), payload);
    });
  }
});

describe('the API', () => {
  for (const route of ofTokens) {
    it(`${nameOf(route)} ignores cookies`, async () => {
      const url = route.path.replace(/:\w+|\*/g, 'x');
      const headers = { cookie: await liveCookie(), 'sec-fetch-site': 'same-origin' };
      const response = await service.call(route.method, url, { headers });
      if (route.errorFormat === undefined) assertProblem(response, 401, 'missing_credentials');
      else assert.deepEqual([response.statusCode, response.json().errors[0].detail.code], [401, 'missing_credentials']);
    });
  }
});

describe('a server with an https URL', () => {
  it('sets cookies that plain http and sibling domains cannot set', async () => {
    const secure = await openService({ config: { publicUrl: 'https://tenon.example/plugins' } });
    try {
      const { jar } = await signUpPerson(secure);
      assert.deepEqual([...jar.cookies.keys()].sort(), ['__Host-tenon-browser', '__Host-tenon-session']);
      const response = await jar.call('DELETE', '/session', undefined, { origin: 'https://tenon.example' });
      assert.equal(response.statusCode, 204);
      assert.equal(
        response.headers['set-cookie'],
        '__Host-tenon-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      );
      assert.equal(openJar(secure).cookies.size, 0);
    } finally {
      await secure.close();
    }
  });
});
