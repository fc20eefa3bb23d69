import type { OauthMetadata } from '@tenon/protocol';
import type { Io } from '../io.ts';
import type { Style } from '../text.ts';
import type { Target } from '../transport.ts';
import type { LoginRequest } from './oauth-client.ts';

/** The context of a login. */
export interface LoginContext {
  readonly io: Pick<Io, 'stderr' | 'environment' | 'randomBytes' | 'nowMs' | 'openBrowser' | 'sleep'>;
  /** Ends with the signal that the person gives; a login ends by itself too, when it takes too long. */
  readonly target: Target;
  readonly metadata: OauthMetadata;
  readonly loginRequest: LoginRequest;
  /** For what goes to stderr. */
  readonly style: Style;
}

/** For how long a person may take to approve. The server's device codes live as long. */
export const approvalTimeoutMs = 10 * 60 * 1000;
