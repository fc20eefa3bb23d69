import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OauthMetadata } from '@tenon/protocol';
import { Capture } from '../../test/helpers/streams.ts';
import { createStyle } from '../text.ts';
import { logInByDevice } from './device-login.ts';
import type { LoginContext } from './login-context.ts';

const url = 'https://plugins.example.org';
const metadata = {
  token_endpoint: `${url}/oauth/token`,
  device_authorization_endpoint: `${url}/oauth/device_authorization`,
} as OauthMetadata;
const device = {
  device_code: 'the code',
  user_code: 'BCDF-GHJK',
  verification_uri: `${url}/device`,
  verification_uri_complete: `${url}/device?user_code=BCDF-GHJK`,
  expires_in: 600,
  interval: 5,
};
const token = { access_token: 'tnn_x', token_type: 'Bearer', expires_in: 60, scope: 'read' };

type Answer = { readonly status: number; readonly body: unknown } | 'no answer';

const pending: Answer = { status: 400, body: { error: 'authorization_pending' } };
const slowDown: Answer = { status: 400, body: { error: 'slow_down' } };

/** A context with a clock of its own, and a server that gives these answers one after the other. */
function rehearse(answers: readonly Answer[], changes: Partial<typeof device> = {}) {
  let nowMs = 0;
  const pausesMs: number[] = [];
  const left = [{ status: 200, body: { ...device, ...changes } }, ...answers];
  const stderr = new Capture();
  const context: LoginContext = {
    io: {
      stderr,
      environment: {},
      randomBytes: () => assert.fail('nothing is random here'),
      nowMs: () => nowMs,
      openBrowser: () => assert.fail('no browser is opened'),
      async sleep(ms, signal) {
        signal.throwIfAborted();
        pausesMs.push(ms);
        nowMs += ms;
      },
    },
    target: {
      url,
      timeoutMs: 1_000,
      signal: new AbortController().signal,
      async fetch() {
        const answer = left.length > 1 ? left.shift() : left[0];
        if (answer === undefined || answer === 'no answer') throw new TypeError('fetch failed');
        return Response.json(answer.body, { status: answer.status });
      },
    },
    metadata,
    loginRequest: { scopes: undefined, deviceName: 'a machine' },
    style: createStyle(false),
  };
  return { context, pausesMs, stderr };
}

describe('logInByDevice()', () => {
  it('asks at the interval that it was given, until the person has approved', async () => {
    const { context, pausesMs, stderr } = rehearse([pending, pending, { status: 200, body: token }], { interval: 7 });
    assert.deepEqual(await logInByDevice(context), token);
    assert.deepEqual(pausesMs, [7_000, 7_000, 7_000]);
    assert.match(stderr.text, /enter the code {2}BCDF-GHJK\n/);
  });

  it('slows down permanently after slow_down', async () => {
    const { context, pausesMs } = rehearse([slowDown, pending, slowDown, pending, { status: 200, body: token }]);
    await logInByDevice(context);
    assert.deepEqual(pausesMs, [5_000, 10_000, 10_000, 15_000, 15_000]);
  });

  it('asks a server that is away less often, and as before when it is back', async () => {
    const away: Answer = { status: 503, body: {} };
    const answers: Answer[] = ['no answer', away, 'no answer', 'no answer', 'no answer', pending];
    const { context, pausesMs } = rehearse([...answers, { status: 200, body: token }]);
    await logInByDevice(context);
    assert.deepEqual(pausesMs, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 5_000]);
  });

  it('ends when the code does', async () => {
    const { context, pausesMs } = rehearse([pending], { expires_in: 12 });
    await assert.rejects(logInByDevice(context), { code: 'login_timeout', exitCode: 1 });
    assert.deepEqual(pausesMs, [5_000, 5_000, 5_000]);
    const expired = rehearse([{ status: 400, body: { error: 'expired_token' } }]);
    await assert.rejects(logInByDevice(expired.context), { code: 'login_timeout' });
  });

  it('ends when it is denied, or refused for another reason', async () => {
    for (const [error, exitCode] of [
      ['access_denied', 3],
      ['invalid_grant', 1],
    ] as const) {
      const { context } = rehearse([pending, { status: 400, body: { error } }]);
      await assert.rejects(logInByDevice(context), { code: error, exitCode });
    }
  });

  it('is neither hurried nor held up by senseless numbers', async () => {
    for (const [interval, pauseMs] of [
      [0, 1_000],
      [-5, 1_000],
      [1e12, 60_000],
    ] as const) {
      const { context, pausesMs } = rehearse([pending], { interval, expires_in: 1e12 });
      await assert.rejects(logInByDevice(context), { code: 'login_timeout' });
      assert.equal(pausesMs[0], pauseMs);
      assert.equal(pausesMs.length, 600_000 / pauseMs);
    }
  });

  it('disarms what the server wants shown', async () => {
    const { context, stderr } = rehearse([{ status: 200, body: token }], { user_code: '\u001b[2Jx' });
    await logInByDevice(context);
    assert.doesNotMatch(stderr.text, /\u001b/);
  });
});
