import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { conformanceCases } from '../src/client-conformance/cases/all.ts';
import { tenon } from './helpers/streams.ts';

/** A client that runs until it is killed, and first does this. */
const clientThat = (script: string) => ['--', process.execPath, '-e', `${script}; setInterval(() => {}, 1000)`];

const conformance = (...args: readonly string[]) => tenon(['client-conformance', '--timeout', '300ms', ...args]);

describe('tenon client-conformance', () => {
  it('lists its cases, whose names are unique and fit completion', async () => {
    const { cases } = (await conformance('--list', '--json')).json();
    assert.ok(cases.length > 100);
    assert.deepEqual(
      cases.map(({ name }: { name: string }) => name),
      [...new Set(conformanceCases.map(({ name }) => name))],
    );
    for (const { name, expected } of cases) {
      assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      assert.match(expected, /^[a-z]/, `${name} completes "The client …"`);
    }
    assert.match(
      (await conformance('--list', '--case', 'events')).stdout,
      /^CASE +THE CLIENT …\nevents +shows a new version/,
    );
  });

  it('refuses a missing command, an unknown case or feature, and a program that does not exist', async () => {
    const usage = async (...args: readonly string[]) => {
      const { exitCode, stderr } = await conformance(...args);
      assert.equal(exitCode, 2, stderr);
      return stderr;
    };
    assert.match(await usage(), /A command is missing\./);
    assert.match(await usage('--case', 'lists', 'client'), /No case is named "lists"\./);
    assert.match(await usage('--without', 'disk', 'client'), /Expected one of: cache, streaming\./);
    assert.match(await usage('--case', 'list', './no-such-client'), /"\.\/no-such-client" can't be started: .*ENOENT/);
  });

  it('skips the others after the first case has failed, and shows what was wrong and the stderr of the client', async () => {
    const { exitCode, stdout, stderr } = await conformance(
      ...['--case', 'list,events', '--timeout', '2s', ...clientThat('console.error("no \\u001b[31midea")')],
    );
    assert.equal(exitCode, 1);
    assert.match(
      stdout,
      /^failed {3}list \(\d+ ms\)\n {2}expected: it fetches .*\n {2}but: within 2 s, it did not show \{.*\}; it shows nothing\n/,
    );
    assert.match(stdout, /\n {2}stderr:\n {4}no \\u\{?1b\}?\[31midea\nskipped {2}events: the case list failed\n$/);
    assert.match(stderr, /1 of 2 cases failed: list\./);
  });

  it('reports as JSON, and skips what the client lacks', async () => {
    const outcome = await conformance(
      ...['--json', '--without', 'streaming', '--case', 'empty-list,events'],
      ...clientThat(''),
    );
    const [first, second] = outcome.json().cases;
    assert.equal(first.result, 'failed', 'it fetches nothing');
    assert.deepEqual([second.result, second.reason, second.durationMs], ['skipped', '--without streaming', 0]);
  });

  const wrong: readonly (readonly [what: string, script: string, reason: RegExp])[] = [
    ['ends', 'process.exit(3)', /^it ended \(exit code 3\)$/],
    ['writes other lines', 'console.log("ready")', /^a line of its stdout is no state: ready$/],
    ['writes states of other values', 'console.log(\'{"a":1}\')', /^a line of its stdout is no state/],
    [
      'shows what is not bound',
      'console.log(\'{"greet":"x"}\')',
      /^it showed \{"greet":"x"\}, which was never in the list/,
    ],
    ['reveals the token', 'console.error(process.env.TENON_TOKEN)', /^it wrote the token to stderr$/],
    ['sends no token', 'fetch(process.env.TENON_URL + "/api/v1/c/x")', /^it requested \/api\/v1\/c\/x$/],
  ];
  for (const [what, script, reason] of wrong) {
    it(`fails a client that ${what}`, async () => {
      const { cases } = (
        await conformance('--json', '--case', 'list', '--timeout', '5s', ...clientThat(script))
      ).json();
      assert.equal(cases[0].result, 'failed');
      assert.match(cases[0].reason, reason);
    });
  }
});
