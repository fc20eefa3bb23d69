import type { Names } from '../binary/name-section.ts';
import type { Note } from '../notes.ts';
import type { InstrumentOptions } from '../select/config.ts';
import type { BodyContext } from './body-context.ts';
import type { GeneratedFunction } from './instructions.ts';
import type { Measures } from './measure-bodies.ts';

/** The results of the earlier passes. */
export interface Parts extends BodyContext {
  readonly names: Names;
  readonly measures: Measures;
  readonly generated: readonly GeneratedFunction[];
  readonly notes: Note[];
  readonly options: InstrumentOptions;
}
