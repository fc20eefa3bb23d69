import { InstrumentError } from '../errors.ts';

/** What `read` returns; undefined if the debug information is malformed or of an unknown kind. */
export function orUndefined<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof InstrumentError) return undefined;
    throw error;
  }
}
