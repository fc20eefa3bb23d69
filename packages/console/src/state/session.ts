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

/** What the pages know of who is signed in; `isEnded` where somebody was, and another tab signed out. */
export type SessionView =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly error: unknown }
  | ({ readonly status: 'ready'; readonly account: Account | null; readonly isEnded?: true } & ServerSettings);

/** What the server says of itself to everybody. */
type ServerSettings = Omit<SessionState, 'account'>;

/** Who is signed in in this browser, and the ways in and out. */
export interface Session {
  readonly view: Store<SessionView>;
  /** A request for the password that somebody has to answer; see `PasswordDialog`. */
  readonly passwordRequest: Store<PasswordRequest | undefined>;
  /** A request to sign in again, since the session has ended; see `SignInAgainDialog`. */
  readonly signInRequest: Store<SignInRequest | undefined>;
  readonly api: ApiClient;
  /** Routes that go by the cookie: `/session/…`. */
  readonly calls: SessionCalls;
  /** Asks who is signed in. Where that can't be found out, what was known before stays, if anything was. */
  load(): Promise<void>;
  signIn(input: SignInInput): Promise<void>;
  signUp(input: SignUpInput): Promise<void>;
  resetPassword(input: PasswordReset): Promise<void>;
  signOut(): Promise<void>;
  /** Asks for the password, or to sign in again where the session has ended: `ClientDeps.confirmPassword`. */
  confirmPassword(): Promise<void>;
  /** Says that the account has another name now, or is gone. */
  setAccount(account: Account | null): void;
}

export interface PasswordRequest {
  /** @throws ApiError when the password is not the right one */
  confirm(password: string): Promise<void>;
  cancel(): void;
}

export interface SignInRequest {
  /** Whose session has ended: what the pages hold is theirs. */
  readonly account: Account;
  /** @throws ApiError when the password is not the right one */
  signIn(password: string): Promise<void>;
  /** Leaves what the pages hold, so that anybody may sign in. */
  giveUp(): void;
}

/** How tabs of the same console tell each other that somebody came or went. */
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

  /** Lets go on what waits for somebody to sign in again, if it was they who did. */
  function settleSignIn(): void {
    const request = signInRequest.get();
    const now = view.get();
    if (request === undefined || now.status !== 'ready') return;
    signInRequest.set(undefined);
    const isSame = now.account?.id === request.account.id;
    for (const each of waiting) {
      if (isSame) each.resolve();
      else each.reject(new DOMException('Nobody signed in again', 'AbortError'));
    }
    waiting.clear();
  }

  function signInAgain(): Promise<void> {
    const now = view.get();
    const account = now.status === 'ready' ? now.account : null;
    if (account === null) return Promise.reject(new DOMException('Nobody was signed in', 'AbortError'));
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
    api.forget(); // it may be somebody else by now
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
  if (view.status !== 'ready') return { signUp: 'invitation', createApps: 'members', maxModuleBytes: Infinity };
  const { signUp, createApps, maxModuleBytes } = view;
  return { signUp, createApps, maxModuleBytes };
}

/** Puts a request up and waits until it is answered; several that come at once wait for the same answer. */
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
