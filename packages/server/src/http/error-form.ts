import type { ErrorCode } from '@tenon/protocol';
import type { TSchema } from 'typebox';

/** An error as a route answers it. */
export interface ErrorAnswer {
  readonly status: number;
  /** What the log calls it. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** What is behind it; for the log alone. */
  readonly cause: unknown;
  /** Whether it is part of what goes well: then the log tells it only to those who debug. */
  readonly isRoutine?: boolean;
}

/** How a route puts its errors: the media type and the members of their bodies. */
export interface ErrorForm {
  readonly contentType: string;
  /** Of the bodies, for the description of the interface. */
  readonly schema: TSchema;
  /** How one of the service's errors is described in this form, in a few words of Markdown. */
  describe(code: ErrorCode): string;
  answer(error: unknown, baseUrl: string): ErrorAnswer;
}
