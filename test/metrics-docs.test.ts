import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parser } from '@prometheus-io/lezer-promql';
import { metricDefinitions } from '@tenon/server';
import { parse } from 'yaml';
import { root } from './helpers/server.ts';

const read = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');

/** What Prometheus adds to every series. */
const scrapeLabels = ['job', 'instance', 'le'];

/** Every metric that an expression names, and the labels that it selects by. */
function metricsOf(expression: string): { readonly name: string; readonly labels: readonly string[] }[] {
  // Up to the first brace that is not in a string.
  const found = expression.matchAll(/\b((?:tenon|process|nodejs)_[a-z0-9_]+)(?:\{((?:[^"}]|"[^"]*")*)\})?/g);
  return Array.from(found, ([, name = '', selector = '']) => ({
    name,
    labels: Array.from(selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"/g), ([, label = '']) => label),
  }));
}

/** Fails unless Prometheus can read the expression, and every metric and label that it names is there. */
function assertKnown(expression: string): void {
  // What Grafana puts in the place of its variables is a duration wherever the dashboard has one in brackets.
  const text = expression.replaceAll(/\[\$\w+\]/g, '[5m]');
  parser.parse(text).iterate({
    enter({ type, from }) {
      assert.ok(!type.isError, `no PromQL from character ${from} on: ${text}`);
    },
  });
  for (const { name, labels } of metricsOf(expression)) {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    const known = Object.entries(metricDefinitions).find(([one, { type }]) =>
      type === 'histogram' ? one === base && name !== base : one === name,
    );
    assert.ok(known !== undefined, `${name} is no metric: ${expression}`);
    const allowed = [...known[1].labels, ...scrapeLabels];
    for (const label of labels) assert.ok(allowed.includes(label), `${name} has no label ${label}: ${expression}`);
  }
}

describe('docs/reference/metrics.md', () => {
  it('lists exactly the metrics that there are, with their types, labels and words', () => {
    const rows = read('docs', 'reference', 'metrics.md').matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \| (.+) \|$/gm);
    const listed = Array.from(rows, ([, name, type, labels = '', help]) => [
      name,
      type,
      Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => label),
      help,
    ]);
    const expected = Object.entries(metricDefinitions).map(([name, d]) => [name, d.type, [...d.labels], d.help]);
    assert.deepEqual(listed, expected);
  });
});

describe('deploy/observability/alerts.yaml', () => {
  const { groups } = parse(read('deploy', 'observability', 'alerts.yaml')) as {
    groups: {
      rules: { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }[];
    }[];
  };
  const rules = groups.flatMap((group) => group.rules);

  for (const { alert, expr, labels, annotations } of rules) {
    it(`${alert} uses existing metrics, and is in the how-to`, () => {
      assert.ok(/\bup\{/.test(expr) || metricsOf(expr).length > 0, expr);
      assertKnown(expr);
      assert.match(labels.severity, /^(critical|warning)$/);
      assert.ok(annotations.summary.length > 10);
      assert.ok(read('docs', 'how-to', 'observe.md').includes(`\`${alert}\``));
    });
  }

  it('has no two alerts of one name', () => {
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
  });
});

describe('deploy/observability/dashboard.json', () => {
  const { panels } = JSON.parse(read('deploy', 'observability', 'dashboard.json')) as {
    panels: { id: number; title: string; targets: { expr: string }[] }[];
  };

  for (const { title, targets } of panels) {
    it(`shows in "${title}" metrics that there are`, () => {
      assert.ok(targets.length > 0);
      for (const { expr } of targets) {
        assert.ok(metricsOf(expr).length > 0, expr);
        assertKnown(expr);
      }
    });
  }

  it('gives each panel an id of its own', () => {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  });
});
