import type { Account, App } from '@tenon/protocol';
import { mayManage, mayOwn } from '../../pages/team/use-app.ts';
import type { Theme } from '../../state/theme.ts';
import { tracePath } from '../../state/trace-path.ts';

/** Something to find: a page, an action, or an object of the server. */
export interface SearchEntry {
  /** Unique within the results. */
  readonly key: string;
  readonly group: SearchGroup;
  readonly label: string;
  /** Tells it from others of the same label: the application, the publisher. */
  readonly hint?: string | undefined;
  readonly act: { readonly to: string } | { readonly theme: Theme } | { readonly newTab: string };
}

export const searchGroups = ['Actions', 'Pages', 'Applications', 'Plugins', 'Guests', 'Extension points'] as const;
export type SearchGroup = (typeof searchGroups)[number];

/** The pages and actions that a user may see, those of the application first. */
export function staticEntries(account: Pick<Account, 'isOperator' | 'mayCreateApps'>, app?: App): SearchEntry[] {
  const entries: SearchEntry[] = [];
  const add = (group: SearchGroup, label: string, to: string, hint?: string): void => {
    entries.push({ key: `${group} ${to}`, group, label, hint, act: { to } });
  };
  if (app !== undefined) {
    const base = `/apps/${app.id}`;
    const isMember = app.role !== 'guest';
    if (mayManage(app.role)) {
      add('Actions', 'Invite a guest', `${base}/guests?invite=guest`, app.name);
      add('Actions', 'New extension point', `${base}/extension-points/new`, app.name);
    }
    if (isMember) {
      add('Pages', 'Overview', base, app.name);
      add('Pages', 'Plugins', `${base}/plugins`, app.name);
      add('Pages', 'Extension points', `${base}/extension-points`, app.name);
      add('Pages', 'Guests', `${base}/guests`, app.name);
      add('Pages', 'Approvals', `${base}/approvals`, app.name);
      add('Pages', 'Roll-outs', `${base}/roll-outs`, app.name);
      add('Pages', 'Team', `${base}/members`, app.name);
      if (mayOwn(app.role)) add('Pages', 'Audit trail', `${base}/audit`, app.name);
      add('Pages', 'Settings', `${base}/settings`, app.name);
    }
    if (app.guests.length > 0) add('Pages', 'My plugins', `${base}/my-plugins`, app.name);
  }
  add('Actions', 'Trace a module', tracePath);
  if (account.mayCreateApps) add('Actions', 'New application', '/?new=application');
  add('Actions', 'New access token', '/account/tokens');
  add('Pages', 'Applications', '/');
  add('Pages', 'Account', '/account');
  add('Pages', 'Sessions, tokens and API keys', '/account/tokens');
  add('Pages', 'Your activity', '/account/activity');
  entries.push({
    key: 'docs',
    group: 'Pages',
    label: 'Documentation',
    hint: 'Docs, new tab',
    act: { newTab: '/docs' },
  });
  if (account.isOperator) {
    add('Pages', 'Users', '/users', 'Operators');
    add('Pages', 'Quotas', '/quotas', 'Operators');
    add('Pages', 'Status', '/status', 'Operators');
  }
  for (const theme of ['light', 'dark', 'system'] as const) {
    entries.push({ key: `theme ${theme}`, group: 'Actions', label: `Theme: ${theme}`, act: { theme } });
  }
  return entries;
}

/** Whether each word of a query begins a word of the entry. */
export function matches({ label, hint = '' }: Pick<SearchEntry, 'label' | 'hint'>, query: string): boolean {
  const words = ` ${label} ${hint}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(` ${word}`));
}

/** Sorts entries by group. */
export function grouped(entries: readonly SearchEntry[]): readonly (readonly [SearchGroup, readonly SearchEntry[]])[] {
  const byGroup = Map.groupBy(entries, ({ group }) => group);
  return searchGroups.flatMap((group) => {
    const found = byGroup.get(group);
    return found === undefined ? [] : [[group, found] as const];
  });
}
