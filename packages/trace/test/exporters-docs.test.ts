import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import * as demangle from '@tenon/trace/demangle';
import * as formats from '@tenon/trace/formats';
import * as opentelemetry from '@tenon/trace/opentelemetry';
import * as otlp from '@tenon/trace/otlp';
import { dropCounter, functionCounters, livePagesGauge } from '../src/opentelemetry/observe-statistics.ts';
import { defaultRetry } from '../src/otlp/options.ts';
import { spanAttributes } from '../src/span-attributes.ts';
import { makeSpan } from './support/make-span.ts';

const page = `\n${await readFile(new URL('../../../docs/reference/trace-exporters.md', import.meta.url), 'utf8')}`;

/** The rows of all tables under a heading up to the next one, their cells without marks. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = page.split(`\n${heading}\n`);
  const [body = ''] = section.split(/\n#/);
  const rows = body.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('|---'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

/** The names in the first column, without those of the tables' heads. */
function namesUnder(heading: string): string[] {
  const heads = ['option', 'option of retry', 'metric', 'attribute', 'import', ''];
  return rowsUnder(heading).flatMap(([name = '']) => (heads.includes(name) ? [] : [name.replace(/\(.*/, '')]));
}

/** The options that a maker says it has when it is given another. */
function optionsOf(make: (options: never) => unknown): string[] {
  try {
    make({ 'no such': 1 } as never);
  } catch (error) {
    return /there are (.*)/.exec((error as Error).message)?.[1]?.split(', ') ?? [];
  }
  return assert.fail('took an option that does not exist');
}

describe('docs/reference/trace-exporters.md', () => {
  it('has every export', () => {
    const listed = new Map(
      rowsUnder('# Exporters and formats of @tenon/trace').map(([path, names = '']) => [path, names]),
    );
    for (const [path, module] of Object.entries({ demangle, formats, opentelemetry, otlp })) {
      const names = Object.keys(module).map((name) => `${name}()`);
      assert.deepEqual(listed.get(`@tenon/trace/${path}`)?.split(', ').sort(), names.sort());
    }
  });

  it('has every option of OTLP', () => {
    assert.deepEqual(namesUnder('### otlpExporter(options?)').sort(), optionsOf(otlp.otlpExporter).sort());
  });

  it('has every option of repetition with its default', () => {
    const rows = rowsUnder('### When the collector fails').slice(1);
    assert.deepEqual(Object.fromEntries(rows.map(([name, value]) => [name, Number(value)])), defaultRetry);
  });

  it('has every metric with its unit', () => {
    const rows = rowsUnder('### Metrics').slice(1);
    const all = [...functionCounters, livePagesGauge, dropCounter];
    assert.deepEqual(
      rows.map(([name, , unit]) => `${name} ${unit}`).sort(),
      all.map(({ name, unit }) => `${name} ${unit}`).sort(),
    );
  });

  it('has every attribute', () => {
    const span = makeSpan({
      id: 1,
      start: 0,
      end: 1,
      function: { index: 1, name: 'f()', rawName: '_Z1fv', file: '/src/f.cc', line: 7 },
      folded: { calls: 1, timeNano: 1n },
      grownPages: 1,
    });
    assert.deepEqual(namesUnder('### A span in OTLP').sort(), [...spanAttributes(span).keys()].sort());
  });
});
