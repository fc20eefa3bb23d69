import { type OptionFault, TraceError } from './errors.ts';

/** Adds a fault for everything that is wrong with a value at a JSON pointer. */
export type Check = (value: unknown, pointer: string, faults: OptionFault[]) => void;

/** @throws TraceError with code `invalid_option` and every fault with its JSON pointer */
export function checkOptions(action: string, check: Check, options: unknown): void {
  const faults: OptionFault[] = [];
  check(options, '', faults);
  failOn(action, faults);
}

export function failOn(action: string, faults: readonly OptionFault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ pointer, detail }) => `${pointer || '(the options)'}: ${detail}`);
  throw new TraceError('invalid_option', `Cannot ${action}: ${lines.join('; ')}`, { faults });
}

/** An object with no other keys than these, each of which may be missing or undefined. */
export function optionGroup(checks: Readonly<Record<string, Check>>): Check {
  return (value, pointer, faults) => {
    if (!isRecord(value)) {
      wrong('an object', value, pointer, faults);
      return;
    }
    for (const [key, found] of Object.entries(value)) {
      const at = `${pointer}/${escapeKey(key)}`;
      if (!Object.hasOwn(checks, key)) {
        faults.push({ pointer: at, detail: `there is no such option; there are ${Object.keys(checks).join(', ')}` });
      } else if (found !== undefined) checks[key]?.(found, at, faults);
    }
  };
}

/** A value with these properties, and perhaps others. */
export function hasMembers(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>>,
): Check {
  return (value, pointer, faults) => {
    const members = (value ?? {}) as Readonly<Record<string, unknown>>;
    for (const [name, check] of Object.entries(required)) check(members[name], `${pointer}/${name}`, faults);
    for (const [name, check] of Object.entries(optional)) {
      if (members[name] !== undefined) check(members[name], `${pointer}/${name}`, faults);
    }
  };
}

/** A value that passes a test. */
export function expects(expected: string, test: (value: unknown) => boolean): Check {
  return (value, pointer, faults) => {
    if (!test(value)) wrong(expected, value, pointer, faults);
  };
}

/** Like {@link expects}, with no word about the value, which may be a secret. */
export function expectsSecret(expected: string, test: (value: unknown) => boolean): Check {
  return (value, pointer, faults) => {
    if (!test(value)) faults.push({ pointer, detail: `expected ${expected}` });
  };
}

export function listOf(check: Check): Check {
  return (value, pointer, faults) => {
    if (!Array.isArray(value)) wrong('an array', value, pointer, faults);
    else for (const [index, each] of value.entries()) check(each, `${pointer}/${index}`, faults);
  };
}

export function oneOf(...values: readonly string[]): Check {
  const expected = values.map((value) => JSON.stringify(value)).join(' or ');
  return expects(expected, (value) => values.includes(value as string));
}

export const isFunction: Check = expects('a function', (value) => typeof value === 'function');
export const isObject: Check = expects('an object', isRecord);
export const isBoolean: Check = expects('true or false', (value) => typeof value === 'boolean');
export const isCount: Check = expects(
  'a whole number, 1 or more',
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function wrong(expected: string, found: unknown, pointer: string, faults: OptionFault[]): void {
  faults.push({ pointer, detail: `expected ${expected}, found ${describe(found)}` });
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean')
    return `${value}`;
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Escapes a key of a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901#section-3 */
export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
