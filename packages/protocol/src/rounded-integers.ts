import type { Fixture } from './simulations.ts';

/** What `jsonSubset` says about an integer that has lost its last digits. */
export const roundedIntegerFault =
  'must be between -2^53 and 2^53, because larger integers lose digits; compare the output with `equals`';

/** Returns a JSON Pointer to the first integer of a `jsonSubset` that is beyond 2^53. */
export function roundedInteger(fixtures: readonly Fixture[]): string | undefined {
  for (const [index, { expect }] of fixtures.entries()) {
    const found = findRounded(expect.jsonSubset, `/${index}/expect/jsonSubset`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Iterative, because deep nesting would overflow the call stack. */
function findRounded(expected: unknown, start: string): string | undefined {
  const pending: { readonly pointer: string; readonly value: unknown }[] = [{ pointer: start, value: expected }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { pointer, value } = next;
    if (isRoundedInteger(value)) return pointer;
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value).reverse()) {
      pending.push({ pointer: `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: member });
    }
  }
  return undefined;
}

export function isRoundedInteger(value: unknown): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
