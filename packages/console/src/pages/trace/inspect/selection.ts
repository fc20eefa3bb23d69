import type { InstrumentOptions } from '@tenon/instrument';

/** All functions, the ticked ones, or all others. */
export type SelectionKind = 'everything' | 'allowed' | 'banned';

/**
 * The functions to trace, by name as in a configuration: functions with the same name are selected together. A change of
 * the kind keeps the names.
 */
export interface Selection {
  readonly kind: SelectionKind;
  readonly names: ReadonlySet<string>;
}

export const everything: Selection = { kind: 'everything', names: new Set() };

/** The selection as options of the rewriter, which are also a configuration of `tenon instrument` and the server. */
export function optionsOf({ kind, names }: Selection): InstrumentOptions {
  return kind === 'everything' ? {} : { [kind]: [...names] };
}

/** Ticks or unticks names. */
export function withNames(selection: Selection, names: Iterable<string>, isTicked: boolean): Selection {
  const next = new Set(selection.names);
  for (const name of names) {
    if (isTicked) next.add(name);
    else next.delete(name);
  }
  return { ...selection, names: next };
}
