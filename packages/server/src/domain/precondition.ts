import { DomainError } from './errors.ts';

/** Whether a request's `if-match` allows a change of the stored state. Evaluated in the transaction that makes the change. */
export type Precondition<State> = (present: State) => boolean;

/** @throws DomainError `precondition_failed` if the request has a precondition that is false */
export function requirePrecondition<State>(precondition: Precondition<State> | undefined, present: State): void {
  if (precondition === undefined || precondition(present)) return;
  throw new DomainError(
    'precondition_failed',
    'The resource has changed since it was read: "if-match" has another entity tag.',
  );
}
