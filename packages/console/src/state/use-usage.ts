import type { UsageSeries, UsageSeriesList } from '@tenon/protocol';
import { useApi } from './services.ts';
import { useCachedData } from './use-cached.ts';
import type { Data } from './use-data.ts';

/** How hosts used subjects of an application on each of the last 30 days, by id. It has no ids that were never used. */
export function useUsage(appId: string, ids: readonly string[]): Data<ReadonlyMap<string, UsageSeries>> {
  const api = useApi();
  const path = `/api/v1/apps/${encodeURIComponent(appId)}/usage/series`;
  return useCachedData(`${path} ${ids.join()}`, async (signal) => {
    if (ids.length === 0) return new Map();
    const { objects } = await api.get<UsageSeriesList>(path, { query: { ids: ids.join() }, signal });
    return new Map(objects.map((series) => [series.id, series]));
  });
}
