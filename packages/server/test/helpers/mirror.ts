import { purgeChanges } from '../../src/changes/purge-changes.ts';
import { isRefusedByMirror } from '../../src/mirror/mirror-routes.ts';
import { allRoutes } from '../../src/routes.ts';
import type { TestService } from './service.ts';

/** The routes that a mirror refuses, and the others that are no reads. */
export const mirrorRefusals = {
  refused: allRoutes.filter(isRefusedByMirror),
  kept: allRoutes.filter((route) => route.method !== 'GET' && !isRefusedByMirror(route)),
};

/** Deletes all change events, as the retention does. */
export async function deleteChanges({ services }: TestService): Promise<void> {
  await purgeChanges(services.deps, -1000);
}
