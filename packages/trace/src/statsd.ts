import type { AttributeValue } from './span.ts';

const types: ReadonlyMap<string, string> = new Map([
  ['c', 'counter'],
  ['g', 'gauge'],
  ['ms', 'timing'],
  ['h', 'histogram'],
  ['d', 'distribution'],
  ['s', 'set'],
]);

/** A number as JSON has it, perhaps with a sign: `Number()` alone would take ``, `0x10` and `Infinity`. */
const numberPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;

/**
 * The attributes of a statsd line: `name:value|type`, optionally with `|@rate` and `|#tag,tag:value`. Nothing of a line that is
 * anything else. https://github.com/statsd/statsd/blob/master/docs/metric_types.md,
 * https://docs.datadoghq.com/developers/dogstatsd/datagram_shell/
 */
export function parseStatsd(line: string): [string, AttributeValue][] {
  const [measured = '', code = '', ...rest] = line.trim().split('|');
  const colon = measured.indexOf(':');
  const type = types.get(code);
  const text = measured.slice(colon + 1);
  const value = type === 'set' ? text : numberOf(text);
  if (colon < 1 || type === undefined || value === undefined || value === '') return [];
  const found: [string, AttributeValue][] = [
    ['metric.name', measured.slice(0, colon)],
    ['metric.type', type],
    ['metric.value', value],
  ];
  // Only gauges are set rather than added to, so only there a sign makes a difference.
  if (type === 'gauge' && /^[+-]/.test(text)) found.push(['metric.is_change', true]);
  for (const part of rest) {
    const rate = part.startsWith('@') ? numberOf(part.slice(1)) : undefined;
    if (rate !== undefined) found.push(['metric.sample_rate', rate]);
    if (part.startsWith('#') && part.length > 1) found.push(['metric.tags', part.slice(1).split(',')]);
  }
  return found;
}

function numberOf(text: string): number | undefined {
  const value = numberPattern.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : undefined;
}
