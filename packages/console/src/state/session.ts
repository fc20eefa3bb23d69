import type { Account, PasswordReset, SessionState, SignInInput, SignUpInput } from '@tenon/protocol';
import { hasCode } from '../api/api-error.ts';
import {
  type ApiClient,
  type ClientParts,
  createApiClient,
  createSessionCalls,
  type SessionCalls,
} from '../api/client.ts';
import { createStore, type Store } from './store.ts';

/** What the pages know of who is signed in. */
export type SessionView =
  | { readonly status: 'loading' }
  | { readonly status: 'failed'; readonly error: unknown }
  | ({ readonly status: 'ready'; readonly account: Account | null } & ServerSettings);

/** What the server says of itself to everybody. */
type ServerSettings = Pick<SessionState, 'signUp' | 'maxModuleBytes'>;

/** Who is signed in in this browser, and the ways in and out. */
export interface Session {
  readonly view: Store<SessionView>;
  /** A request for the password that somebody has to answer; see `PasswordDialog`. */
  readonly passwordRequest: Store<PasswordRequest | undefined>;
  readonly api: ApiClient;
  /** Routes that go by the cookie: `/session/…`. */
  readonly calls: SessionCalls;
  /** Asks who is signed in. Where that can't be found out, what was known before stays, if anything was. */
  load(): Promise<void>;
  signIn(input: SignInInput): Promise<void>;
  signUp(input: SignUpInput): Promise<void>;
  resetPassword(input: PasswordReset): Promise<void>;
  signOut(): Promise<void>;
  /** Says that the account has another name now, or is gone. */
  setAccount(account: Account | null): void;
}

export interface PasswordRequest {
  /** @throws ApiError when the password is not the right one */
  confirm(password: string): Promise<void>;
  cancel(): void;
}

/** How tabs of the same console tell each other that somebody came or went. */
export interface TabChannel {
  postMessage(message: string): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

export function createSession(
  parts: Pick<ClientParts, 'basePath' | 'fetch' | 'clock'> & { readonly channel: TabChannel },
): Session {
  const { channel } = parts;
  const view = createStore<SessionView>({ status: 'loading' });
  const passwordRequest = createStore<PasswordRequest | undefined>(undefined);
  const onSignedOut = (): void => show(null);
  const calls = createSessionCalls({ ...parts, onSignedOut });
  const api = createApiClient({
    ...parts,
    onSignedOut,
    confirmPassword: () => askPassword(calls, passwordRequest),
  });

  function show(account: Account | null): void {
    passwordRequest.get()?.cancel();
    api.forget();
    view.set({ status: 'ready', ...known(view.get()), account });
  }

  function enter(state: SessionState): void {
    api.forget();
    view.set({ status: 'ready', ...state });
    channel.postMessage('changed');
  }

  async function load(): Promise<void> {
    api.forget(); // it may be somebody else by now
    try {
      view.set({ status: 'ready', ...(await calls.get<SessionState>('/session')) });
    } catch (error) {
      if (view.get().status !== 'ready') view.set({ status: 'failed', error });
    }
  }

  channel.onmessage = () => void load();

  return {
    view,
    passwordRequest,
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
    setAccount(account) {
      if (account === null) show(null);
      else view.set({ status: 'ready', ...known(view.get()), account });
      channel.postMessage('changed');
    },
  };
}

function known(view: SessionView): ServerSettings {
  if (view.status !== 'ready') return { signUp: 'invitation', maxModuleBytes: Infinity };
  const { signUp, maxModuleBytes } = view;
  return { signUp, maxModuleBytes };
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
        if (before === undefined) await calls.post('/session/confirm', { password });
        else await before.confirm(password);
        settle(resolve);
      },
      cancel() {
        before?.cancel();
        settle(() => reject(new DOMException('The password was not entered', 'AbortError')));
      },
    });
  });
}
