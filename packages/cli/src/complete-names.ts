import { app as appSchema, guest as guestSchema, plugin as pluginSchema } from '@tenon/protocol';
import { createApi, path } from './api.ts';
import type { Candidate, LineOptions } from './complete.ts';
import { assertToken, findConnection } from './connection.ts';
import { readCredentials } from './credentials-file.ts';
import type { Io } from './io.ts';
import { openProject } from './project/plugin-session.ts';
import { listExtensionPoints, resolveApp, resolveExtensionPoint } from './resolve.ts';

/** How long the shell waits for names, in milliseconds. */
const timeoutMs = 2_000;

const serverKinds = new Set(['app', 'extension-point', 'guest', 'guest-key', 'plugin', 'plugin@version']);

/**
 * Lists the names of one kind: logins from their file, everything else from the server.
 *
 * @throws whatever a command would throw that needs the same server
 */
export async function listNames(io: Io, kind: string, options: LineOptions): Promise<readonly Candidate[]> {
  if (kind === 'profile' || kind === 'server') {
    const { profiles } = readCredentials({ ...io, warn() {} });
    return [...profiles].map(([value, { url }]) => ({ value, description: url }));
  }
  return serverKinds.has(kind) ? listFromServer(io, kind, options) : [];
}

async function listFromServer(io: Io, kind: string, options: LineOptions): Promise<readonly Candidate[]> {
  const project = kind.startsWith('plugin') ? await openProject(io, options) : undefined;
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
  const named = options.extensionPoint ?? project?.settings.extensionPoint;
  const extensionPoint = await resolveExtensionPoint(known, named);
  const plugins = byName(await api.list(path`/api/v1/extension-points/${extensionPoint}/plugins`, pluginSchema));
  return kind === 'plugin' ? plugins : plugins.map(({ value, description }) => ({ value: `${value}@`, description }));
}

/** Names as candidates; the id in place of a name that several have. */
function byName(all: readonly { readonly id: string; readonly name: string }[]): readonly Candidate[] {
  const counts = new Map<string, number>();
  for (const { name } of all) counts.set(name, (counts.get(name) ?? 0) + 1);
  return all.map(({ id, name }) =>
    counts.get(name) === 1 ? { value: name, description: id } : { value: id, description: name },
  );
}
