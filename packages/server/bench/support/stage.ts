import { randomBytes } from 'node:crypto';
import type { App, ExtensionPoint, Guest, InvitationLink, PublishedPlugin } from '@tenon/protocol';
import { type Config, createUser, issueApiKey, issueToken, openData } from '../../src/index.ts';
import { moduleOfSize } from './module-of-size.ts';

const [KiB, MiB] = [1024, 1024 * 1024];

/** The sizes of the plugins that are there to be fetched, in bytes. */
export const contentSizes = { small: 64 * KiB, medium: MiB, large: 32 * MiB } as const;

/** How many plugins there are to publish versions of: a connection each. */
const publishedPlugins = 16;

/** Who asks, and what for, on a server that has something to give. */
export interface Stage {
  /** The credentials of who has all scopes, and of who instruments. */
  readonly headers: Readonly<Record<string, string>>;
  readonly keyHeaders: Readonly<Record<string, string>>;
  /** Where things are. */
  readonly bindings: string;
  readonly contents: Readonly<Record<keyof typeof contentSizes, string>>;
  /** A plugin for each connection. */
  readonly publish: string;
}

/** Makes a user and credentials, as an operator does before anything serves. */
export async function makeUser(config: Config): Promise<{ id: string; token: string; key: string }> {
  const data = await openData(config);
  try {
    const { id } = await createUser(data.deps, { name: 'bench', email: null });
    const { secret: token } = await issueToken(data.deps, id, {
      name: 'bench',
      scopes: ['read', 'publish', 'manage'],
      appId: null,
      expiresAtMs: Date.now() + 24 * 3_600_000,
    });
    const { secret: key } = await issueApiKey(data.deps, id, 'bench');
    return { id, token, key };
  } finally {
    await data.close();
  }
}

/** Has that user make an application with two guests, of which one has plugins to be fetched, and the other those that change. */
export async function setStage(port: number, user: Awaited<ReturnType<typeof makeUser>>): Promise<Stage> {
  const headers = { authorization: `Bearer ${user.token}` };
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const isModule = body instanceof Uint8Array;
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { ...headers, 'content-type': isModule ? 'application/wasm' : 'application/json' },
      body: isModule ? new Uint8Array(body) : body === undefined ? null : JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const app = (await call('POST', '/apps', { name: 'bench' })) as App;
  const made = await call('POST', `/apps/${app.id}/extension-points`, { name: 'bench' });
  const extensionPoint = made as ExtensionPoint;
  const guests: string[] = [];
  for (const guestKey of ['customers/globex', 'customers/initech']) {
    const invitation = { deliveryMethod: 'link', guestKey };
    const { link } = (await call('POST', `/apps/${app.id}/guests`, invitation)) as InvitationLink;
    await call('POST', '/invitations/accept', { code: new URL(link).searchParams.get('code') });
    const { objects } = (await call('GET', `/apps/${app.id}/guests`)) as { objects: readonly Guest[] };
    guests.push(objects.find((guest) => guest.guestKey === guestKey)?.id ?? '');
  }
  const [globex = '', initech = ''] = guests;
  const plugins = `/artifacts/${extensionPoint.id}/plugin/${user.id}`;
  const publish = async (name: string, guest: string, module: Uint8Array): Promise<string> => {
    const published = await call('PUT', `${plugins}/${name}?guest=${guest}`, module);
    return `/api/v1/c/${(published as PublishedPlugin).contentAddress}`;
  };
  const contents = {
    small: await publish('small', globex, moduleOfSize(contentSizes.small)),
    medium: await publish('medium', globex, moduleOfSize(contentSizes.medium)),
    large: await publish('large', globex, moduleOfSize(contentSizes.large)),
  };
  for (let at = 0; at < publishedPlugins; at++) {
    const module = moduleOfSize(KiB);
    module.set(randomBytes(16), module.length - 16);
    await publish(`p${at}`, initech, module);
  }
  return {
    headers,
    keyHeaders: { authorization: `Bearer ${user.key}` },
    bindings: `/api/v1/extension-points/${extensionPoint.id}/bindings/customers%2Fglobex`,
    contents,
    publish: `/api/v1${plugins}/p{connection}?guest=${initech}`,
  };
}
