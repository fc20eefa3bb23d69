import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '@tenon/protocol';
import type { Settings } from '../../config/settings.ts';
import type { BodyMemory } from './body-memory.ts';
import type { ByteLease } from './byte-budget.ts';

/** What is needed to read a request's body. */
export interface BodySource {
  readonly message: IncomingMessage;
  /** The media type in lower case, without parameters; empty when the request has none. */
  readonly mediaType: string;
  readonly limits: Pick<
    Settings,
    'maxModuleBytes' | 'maxJsonBytes' | 'maxConfigBytes' | 'maxMultipartParts' | 'idleTimeoutMs'
  >;
  /** Whether it may come slowly, as long as it comes. A stranger's has to be there within the idle time-out. */
  readonly mayBeSlow: boolean;
  /** Where the body is put together. */
  readonly memory: BodyMemory;
  /** Bytes that are kept are taken from here. */
  readonly lease: Pick<ByteLease, 'take'>;
}

/** How one kind of body is read, and how the description of the interface shows it. */
export interface BodyReader<T> {
  read(source: BodySource): Promise<T>;
  readonly doc: {
    readonly required: boolean;
    readonly content: Readonly<
      Record<string, { readonly schema: object; readonly example?: unknown; readonly encoding?: object }>
    >;
    readonly errors: readonly ErrorCode[];
  };
}
