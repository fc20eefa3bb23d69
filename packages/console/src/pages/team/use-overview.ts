import type { AppOverview } from '@tenon/protocol';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import type { Data } from '../../state/use-data.ts';
import { overviewPath } from './overview-path.ts';

/** The numbers of an application. */
export function useOverview(appId: string): Data<AppOverview> {
  const api = useApi();
  const path = overviewPath(appId);
  return useCachedData(path, (signal) => api.get<AppOverview>(path, { signal }));
}
