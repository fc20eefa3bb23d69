import type { SessionState } from '@tenon/protocol';
import type { SessionRecord } from '../db/records.ts';
import { setCookie } from '../http/cookies.ts';
import { accountExample } from '../http/examples.ts';
import type { Reply } from '../http/reply.ts';
import { time } from '../http/wire-time.ts';
import type { Services } from '../services.ts';
import { toAccount } from './account-wire.ts';
import { readAccount } from './accounts.ts';
import { challengeLifetimeMs } from './passkeys/challenges.ts';
import type { PendingSignIn } from './passkeys/second-factor.ts';
import { setSessionCookies } from './session-cookies.ts';
import type { StartedSession } from './sessions.ts';

export const sessionStateExample = {
  signUp: 'invitation' as const,
  createApps: 'members' as const,
  maxModuleBytes: 67_108_864,
  sendsMail: true,
  passwordSignIn: true,
  providers: [{ id: 'example', label: 'Example' }],
  account: accountExample,
};

/** Returns the state of a browser that is not signed in. */
export function signedOutState({ settings }: Services): SessionState {
  const { signUp, createApps, maxModuleBytes, smtp, signIn } = settings;
  const { passwordSignIn } = signIn;
  const providers = signIn.providers.map(({ id, label }) => ({ id, label }));
  const sendsMail = smtp !== undefined;
  return { signUp, createApps, maxModuleBytes, sendsMail, passwordSignIn, providers, account: null };
}

/** Returns the state of a signed-in browser. */
export async function stateOf(services: Services, session: SessionRecord): Promise<SessionState> {
  return { ...signedOutState(services), account: toAccount(await readAccount(services.deps, session.userId)) };
}

/** Sets the cookies of a new session, or of a sign-in that needs a second factor, and returns the state of the browser. */
export async function respondSignedIn(
  services: Services,
  reply: Reply,
  started: StartedSession | PendingSignIn,
): Promise<SessionState> {
  if ('session' in started) {
    setSessionCookies(services, reply, started);
    return stateOf(services, started.session);
  }
  const { signInSecret, expiresAtMs, hasRecoveryCodes } = started;
  setCookie(services, reply, 'signIn', signInSecret, challengeLifetimeMs);
  return { ...signedOutState(services), secondFactor: { expiresAt: time(expiresAtMs), hasRecoveryCodes } };
}
