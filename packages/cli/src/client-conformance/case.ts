import type { CaseStage } from './case-stage.ts';
import type { Feature } from './client-setting.ts';

/** A situation, and what a correct client does in it. */
export interface ConformanceCase {
  readonly name: string;
  /** Completes "The client …". */
  readonly expected: string;
  /** What the client must have; without it, the case is skipped. */
  readonly needs?: Feature;
  /** Default: `customers/acme`. */
  readonly guestKey?: string;
  /** The path of the server's base URL. Default: none. */
  readonly basePath?: string;
  /** Resolves if the client does it. @throws Nonconformity */
  readonly run: (stage: CaseStage) => Promise<void>;
}
