import { DomainError } from './errors.ts';

/** Whether a change may be made to the state that is stored now. Evaluated inside the transaction that makes the change. */
export type Precondition<State> = (present: State) => boolean;

/**
 * Requires that a precondition holds, where the request has one.
 *
 * @throws DomainError `precondition_failed`
 */
export function requirePrecondition<State>(precondition: Precondition<State> | undefined, present: State): void {
  if (precondition === undefined || precondition(present)) return;
  throw new DomainError(
    'precondition_failed',
    '"if-match" names another entity tag: the resource has changed since it was read.',
  );
}
