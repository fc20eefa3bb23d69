import { hash } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import {
  type AppId,
  app,
  attestation,
  bindingList,
  type ContentAddress,
  type ExtensionPointId,
  extensionPoint,
  guest,
  listOf,
  plugin,
  signingKeys,
  version,
} from '@tenon/protocol';
import { Type } from '@tenon/protocol/type';
import { faultsOf } from '@tenon/protocol/validate';
import type { Static, TObject, TSchema } from 'typebox';
import type { PluginKey } from '../db/records.ts';
import { maxDocumentBytes } from '../plugins/pushed-image.ts';
import { type ReceivedEvent, readEvents } from './event-reader.ts';

/*
 * The requests to the source of a mirror. They are those of any client with a token for reading. The operator chooses the source, so its address
 * is not checked. Redirects are not followed, so that no other server gets the token.
 */

/** How long the source may send nothing, in milliseconds. It sends heartbeats more often. */
const idleTimeoutMs = 60_000;

/** The most concurrent requests for JSON, and for contents. The source allows an account 256. */
const maxConnections = 8;

/** The largest JSON response: an application's extension points with their schemas, or a list of 1,000 plugins. */
const maxJsonBytes = 64 * 1024 * 1024;

const pageSize = 1000;

/** The schema of an object with some of its fields, since a source of another release may lack the others. */
function some<T extends TObject, const K extends keyof T['properties']>({ properties }: T, names: readonly K[]) {
  const picked = Object.fromEntries(names.map((name) => [name, properties[name as string]]));
  return Type.Object(picked as Pick<T['properties'], K>);
}

const sourceApp = some(app, ['id', 'name', 'role', 'createdAt', 'updatedAt']);
const sourceExtensionPoint = some(extensionPoint, [
  ...(['id', 'appId', 'name', 'schema', 'requiresApproval', 'minVersionAgeSeconds', 'limits', 'provenance'] as const),
  ...(['createdAt', 'updatedAt'] as const),
]);
const sourceGuest = some(guest, ['id', 'guestKey', 'label', 'createdAt']);
const sourcePlugin = some(plugin, ['userName', 'description', 'homepage', 'createdAt']);
const sourceVersion = some(version, [
  ...(['id', 'number', 'contentAddress', 'size', 'semver', 'note', 'state', 'stateReason', 'verdict'] as const),
  ...(['provenance', 'createdAt', 'releaseAt', 'stateChangedAt', 'decidedBy', 'oci'] as const),
]);

export type SourceExtensionPoint = Static<typeof sourceExtensionPoint>;
export type SourceGuest = Static<typeof sourceGuest>;
export type SourceVersion = Static<typeof sourceVersion>;

/** The kinds of responses, which don't share connections. */
type ResponseKind = 'json' | 'content' | 'stream';

/** Why a request to the source failed. */
export type SourceErrorKind =
  /** No connection, or a status that asks to try again. */
  | 'unreachable'
  /** The token is not valid, or may not read this. */
  | 'refused'
  /** What the path names does not exist, or the token may not see it. */
  | 'missing'
  /** The response is not what this version expects. */
  | 'invalid';

export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly kind: SourceErrorKind;

  constructor(kind: SourceErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** A binding list, as the source sends it. */
export interface SourceList {
  readonly bindings: Static<typeof bindingList>;
  readonly etag: string;
}

export type Source = ReturnType<typeof openSource>;

/** @param readToken called for each request, so that a replaced token is used without a restart */
export function openSource(url: string, readToken: () => string) {
  const isPlain = url.startsWith('http:');
  const agentOptions = { keepAlive: true, maxSockets: maxConnections };
  const openAgent = () => (isPlain ? new HttpAgent(agentOptions) : new HttpsAgent(agentOptions));
  // Contents have connections of their own, so that no list waits for a large one.
  const [agent, contentAgent] = [openAgent(), openAgent()];

  const send = (
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    kind: ResponseKind = 'json',
  ) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const fail = (error: Error) =>
        reject(signal.aborted ? signal.reason : new SourceError('unreachable', describe(error), { cause: error }));
      const request = (isPlain ? httpRequest : httpsRequest)(`${url}${path}`, {
        agent: { json: agent, content: contentAgent, stream: false as const }[kind],
        signal,
        headers: { authorization: `Bearer ${readToken()}`, 'user-agent': 'tenon', ...headers },
      });
      request.setTimeout(idleTimeoutMs, () =>
        request.destroy(new Error(`No data for ${idleTimeoutMs / 1000} seconds`)),
      );
      request.on('error', fail);
      request.on('response', resolve);
      request.end();
    });

  /** Reads a body. @throws SourceError also for a body of more bytes */
  const readBody = async (response: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes) break;
        chunks.push(chunk);
      }
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw new SourceError('unreachable', 'The response of the source ended early', { cause: error });
    }
    if (bytes > maxBytes)
      throw new SourceError('invalid', `The response of the source has more than ${maxBytes} bytes`);
    return Buffer.concat(chunks, bytes);
  };

  /** Sends a GET. Resolves for the statuses 200 and 304. */
  const get = async (
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    kind: ResponseKind = 'json',
  ) => {
    const response = await send(path, headers, signal, kind);
    const { statusCode: status = 0 } = response;
    if (status === 200 || status === 304) return response;
    response.destroy(); // its body may have no end
    throw new SourceError(kindOf(status), `The source responded with the status ${status}`);
  };

  const getJson = async <T extends TSchema>(path: string, schema: T, signal: AbortSignal): Promise<Static<T>> => {
    const body = await readBody(await get(path, {}, signal), maxJsonBytes, signal);
    return parse(body, schema, path);
  };

  const getPages = async function* <T extends TSchema>(
    path: string,
    item: T,
    signal: AbortSignal,
    { query = '', maxPages }: { readonly query?: string; readonly maxPages: number },
  ): AsyncGenerator<Static<T>[]> {
    const schema = listOf(item);
    let cursor: string | undefined;
    for (let pages = 0; pages < maxPages; pages++) {
      const at = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await getJson(`${path}?limit=${pageSize}${query}${at}`, schema, signal)) as {
        objects: Static<T>[];
        nextCursor?: string;
      };
      yield page.objects;
      if (page.nextCursor === undefined) return;
      if (page.nextCursor === cursor) throw new SourceError('invalid', 'The source repeated a page of a list');
      cursor = page.nextCursor;
    }
    throw new SourceError('invalid', `A list of the source has more than ${maxPages * pageSize} objects`);
  };

  return {
    /** The applications that the token may see, in pages. */
    apps: (signal: AbortSignal) => getPages('/api/v1/apps', sourceApp, signal, { maxPages: 10 }),
    app: (appId: AppId, signal: AbortSignal) => getJson(`/api/v1/apps/${appId}`, sourceApp, signal),
    async extensionPoints(appId: AppId, signal: AbortSignal) {
      const schema = Type.Object({ objects: Type.Array(sourceExtensionPoint) });
      return (await getJson(`/api/v1/apps/${appId}/extension-points`, schema, signal)).objects;
    },
    /** The guests of an application, in pages. With a guest key, only that guest. */
    guests: (appId: AppId, signal: AbortSignal, guestKey?: string) =>
      getPages(`/api/v1/apps/${appId}/guests`, sourceGuest, signal, {
        query: guestKey === undefined ? '' : `&guestKey=${encodeURIComponent(guestKey)}`,
        maxPages: 10_000,
      }),
    /** A binding list, with a verified digest; `undefined` if it still has this entity tag. */
    async bindings(
      extensionPointId: ExtensionPointId,
      guestKey: string,
      etag: string,
      signal: AbortSignal,
    ): Promise<SourceList | undefined> {
      const path = `/api/v1/extension-points/${extensionPointId}/bindings/${encodeURIComponent(guestKey)}`;
      const response = await get(path, { 'if-none-match': etag }, signal);
      const body = await readBody(response, maxJsonBytes, signal);
      if (response.statusCode === 304) return undefined;
      const own = `"${hash('sha256', body, 'base64url')}"`;
      if (response.headers.etag !== own) throw new SourceError('invalid', 'A binding list does not have its digest');
      return { bindings: parse(body, bindingList, path), etag: own };
    },
    plugin: (key: PluginKey, signal: AbortSignal) => getJson(pathOf(key), sourcePlugin, signal),
    /** The versions of a plugin, in pages, the newest first. */
    versions: (key: PluginKey, signal: AbortSignal) =>
      getPages(`${pathOf(key)}/versions`, sourceVersion, signal, { query: '&maxGuests=1', maxPages: 100 }),
    async attestations(key: PluginKey, number: number, signal: AbortSignal) {
      return (await getJson(`${pathOf(key)}/versions/${number}/attestations`, listOf(attestation), signal)).objects;
    },
    /** A content, with a verified digest. */
    async content(address: ContentAddress, size: number, signal: AbortSignal): Promise<Buffer> {
      const bytes = await readBody(await get(`/api/v1/c/${address}`, {}, signal, 'content'), size, signal);
      if (hash('sha256', bytes, 'base64url') === address) return bytes;
      throw new SourceError('invalid', `The content ${address} does not have its digest`);
    },
    /** A document of a version that an OCI client pushed. The caller verifies its digest. */
    async ociDocument({ oci }: SourceVersion, path: string, signal: AbortSignal): Promise<Buffer> {
      const repository = oci.repository.slice(oci.repository.indexOf('/') + 1);
      return readBody(await get(`/v2/${repository}/${path}`, {}, signal), maxDocumentBytes, signal);
    },
    async signingKeys(signal: AbortSignal) {
      return (await getJson('/.well-known/tenon-signing-keys.json', signingKeys, signal)).keys;
    },
    /** Opens the change stream of an application, after an event. */
    async changes(
      appId: AppId,
      lastId: string | null,
      signal: AbortSignal,
    ): Promise<AsyncGenerator<readonly ReceivedEvent[]>> {
      const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
      return readEvents(await get(`/api/v1/apps/${appId}/changes`, headers, signal, 'stream'));
    },
    close(): void {
      agent.destroy();
      contentAgent.destroy();
    },
  };
}

function pathOf({ extensionPointId, userId, name }: PluginKey): string {
  return `/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${encodeURIComponent(name)}`;
}

function kindOf(status: number): SourceErrorKind {
  if (status === 401 || status === 403) return 'refused';
  if (status === 404 || status === 410) return 'missing';
  if (status === 429 || (status >= 502 && status <= 504)) return 'unreachable';
  return 'invalid';
}

function parse<T extends TSchema>(body: Buffer, schema: T, path: string): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new SourceError('invalid', 'The source sent a response that is not JSON');
  }
  const [fault] = faultsOf(schema, value);
  if (fault === undefined) return value as Static<T>;
  const template = path.replace(/\?.*$/, '').replace(/\/bindings\/.*$/, '/bindings/…');
  throw new SourceError('invalid', `The response to ${template} is not valid: ${fault.pointer || '/'} ${fault.detail}`);
}

function describe({ message, code }: NodeJS.ErrnoException): string {
  return code ?? message;
}
