import type {
  Account,
  PasskeyList,
  PasswordReset,
  SessionState,
  SignedOut,
  SignInInput,
  SignUpInput,
} from '@tenon/protocol';
import { hasCode } from '../api/api-error.ts';
import {
  type ApiClient,
  type ClientDeps,
  createApiClient,
  createSessionCalls,
  type SessionCalls,
} from '../api/client.ts';
import { getPasskey } from './passkeys.ts';
import { createStore, type Store } from './store.ts';

/** The state of the session for pages. `isEnded`: the user was signed in, and signed out in another tab. */
export type SessionView =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly error: unknown }
  | ({ readonly status: 'ready'; readonly account: Account | null; readonly isEnded?: true } & ServerSettings);

/** The server's public settings. */
type ServerSettings = Omit<SessionState, 'account' | 'secondFactor'>;

/** The browser's session: the account that is signed in, sign-in, and sign-out. */
export interface Session {
  readonly view: Store<SessionView>;
  /** A request for the passkey or the password; see `PasswordDialog`. */
  readonly confirmRequest: Store<ConfirmRequest | undefined>;
  /** A request to sign in again after the session has ended; see `SignInAgainDialog`. */
  readonly signInRequest: Store<SignInRequest | undefined>;
  readonly api: ApiClient;
  /** The routes that use the cookie: `/session/…`. */
  readonly calls: SessionCalls;
  /** Requests the session's state. If that fails, an earlier state stays. */
  load(): Promise<void>;
  /** @returns what the account needs besides the password, if it needs more */
  signIn(input: SignInInput): Promise<SecondFactor | undefined>;
  /**
   * Signs in with a passkey, also after the password.
   *
   * @param isAutofill waits until the user chooses a passkey in a field
   */
  signInWithPasskey(isAutofill?: boolean): Promise<void>;
  /** Completes a sign-in after the password. */
  signInWithRecoveryCode(code: string): Promise<void>;
  signUp(input: SignUpInput): Promise<void>;
  /** @returns as `signIn` */
  resetPassword(input: PasswordReset): Promise<SecondFactor | undefined>;
  signOut(): Promise<void>;
  /** Asks for the passkey or the password, or to sign in again if the session has ended: `ClientDeps.confirm`. */
  confirm(): Promise<void>;
  /** Runs requests that use the cookie. If the server requires step-up, it asks for it and repeats them. */
  confirmed<T>(work: (calls: SessionCalls) => Promise<T>): Promise<T>;
  /** Call after the account was changed, or deleted. */
  setAccount(account: Account | null): void;
}

/** What an account needs after the password. */
export type SecondFactor = NonNullable<SessionState['secondFactor']>;

export interface ConfirmRequest {
  /** Whether the account has a passkey, which is then needed instead of the password. */
  readonly hasPasskey: boolean;
  /** @throws ApiError or PasskeyError if the password or the passkey is not accepted */
  confirm(password?: string): Promise<void>;
  /** Call after the session was confirmed with a provider. */
  readonly confirmed: () => void;
  cancel(): void;
}

export interface SignInRequest {
  /** The account whose session has ended. The pages contain its data. */
  readonly account: Account;
  /** @throws ApiError or PasskeyError if the password or the passkey is not accepted */
  signIn(password: string): Promise<void>;
  signInWithPasskey(): Promise<void>;
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
  const confirmRequest = createStore<ConfirmRequest | undefined>(undefined);
  const signInRequest = createStore<SignInRequest | undefined>(undefined);
  const calls = createSessionCalls(parts);
  const waiting = new Set<{ readonly resolve: () => void; readonly reject: (reason: unknown) => void }>();
  const api = createApiClient({ ...parts, signInAgain, confirm });

  function show(account: Account | null): void {
    confirmRequest.get()?.cancel();
    api.forget();
    view.set({ ...known(view.get()), status: 'ready', account });
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
        async signIn(password) {
          const input = { email: account.email ?? '', password };
          if ((await signInWith('/session', input)) !== undefined) await signInWithPasskey();
        },
        signInWithPasskey,
        giveUp: () => show(null),
      });
    }
    return new Promise((resolve, reject) => waiting.add({ resolve, reject }));
  }

  async function confirm(): Promise<void> {
    try {
      await askConfirmation(calls, confirmRequest);
    } catch (error) {
      if (!hasCode(error, 'not_signed_in')) throw error;
      await signInAgain(); // which confirms
    }
  }

  async function confirmed<T>(work: (calls: SessionCalls) => Promise<T>): Promise<T> {
    try {
      return await work(calls);
    } catch (error) {
      if (hasCode(error, 'not_signed_in')) await signInAgain();
      else if (hasCode(error, 'step_up_required')) await confirm();
      else throw error;
    }
    return work(calls);
  }

  async function signInWith(path: string, input: SignInInput | PasswordReset): Promise<SecondFactor | undefined> {
    const { secondFactor, ...state } = await calls.post<SessionState>(path, input);
    if (secondFactor === undefined) enter(state);
    return secondFactor;
  }

  async function signInWithPasskey(isAutofill = false): Promise<void> {
    const response = await getPasskey(calls, '/session/passkey/options', isAutofill);
    enter(await calls.post<SessionState>('/session/passkey', { response }));
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
    confirmRequest,
    signInRequest,
    api,
    calls,
    load,
    signIn: (input) => signInWith('/session', input),
    signInWithPasskey,
    signInWithRecoveryCode: async (code) => enter(await calls.post<SessionState>('/session/recovery-code', { code })),
    signUp: async (input) => enter(await calls.post<SessionState>('/session/sign-up', input)),
    resetPassword: (input) => signInWith('/session/reset-password', input),
    async signOut() {
      const ended = await calls.post<SignedOut>('/session/sign-out', {}).catch((error: unknown) => {
        if (!hasCode(error, 'not_signed_in')) throw error;
      });
      show(null);
      channel.postMessage('changed');
      if (ended?.redirectTo) location.href = ended.redirectTo; // ends the provider's session too
    },
    confirm,
    confirmed,
    setAccount(account) {
      if (account === null) show(null);
      else view.set({ ...known(view.get()), status: 'ready', account });
      channel.postMessage('changed');
    },
  };
}

function known(view: SessionView): ServerSettings {
  if (view.status !== 'ready')
    return {
      signUp: 'invitation',
      createApps: 'members',
      maxModuleBytes: Infinity,
      sendsMail: false,
      passwordSignIn: true,
      providers: [],
    };
  return view;
}

/** Shows a request and waits for the answer. Concurrent requests wait for the same answer. */
async function askConfirmation(calls: SessionCalls, request: Store<ConfirmRequest | undefined>): Promise<void> {
  const hasPasskey =
    request.get()?.hasPasskey ?? (await calls.get<PasskeyList>('/session/passkeys')).objects.length > 0;
  return new Promise((resolve, reject) => {
    const before = request.get();
    const settle = (how: () => void): void => {
      request.set(undefined);
      how();
    };
    request.set({
      hasPasskey,
      async confirm(password) {
        try {
          if (before !== undefined) await before.confirm(password);
          else if (hasPasskey) await confirmWithPasskey(calls);
          else await calls.post('/session/confirm', { password });
        } catch (error) {
          if (!hasCode(error, 'not_signed_in')) throw error;
          return settle(() => reject(error));
        }
        settle(resolve);
      },
      confirmed() {
        before?.confirmed();
        settle(resolve);
      },
      cancel() {
        before?.cancel();
        settle(() => reject(new DOMException('The action was not confirmed', 'AbortError')));
      },
    });
  });
}

async function confirmWithPasskey(calls: SessionCalls): Promise<void> {
  await calls.post('/session/confirm', { passkey: await getPasskey(calls, '/session/confirm/options') });
}
