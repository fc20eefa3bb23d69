import type { App, AppOverview } from '@tenon/protocol';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { currentPath, href } from '../../base-path.ts';
import { appApiPath } from '../../pages/team/app-path.ts';
import { overviewPath } from '../../pages/team/overview-path.ts';
import { useAccount, useApi, useServices } from '../../state/services.ts';
import { saveTheme } from '../../state/theme.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { counted } from '../count.ts';
import { Dialog } from '../dialog.tsx';
import { grouped, matches, type SearchEntry, staticEntries } from './search-entries.ts';
import './search.css';
import { useFound } from './use-found.ts';

/** Finds pages, actions, and objects of the server, and goes to the chosen one. */
export function SearchDialog({ onClose }: { readonly onClose: () => void }) {
  const { navigationGuard } = useServices();
  const { route } = useLocation();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const { entries, isStale } = useEntries(query.trim());
  const groups = grouped(entries);
  const ordered = groups.flatMap(([, found]) => found);
  const at = Math.min(chosen, ordered.length - 1);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const open = ({ act }: SearchEntry): void => {
    onClose();
    if ('theme' in act) saveTheme(act.theme);
    else if ('newTab' in act) window.open(href(act.newTab), '_blank', 'noopener');
    else navigationGuard.run(() => route(href(act.to)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    const entry = ordered[at];
    if (step !== undefined && ordered.length > 0) setChosen((at + step + ordered.length) % ordered.length);
    else if (event.key === 'Enter' && entry !== undefined && !event.isComposing) open(entry);
    else return;
    event.preventDefault();
  };
  let number = 0;
  return (
    <Dialog title="Search" isWide onClose={onClose}>
      <div class="search-everywhere">
        <input
          type="text"
          role="combobox"
          aria-label="Search pages, plugins, guests, and actions"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={at < 0 ? undefined : `${id}-${at}`}
          placeholder="Pages, plugins, guests, actions"
          maxLength={200}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          autofocus
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" data-stale={isStale || undefined}>
          {groups.map(([group, found]) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset must not be in a listbox
            <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
              <div id={`${id}-${group}`} class="search-group">
                {group}
              </div>
              {found.map((entry) => {
                const own = number++;
                return (
                  // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the combobox has the focus and the keys
                  <div
                    key={entry.key}
                    id={`${id}-${own}`}
                    role="option"
                    aria-selected={own === at}
                    class="search-entry"
                    onMouseDown={(event) => event.preventDefault()}
                    onClick={() => open(entry)}
                  >
                    <span>{entry.label}</span>
                    {entry.hint === undefined ? null : <span class="soft small">{entry.hint}</span>}
                  </div>
                );
              })}
            </div>
          ))}
        </div>
        <p class="soft small" role="status">
          {isStale
            ? 'Searching…'
            : ordered.length === 0
              ? `No matches for “${query.trim()}”`
              : counted(ordered.length, 'result')}
        </p>
      </div>
    </Dialog>
  );
}

function useEntries(query: string): { readonly entries: readonly SearchEntry[]; readonly isStale: boolean } {
  const account = useAccount();
  const app = useCurrentApp();
  const found = useFound(query, app);
  const points = usePoints(app);
  const known = [...staticEntries(account, app), ...(query === '' ? [] : points)];
  return { entries: [...known.filter((entry) => matches(entry, query)), ...found.entries], isStale: found.isStale };
}

/** The application of the page. */
function useCurrentApp(): App | undefined {
  const api = useApi();
  const [, appId] = /^\/apps\/(app_\w+)/.exec(currentPath()) ?? [];
  const path = appApiPath(appId ?? '');
  const app = useCachedData(path, async (signal) => (appId === undefined ? undefined : api.get<App>(path, { signal })));
  return app.status === 'ready' ? app.data : undefined;
}

function usePoints(app: App | undefined): readonly SearchEntry[] {
  const api = useApi();
  const isAsked = app !== undefined && app.role !== 'guest';
  const path = overviewPath(isAsked ? app.id : '');
  const overview = useCachedData(path, async (signal) =>
    isAsked ? api.get<AppOverview>(path, { signal }) : undefined,
  );
  if (overview.status !== 'ready' || overview.data === undefined || app === undefined) return [];
  return overview.data.firstExtensionPoints.map(({ id, name }) => ({
    key: id,
    group: 'Extension points',
    label: name,
    act: { to: `/apps/${app.id}/extension-points/${id}` },
  }));
}
