import type { Account, PasswordReset, SessionState, SignInInput, SignUpInput } from '@tenon/protocol';
import { hasCode } from '../api/api-error.ts';
import {
  type ApiClient,
  type ClientDeps,
  createApiClient,
  createSessionCalls,
  type SessionCalls,
} from '../api/client.ts';
import { createStore, type Store } from './store.ts';

/** The state of the session for pages. `isEnded`: the user was signed in, and signed out in another tab. */
export type SessionView =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly error: unknown }
  | ({ readonly status: 'ready'; readonly account: Account | null; readonly isEnded?: true } & ServerSettings);

/** The server's public settings. */
type ServerSettings = Omit<SessionState, 'account'>;

/** The browser's session: the account that is signed in, sign-in, and sign-out. */
export interface Session {
  readonly view: Store<SessionView>;
  /** A request for the password; see `PasswordDialog`. */
  readonly passwordRequest: Store<PasswordRequest | undefined>;
  /** A request to sign in again after the session has ended; see `SignInAgainDialog`. */
  readonly signInRequest: Store<SignInRequest | undefined>;
  readonly api: ApiClient;
  /** The routes that use the cookie: `/session/…`. */
  readonly calls: SessionCalls;
  /** Requests the session's state. If that fails, an earlier state stays. */
  load(): Promise<void>;
  signIn(input: SignInInput): Promise<void>;
  signUp(input: SignUpInput): Promise<void>;
  resetPassword(input: PasswordReset): Promise<void>;
  signOut(): Promise<void>;
  /** Asks for the password, or to sign in again if the session has ended: `ClientDeps.confirmPassword`. */
  confirmPassword(): Promise<void>;
  /** Call after the account was changed, or deleted. */
  setAccount(account: Account | null): void;
}

export interface PasswordRequest {
  /** @throws ApiError if the password is wrong */
  confirm(password: string): Promise<void>;
  cancel(): void;
}

export interface SignInRequest {
  /** The account whose session has ended. The pages contain its data. */
  readonly account: Account;
  /** @throws ApiError if the password is wrong */
  signIn(password: string): Promise<void>;
  /** Discards the pages, so that any user can sign in. */
  giveUp(): void;
}

/** Notifies other tabs of the console of sign-in and sign-out. */
export interface TabChannel {
  postMessage(message: string): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

export function createSession(
  parts: Pick<ClientDeps, 'basePath' | 'fetch' | 'clock'> & {
    readonly channel: TabChannel;
    /** The state, if it is known already. */
    readonly initial?: SessionState | undefined;
  },
): Session {
  const { channel, initial } = parts;
  const view = createStore<SessionView>(initial ? { status: 'ready', ...initial } : { status: 'loading' });
  const passwordRequest = createStore<PasswordRequest | undefined>(undefined);
  const signInRequest = createStore<SignInRequest | undefined>(undefined);
  const calls = createSessionCalls(parts);
  const waiting = new Set<{ readonly resolve: () => void; readonly reject: (reason: unknown) => void }>();
  const api = createApiClient({ ...parts, signInAgain, confirmPassword });

  function show(account: Account | null): void {
    passwordRequest.get()?.cancel();
    api.forget();
    view.set({ status: 'ready', ...known(view.get()), account });
    settleSignIn();
  }

  /** Resumes the requests that wait for a sign-in, if the same user has signed in. */
  function settleSignIn(): void {
    const request = signInRequest.get();
    const now = view.get();
    if (request === undefined || now.status !== 'ready') return;
    signInRequest.set(undefined);
    const isSame = now.account?.id === request.account.id;
    for (const each of waiting) {
      if (isSame) each.resolve();
      else each.reject(new DOMException('The user did not sign in again', 'AbortError'));
    }
    waiting.clear();
  }

  function signInAgain(): Promise<void> {
    const now = view.get();
    const account = now.status === 'ready' ? now.account : null;
    if (account === null) return Promise.reject(new DOMException('No user was signed in', 'AbortError'));
    if (signInRequest.get() === undefined) {
      signInRequest.set({
        account,
        signIn: async (password) => enter(await calls.post('/session', { email: account.email, password })),
        giveUp: () => show(null),
      });
    }
    return new Promise((resolve, reject) => waiting.add({ resolve, reject }));
  }

  async function confirmPassword(): Promise<void> {
    try {
      await askPassword(calls, passwordRequest);
    } catch (error) {
      if (!hasCode(error, 'not_signed_in')) throw error;
      await signInAgain(); // with the password
    }
  }

  function enter(state: SessionState): void {
    api.forget();
    view.set({ status: 'ready', ...state });
    settleSignIn();
    channel.postMessage('changed');
  }

  async function load(): Promise<void> {
    api.forget(); // another user may be signed in
    try {
      const state = await calls.get<SessionState>('/session');
      const before = view.get();
      const isEnded = state.account === null && before.status === 'ready' && before.account !== null;
      view.set({ status: 'ready', ...state, ...(isEnded ? { isEnded } : {}) });
      settleSignIn();
    } catch (error) {
      if (view.get().status !== 'ready') view.set({ status: 'failed', error });
    }
  }

  channel.onmessage = () => void load();

  return {
    view,
    passwordRequest,
    signInRequest,
    api,
    calls,
    load,
    signIn: async (input) => enter(await calls.post<SessionState>('/session', input)),
    signUp: async (input) => enter(await calls.post<SessionState>('/session/sign-up', input)),
    resetPassword: async (input) => enter(await calls.post<SessionState>('/session/reset-password', input)),
    async signOut() {
      try {
        await calls.delete('/session');
      } catch (error) {
        if (!hasCode(error, 'not_signed_in')) throw error;
      }
      show(null);
      channel.postMessage('changed');
    },
    confirmPassword,
    setAccount(account) {
      if (account === null) show(null);
      else view.set({ status: 'ready', ...known(view.get()), account });
      channel.postMessage('changed');
    },
  };
}

function known(view: SessionView): ServerSettings {
  if (view.status !== 'ready')
    return { signUp: 'invitation', createApps: 'members', maxModuleBytes: Infinity, sendsMail: false };
  const { signUp, createApps, maxModuleBytes, sendsMail } = view;
  return { signUp, createApps, maxModuleBytes, sendsMail };
}

/** Shows a request and waits for the answer. Concurrent requests wait for the same answer. */
function askPassword(calls: SessionCalls, request: Store<PasswordRequest | undefined>): Promise<void> {
  return new Promise((resolve, reject) => {
    const before = request.get();
    const settle = (how: () => void): void => {
      request.set(undefined);
      how();
    };
    request.set({
      async confirm(password) {
        try {
          if (before === undefined) await calls.post('/session/confirm', { password });
          else await before.confirm(password);
        } catch (error) {
          if (!hasCode(error, 'not_signed_in')) throw error;
          return settle(() => reject(error));
        }
        settle(resolve);
      },
      cancel() {
        before?.cancel();
        settle(() => reject(new DOMException('The password was not entered', 'AbortError')));
      },
    });
  });
}
