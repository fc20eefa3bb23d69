import { DomainError } from '../domain/errors.ts';

/** What an error is called in a span: the code of one of ours, else the name of its class. Its message may tell what is private. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof DomainError) return error.code;
  return error instanceof Error ? error.constructor.name : 'unknown';
}
