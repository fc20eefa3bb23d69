import assert from 'node:assert/strict';
import { join } from 'node:path';
import process from 'node:process';
import { describe, it } from 'node:test';
import { casesOf } from './helpers/conformance.ts';
import { root } from './helpers/server.ts';

const host = (name: string) => [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  join(root, 'test', 'helpers', name),
];

describe('tenon client-conformance', () => {
  it('passes a host on @tenon/client in every case', async () => {
    const cases = await casesOf(host('conformance-host.ts'));
    assert.deepEqual(
      cases.filter(({ result }) => result !== 'passed'),
      [],
    );
    assert.ok(cases.length > 100);
  });

  it('fails a careless host, which passes where all goes well', async () => {
    const names = ['list', 'changed-list', ...Object.keys(careless)];
    const cases = await casesOf(host('careless-host.ts'), ['--timeout', '8s', '--case', names.join(',')]);
    const reasons = new Map(cases.map(({ name, reason }) => [name, reason]));
    for (const name of ['list', 'changed-list']) assert.equal(reasons.get(name), null);
    for (const [name, reason] of Object.entries(careless)) assert.match(reasons.get(name) ?? 'passed', reason, name);
  });
});

/** What the careless host does wrong, by case. */
const careless: Readonly<Record<string, RegExp>> = {
  'content-wrong-bit': /did not ask again for the content/,
  'content-other-module': /did not ask again for the content/,
  'content-cut': /did not ask again for the content/,
  'content-304': /did not ask again for the content/,
  'content-500': /did not ask again for the content/,
  'list-500': /did not keep the plugins/,
  'list-hang': /did not show/,
  'conditional-request': /did not send if-none-match/,
  'stream-ends': /did not reconnect with last-event-id/,
  'stream-redirect-307': /sent the token to another host/,
  'stream-endless': /did not ask again for the stream/,
  'silent-stream': /did not close the silent stream/,
  'list-retry-after-503': /waited \d+ ms/,
  'stream-retry-after-429': /waited \d+ ms/,
  'stream-backoff': /opened the stream \d+ times/,
  'list-backoff': /asked for the list \d+ times/,
  'token-rejected': /asked \d+ times/,
  'cache-content-flipped': /showed a plugin from damaged content/,
  'cache-of-another-guest': /never in the list of its guest key/,
  'cache-unusable': /it ended \(exit code 1\)/,
  'content-fails-for-one': /did not show the other changes/,
  'hostile-addresses': /it requested/,
  'guest-key-2': /did not show/,
};
