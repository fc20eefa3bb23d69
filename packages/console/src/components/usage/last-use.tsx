import type { UsageReport } from '@tenon/protocol';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { Time } from '../time.tsx';

/**
 * When a host last requested a resource, before an action that affects hosts.
 *
 * @param apiPath the path in the API of a plugin, guest, extension point, or application
 */
export function LastUse({ apiPath }: { readonly apiPath: string }) {
  const api = useApi();
  const path = `${apiPath}/usage`;
  const report = useCachedData(`${path} last`, (signal) => api.get<UsageReport>(path, { query: { days: 1 }, signal }));
  if (report.status !== 'ready') return null;
  const { lastUsedAt } = report.data;
  return (
    <p>
      {lastUsedAt === null ? (
        'Hosts have not requested it yet.'
      ) : (
        <>
          A host last requested it <Time at={lastUsedAt} />.
        </>
      )}
    </p>
  );
}
