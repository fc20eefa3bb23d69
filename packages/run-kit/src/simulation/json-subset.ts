import { stringifyJson } from '@tenon/extension-schema/json';
import { pointerTo } from '@tenon/extension-schema/validate-value';
import { isRoundedInteger, roundedIntegerFault } from '@tenon/protocol';

/** The maximum nesting depth of expected JSON. */
const maxDepth = 200;

/**
 * Returns the first place where JSON does not contain the expected JSON; `undefined` if it contains it.
 *
 * @param actual with bigints for integers beyond 2^53
 */
export function jsonDifference(
  actual: unknown,
  expected: unknown,
  keys: readonly (string | number)[] = [],
): string | undefined {
  const place = keys.length === 0 ? '' : `${pointerTo(keys)}: `;
  if (keys.length > maxDepth) return `${place}is nested more than ${maxDepth} deep`;
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${place}expected a list, found ${shownJson(actual)}`;
    if (actual.length !== expected.length) {
      return `${place}expected a list of ${expected.length}, found one of ${actual.length}`;
    }
    return firstOf(expected, (item, index) => jsonDifference(actual[index], item, [...keys, index]));
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return `${place}expected an object, found ${shownJson(actual)}`;
    return firstOf(Object.entries(expected), ([key, value]) =>
      Object.hasOwn(actual, key)
        ? jsonDifference(actual[key], value, [...keys, key])
        : `${place}expected the field ${shownJson(key)}, which is missing`,
    );
  }
  if (isRoundedInteger(expected)) return `${place}the expected number ${roundedIntegerFault}`;
  return actual === expected ? undefined : `${place}expected ${shownJson(expected)}, found ${shownJson(actual)}`;
}

function firstOf<Item>(
  items: readonly Item[],
  check: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = check(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON as an error message shows it. */
function shownJson(value: unknown): string {
  let text: string;
  try {
    text = stringifyJson(value);
  } catch {
    return 'JSON that is nested deeply';
  }
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
