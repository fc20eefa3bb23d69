import type { App, MemberRole } from '@tenon/protocol';
import { useEffect } from 'preact/hooks';
import { useRoute } from 'preact-iso/router';
import { useApi, useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';
import { appApiPath } from './app-path.ts';

/** The application that the page's address names. While the page is open, its data follows the changes of others. */
export function useApp(): { readonly appId: string; readonly app: Data<App> } {
  const api = useApi();
  const { liveUpdates } = useServices();
  const { appId = '' } = useRoute().params;
  useEffect(() => liveUpdates.open(appId), [appId]);
  const path = appApiPath(appId);
  return { appId, app: useCachedData(path, (signal) => api.get<App>(path, { signal })) };
}

/** Whether a role may change extension points, guests and invitations, and rename the application. */
export function mayManage(role: App['role']): boolean {
  return role === 'owner' || role === 'admin';
}

/** Whether a role may change the team and delete the application. */
export function mayOwn(role: App['role']): boolean {
  return role === 'owner';
}

/** What each role may do. */
export const roleWords: Readonly<Record<MemberRole, string>> = {
  owner: 'full access, including managing the team and deleting the application',
  admin: 'manages extension points and guests; approves, rolls back, pins, and blocks plugins',
  viewer: 'read-only access; enough for a host that fetches plugins',
};

/** The roles to choose from. */
export const roleChoices = Object.entries(roleWords).map(([value, words]) => ({
  value: value as MemberRole,
  label: value,
  hint: words,
}));

/** A role with its article. */
export function asRole(role: string): string {
  return /^[aeiou]/.test(role) ? `an ${role}` : `a ${role}`;
}
