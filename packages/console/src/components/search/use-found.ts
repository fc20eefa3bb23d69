import type { App, Guest, ListPage, PluginSummary } from '@tenon/protocol';
import { useEffect, useState } from 'preact/hooks';
import type { ApiClient } from '../../api/client.ts';
import { teamPluginPath } from '../../pages/plugin/plugin-path.ts';
import { useApi } from '../../state/services.ts';
import type { SearchEntry } from './search-entries.ts';

interface Found {
  readonly entries: readonly SearchEntry[];
  /** Whether these are the results of another query, because the present one is still running. */
  readonly isStale: boolean;
}

/** A search starts when the user pauses. */
const pauseMs = 200;
const perGroup = 5;

/** The applications, plugins, and guests that match a query, up to five of each. Sends at most three requests per query. */
export function useFound(query: string, app: App | undefined): Found {
  const api = useApi();
  const [found, setFound] = useState<{ readonly key: string; readonly entries: readonly SearchEntry[] }>();
  const key = `${app?.id ?? ''} ${query}`;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(
      async () => {
        const entries = await find(api, query, app, signal);
        if (!signal.aborted) setFound({ key, entries });
      },
      query === '' ? 0 : pauseMs,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return { entries: found?.entries ?? [], isStale: found?.key !== key };
}

async function find(api: ApiClient, q: string, app: App | undefined, signal: AbortSignal): Promise<SearchEntry[]> {
  const list = async <T>(path: string, toEntry: (object: T) => SearchEntry, options = {}): Promise<SearchEntry[]> => {
    const query = { limit: perGroup, ...(q !== '' && { q }), ...options };
    try {
      return (await api.get<ListPage<T>>(path, { query, signal })).objects.map(toEntry);
    } catch {
      return []; // the other lists may still have results
    }
  };
  const lists = [list('/api/v1/apps', toAppEntry, { maxGuests: 1 })];
  if (app !== undefined && q !== '') {
    lists.push(list<PluginSummary>(`/api/v1/apps/${app.id}/plugins`, (plugin) => toPluginEntry(app, plugin)));
    if (app.role !== 'guest')
      lists.push(list<Guest>(`/api/v1/apps/${app.id}/guests`, (guest) => toGuestEntry(app, guest)));
  }
  return (await Promise.all(lists)).flat();
}

function toAppEntry({ id, name, role }: App): SearchEntry {
  return { key: id, group: 'Applications', label: name, hint: role, act: { to: `/apps/${id}` } };
}

function toPluginEntry({ id: appId, role }: App, plugin: PluginSummary): SearchEntry {
  const { id, name, extensionPoint, user } = plugin;
  const to = role === 'guest' ? `/apps/${appId}/my-plugins/${extensionPoint.id}/${name}` : teamPluginPath(appId, id);
  return { key: id, group: 'Plugins', label: name, hint: `${extensionPoint.name} · ${user.name}`, act: { to } };
}

function toGuestEntry({ id: appId }: App, { id, guestKey, label, users }: Guest): SearchEntry {
  const hint = label ?? users[0]?.name;
  return { key: id, group: 'Guests', label: guestKey, hint, act: { to: `/apps/${appId}/guests/${id}` } };
}
