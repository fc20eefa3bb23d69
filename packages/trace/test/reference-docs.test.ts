import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { defaultLimits, defaultMinDurationMicroseconds, start, type TraceErrorCode } from '../src/index.ts';
import { optionNames } from '../src/options.ts';
import { moduleOf } from './support/observed.ts';

const page = await readFile(new URL('../../../docs/reference/trace.md', import.meta.url), 'utf8');

/** The rows of the table under a heading, their cells without marks. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = page.split(`\n${heading}\n`);
  const [body = ''] = section.split(/\n#/);
  const rows = body.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

/** A record, so that a code that is added without a line here does not compile. */
const codes: Record<TraceErrorCode, true> = {
  invalid_option: true,
  invalid_module: true,
  no_memory: true,
  export_failed: true,
};

describe('docs/reference/trace.md', () => {
  it('has every option', () => {
    const rows = rowsUnder('## start(module, options?)');
    assert.deepEqual(rows.map(([name = '']) => name.split('.')[0]).sort(), [...optionNames].sort());
    assert.equal(rows[0]?.[1], `${defaultMinDurationMicroseconds}`);
  });

  it('has every limit with its default', () => {
    assert.deepEqual(
      rowsUnder('### Limits').map(([name, value]) => [name, Number(value)]),
      Object.entries(defaultLimits),
    );
  });

  it('has every member of the context', () => {
    const members = Object.keys(start(moduleOf('(module)')));
    assert.deepEqual(
      rowsUnder('## The context')
        .map(([name = '']) => name.split('(')[0])
        .sort(),
      members.sort(),
    );
  });

  it('has every import', () => {
    const { imports } = start(moduleOf('(module)'));
    const listed = rowsUnder('### Imports');
    const named = listed.flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
    for (const module of ['dylibso:observe/instrument', 'dylibso:observe/api'] as const) {
      assert.ok(listed.some(([found]) => found === module));
      for (const name of Object.keys(imports[module])) assert.ok(named.includes(name), name);
    }
  });

  it('has every error', () => {
    assert.deepEqual(
      rowsUnder('## Errors')
        .map(([code]) => code)
        .sort(),
      Object.keys(codes).sort(),
    );
  });
});
