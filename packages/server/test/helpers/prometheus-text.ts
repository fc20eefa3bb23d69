import assert from 'node:assert/strict';

/** A scrape as Prometheus understands it. */
export interface Scrape {
  /** The type of each metric. */
  readonly types: ReadonlyMap<string, string>;
  /** Every line's value, by name and labels as they are written: `name{label="value"}`. */
  readonly samples: ReadonlyMap<string, number>;
}

const label = String.raw`[a-z_]+="(?:[^"\\\n]|\\["\\n])*"`;
const sample = new RegExp(String.raw`^([a-z_0-9]+)(?:\{(${label}(?:,${label})*)\})? (\+Inf|NaN|-?[0-9.e+-]+)$`);

/** Reads the text format, and holds it to its rules: https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details */
export function parseScrape(text: string): Scrape {
  assert.ok(text.endsWith('\n'), 'the last line ends as well');
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_0-9]+) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!types.has(name), `${name} comes twice`);
      current = name;
    } else if (kind === 'TYPE') {
      assert.equal(name, current);
      types.set(name, rest);
    } else {
      const [, of = '', labels, value = ''] = sample.exec(line) ?? assert.fail(`no sample: ${line}`);
      const isOfHistogram = types.get(current) === 'histogram';
      assert.equal(isOfHistogram ? of.replace(/_(bucket|sum|count)$/, '') : of, current, line);
      const key = labels === undefined ? of : `${of}{${labels}}`;
      assert.ok(!samples.has(key), `${key} comes twice`);
      assert.ok(Number.isFinite(Number(value)), line);
      samples.set(key, Number(value));
    }
  }
  return { types, samples };
}
