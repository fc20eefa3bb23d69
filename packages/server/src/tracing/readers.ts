import type { Reader } from '../config-readers.ts';

/*
 * Readers of OpenTelemetry's variables: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/. None repeats a value
 * that may be a secret.
 */

export const anyCaseBoolean: Reader<boolean> = (value) => {
  const lower = value.toLowerCase();
  if (lower !== 'true' && lower !== 'false') throw new Error(`must be true or false, not ${JSON.stringify(value)}`);
  return lower === 'true';
};

/** A number from 0 to 1. */
export const ratio: Reader<number> = (value) => {
  const number = Number(value);
  if (!/^\d*\.?\d+$/.test(value) || number > 1) {
    throw new Error(`must be a number from 0 to 1, not ${JSON.stringify(value)}`);
  }
  return number;
};

/** An absolute `http:` or `https:` URL as it stands, path and query included. */
export const collectorUrl: Reader<string> = (value) => {
  const url = URL.parse(value);
  const isUsable = url !== null && /^https?:$/.test(url.protocol);
  if (!isUsable || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Error('must be an http or https URL without user name, password and fragment');
  }
  return value;
};

/**
 * Pairs in the form of W3C baggage: https://www.w3.org/TR/baggage/#header-content
 *
 * @returns the values, percent-decoded, by name
 */
export const keyValues: Reader<Readonly<Record<string, string>>> = (value) => {
  const pairs = value
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map(readPair);
  return Object.freeze(Object.fromEntries(pairs));
};

function readPair(pair: string): [string, string] {
  const [, name = '', encoded = ''] = /^([^=\s]+)\s*=\s*(.*)$/.exec(pair) ?? [];
  if (name === '') throw new Error('must be pairs of name=value, separated by commas');
  try {
    return [decodeURIComponent(name), decodeURIComponent(encoded)];
  } catch {
    throw new Error('has a percent sign that is not followed by what it must be');
  }
}

/** Header fields, as `keyValues`. */
export const headerFields: Reader<Readonly<Record<string, string>>> = (value) => {
  const fields = keyValues(value);
  for (const [name, content] of Object.entries(fields)) {
    try {
      new Headers([[name, content]]);
    } catch {
      throw new Error('must be names and values of header fields as HTTP has them');
    }
  }
  return fields;
};
