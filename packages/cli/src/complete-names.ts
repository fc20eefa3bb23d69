import {
  app as appSchema,
  guest as guestSchema,
  type Plugin,
  plugin as pluginSchema,
  simulation as simulationSchema,
  version as versionSchema,
  webhook as webhookSchema,
} from '@tenon/protocol';
import { type Api, createApi, path } from './api.ts';
import type { Candidate, LineOptions } from './complete.ts';
import { assertToken, findConnection } from './connection.ts';
import { readCredentials } from './credentials-file.ts';
import { readDocsPages, topicsOf } from './docs-pages.ts';
import type { Io } from './io.ts';
import { openProject } from './project/plugin-session.ts';
import { listExtensionPoints, resolveApp, resolveExtensionPoint } from './resolve.ts';
import type { Session } from './session.ts';

/** How long the shell waits for names, in milliseconds. */
const timeoutMs = 2_000;

/** How many versions of a plugin are offered. */
const maxVersions = 50;

const serverKinds = new Set([
  ...['app', 'extension-point', 'guest', 'guest-key', 'page', 'plugin', 'plugin@version', 'simulation', 'webhook'],
]);

/** The kinds whose names the `tenon.toml` here or above is asked about. */
const projectKinds = new Set(['page', 'plugin', 'plugin@version']);

/**
 * Lists the names of one kind: logins from their file, everything else from the server.
 *
 * @throws whatever a command would throw that needs the same server
 */
export async function listNames(
  io: Io,
  kind: string,
  options: LineOptions,
  word: string,
): Promise<readonly Candidate[]> {
  if (kind === 'profile' || kind === 'server') {
    const { profiles } = readCredentials({ ...io, warn() {} });
    return [...profiles].map(([value, { url }]) => ({ value, description: url }));
  }
  if (kind === 'topic') return listTopics(io, options);
  return serverKinds.has(kind) ? listFromServer(io, kind, options, word) : [];
}

/** The pages of the documentation, which needs no token. */
async function listTopics(io: Io, options: LineOptions): Promise<readonly Candidate[]> {
  const project = await openProject(io, {});
  const { url } = findConnection(options, { ...io, warn() {}, projectServer: project?.settings.server });
  const pages = await readDocsPages({ url, fetch: io.fetch, timeoutMs, signal: AbortSignal.timeout(timeoutMs) });
  return [...topicsOf(pages)].map(([value, { title }]) => ({ value, description: title }));
}

async function listFromServer(io: Io, kind: string, options: LineOptions, word: string): Promise<readonly Candidate[]> {
  const project = projectKinds.has(kind) ? await openProject(io, options) : undefined;
  const connection = findConnection(options, { ...io, warn() {}, projectServer: project?.settings.server });
  const api = createApi({
    url: connection.url,
    token: assertToken(connection),
    fetch: io.fetch,
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const known = { api, connection };
  if (kind === 'app') return byName(await api.list('/api/v1/apps', appSchema));
  if (kind === 'extension-point') return byName(await listExtensionPoints(known, options.app));
  if (kind.startsWith('guest')) {
    const app = await resolveApp(known, options.app);
    const guests = await api.list(path`/api/v1/apps/${app}/guests`, guestSchema);
    return byName(guests.map(({ id, guestKey }) => ({ id, name: guestKey })));
  }
  if (kind === 'webhook') {
    const app = await resolveApp(known, options.app);
    const webhooks = await api.list(path`/api/v1/apps/${app}/webhooks`, webhookSchema);
    return webhooks.map(({ id, url }) => ({ value: id, description: url }));
  }
  const named = options.extensionPoint ?? project?.settings.extensionPoint;
  if (kind === 'page') return listPages(known, options.app, named);
  const extensionPoint = await resolveExtensionPoint(known, named);
  if (kind === 'simulation') return listSimulations(api, extensionPoint);
  const plugins = await api.list(path`/api/v1/extension-points/${extensionPoint}/plugins`, pluginSchema);
  if (kind === 'plugin') return byName(plugins);
  if (word.includes('@')) return listVersions(api, plugins, word.slice(0, word.lastIndexOf('@')));
  return byName(plugins).map(({ value, description }) => ({ value: `${value}@`, description }));
}

/** What `tenon open` takes: plugins of a known extension point, extension points, and applications. */
async function listPages(
  known: Pick<Session, 'api' | 'connection'>,
  app: string | undefined,
  extensionPoint: string | undefined,
): Promise<readonly Candidate[]> {
  const { api, connection } = known;
  const isKnown = (extensionPoint ?? connection.extensionPointId) !== undefined;
  const id = isKnown ? await resolveExtensionPoint(known, extensionPoint) : undefined;
  const plugins = id === undefined ? [] : await api.list(path`/api/v1/extension-points/${id}/plugins`, pluginSchema);
  const extensionPoints = await listExtensionPoints(known, app);
  return [plugins, extensionPoints, await api.list('/api/v1/apps', appSchema)].flatMap(byName);
}

/** The newest versions of the plugin that a name or an id means. */
async function listVersions(api: Api, plugins: readonly Plugin[], named: string): Promise<readonly Candidate[]> {
  const [plugin, second] = plugins.filter(({ id, name }) => id === named || name === named);
  if (plugin === undefined || second !== undefined) return [];
  const { extensionPointId, userId, name } = plugin;
  const versions = path`/api/v1/artifacts/${extensionPointId}/plugin/${userId}/${name}/versions`;
  const { entries } = await api.first(versions, versionSchema, maxVersions);
  return entries.map(({ number, state }) => ({ value: `${named}@${number}`, description: state }));
}

async function listSimulations(api: Api, extensionPoint: string): Promise<readonly Candidate[]> {
  const found = await api.list(path`/api/v1/extension-points/${extensionPoint}/simulations`, simulationSchema);
  return found.map(({ name, kind }) => ({ value: name, description: kind }));
}

/** Names as candidates; the id in place of a name that several have. */
function byName(all: readonly { readonly id: string; readonly name: string }[]): readonly Candidate[] {
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  return all.map(({ id, name }) =>
    counts.get(name) === 1 ? { value: name, description: id } : { value: id, description: name },
  );
}
