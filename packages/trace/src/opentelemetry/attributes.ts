import type { Attributes, AttributeValue } from '../span.ts';

/** Attributes of OpenTelemetry's API: without `bigint`, and with lists of one type. Without a prototype, for `__proto__`. */
export function bridgeAttributes(attributes: Attributes): Record<string, unknown> {
  const plain: Record<string, unknown> = Object.create(null);
  for (const [key, value] of attributes) plain[key] = bridgeValue(value);
  return plain;
}

function bridgeValue(value: AttributeValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== 'object') return value;
  return value.every((each) => typeof each === typeof value[0]) ? [...value] : value.map(String);
}
