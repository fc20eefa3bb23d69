import type { InstrumentOptions } from '@tenon/instrument';

/** Which functions are traced: all of them, those that are ticked, or all but those. */
export type ChoiceKind = 'everything' | 'allowed' | 'banned';

/**
 * A choice goes by names, as a configuration does: functions that share a name are chosen together. What is ticked stays ticked when
 * one turns from one kind to another.
 */
export interface Choice {
  readonly kind: ChoiceKind;
  readonly names: ReadonlySet<string>;
}

export const everything: Choice = { kind: 'everything', names: new Set() };

/** The choice as the rewriter takes it, and as `tenon instrument` and the endpoint take a configuration. */
export function optionsOf({ kind, names }: Choice): InstrumentOptions {
  return kind === 'everything' ? {} : { [kind]: [...names] };
}

/** The same choice, with the names ticked or not. */
export function withNames(choice: Choice, names: Iterable<string>, isTicked: boolean): Choice {
  const next = new Set(choice.names);
  for (const name of names) {
    if (isTicked) next.add(name);
    else next.delete(name);
  }
  return { ...choice, names: next };
}
