import { type RunningServer, startServer } from '../../../../test/helpers/server.ts';
import type { NumberedModule } from './numbered-module.ts';

/** A version that was or may have been bound between `fromMs` and `untilMs`, by `performance.now()`. */
interface Bound {
  readonly name: string;
  readonly number: number;
  readonly address: string;
  readonly fromMs: number;
  untilMs: number;
}

/** A real server in its own process, with an application whose guests have published plugins. */
export interface Stage {
  readonly server: RunningServer;
  readonly url: string;
  /** The owner's token, with all scopes. */
  readonly token: string;
  readonly extensionPointId: string;
  /** Invites a guest, and accepts the invitation. */
  invite(guestKey: string): Promise<void>;
  /** Publishes a plugin for a guest. */
  publish(guestKey: string, name: string, module: NumberedModule): Promise<void>;
  /** The versions that may have been bound under the name in this period. */
  boundBetween(guestKey: string, name: string, fromMs: number, untilMs: number): Bound[];
  /** The names of the guest's plugins. */
  names(guestKey: string): string[];
  /** Creates a token with the scope `read`, and a function that revokes it. */
  issueToken(): Promise<{ readonly token: string; revoke(): Promise<void> }>;
  /** Calls the API. Fails the test on an error. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
  const server = await startServer();
  const { TENON_URL: url = '', TENON_TOKEN: token = '', TENON_USER_ID: userId = '' } = server.quickstart;
  const guests = new Map<string, string>();
  const published = new Map<string, Bound[]>();

  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': isModule ? 'application/wasm' : 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isModule ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  const app = await call<{ id: string }>('POST', 'apps', { name: 'Stage' });
  const extensionPoint = { name: 'Numbers', schema: { exports: ['number'] } };
  const { id } = await call<{ id: string }>('POST', `apps/${app.id}/extension-points`, extensionPoint);
  const ofName = (guestKey: string, name: string): Bound[] => {
    const key = JSON.stringify([guestKey, name]);
    const versions = published.get(key) ?? [];
    published.set(key, versions);
    return versions;
  };

  return {
    server,
    url,
    token,
    extensionPointId: id,
    call,
    async invite(guestKey) {
      const invitation = { deliveryMethod: 'link', guestKey };
      const { link } = await call<{ link: string }>('POST', `apps/${app.id}/guests`, invitation);
      const code = new URL(link).searchParams.get('code');
      guests.set(guestKey, (await call<{ guestId: string }>('POST', 'invitations/accept', { code })).guestId);
    },
    async publish(guestKey, name, { number, bytes, address }) {
      const versions = ofName(guestKey, name);
      const bound: Bound = { name, number, address, fromMs: performance.now(), untilMs: Number.POSITIVE_INFINITY };
      versions.push(bound);
      await call('PUT', `artifacts/${id}/plugin/${userId}/${name}?guest=${guests.get(guestKey)}`, bytes);
      const previous = versions.at(-2);
      if (previous !== undefined) previous.untilMs = performance.now();
    },
    boundBetween: (guestKey, name, fromMs, untilMs) =>
      ofName(guestKey, name).filter((bound) => bound.fromMs <= untilMs && bound.untilMs >= fromMs),
    names: (guestKey) => [
      ...new Set(
        [...published]
          .filter(([key]) => JSON.parse(key)[0] === guestKey)
          .flatMap(([, all]) => all.map(({ name }) => name)),
      ),
    ],
    async issueToken() {
      const fields = { name: 'a host', scopes: ['read'], expiresInDays: 1 };
      const issued = await call<{ id: string; token: string }>('POST', 'tokens', fields);
      return { token: issued.token, revoke: () => call('DELETE', `tokens/${issued.id}`) };
    },
    close: () => server.stop(),
  };
}
