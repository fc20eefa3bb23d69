import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSuiteServer, runCases, type SuiteCase, suiteCases } from './helpers/cache-suite.ts';
import { type Layer, suiteFetch } from './helpers/suite-fetch.ts';
import { type Reason, reasons, rules } from './helpers/suite-rules.ts';

// The public suite of tests for HTTP caches, https://cache-tests.fyi, as far as it applies to what is no cache for everything.
describe('createClient() under http-cache-tests', async () => {
  const cases = await suiteCases();
  const ruleOf = ({ id }: SuiteCase) => rules.find(([ids]) => ids.test(id));

  it('runs every case, or has a reason not to', (test) => {
    const undecided = cases.filter((one) => ruleOf(one) === undefined).map(({ id }) => id);
    assert.deepEqual(undecided, []);
    const used = new Set(cases.map(ruleOf));
    assert.deepEqual(
      rules.filter((rule) => !used.has(rule)).map(([ids]) => ids.source),
      [],
      'rules for cases that there are not',
    );
    const left = new Map<Reason, number>();
    for (const one of cases) {
      const [, to] = ruleOf(one) ?? [];
      if (to !== undefined && 'leave' in to) left.set(to.leave, (left.get(to.leave) ?? 0) + 1);
    }
    for (const [reason, count] of left) test.diagnostic(`${count} cases left out: ${reasons[reason]}`);
  });

  it('passes the applicable cases', async (test) => {
    const layers = new Map<string, Layer>();
    for (const one of cases) {
      const [, to] = ruleOf(one) ?? [];
      if (to !== undefined && 'put' in to) layers.set(one.id, to.put);
    }
    const server = await openSuiteServer();
    try {
      const applying = cases.filter(({ id }) => layers.has(id));
      const fetch = suiteFetch(server.url, (id) => layers.get(id) ?? 'list');
      const outcomes = await runCases(applying, server.url, fetch);
      test.diagnostic(`${applying.length} of ${cases.length} cases apply`);
      assert.deepEqual(
        [...outcomes].filter(([, outcome]) => outcome !== 'pass'),
        [],
      );
    } finally {
      await server.close();
    }
  });
});
