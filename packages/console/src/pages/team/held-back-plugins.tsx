import type { ListPage, PluginSummary } from '@tenon/protocol';
import { counted } from '../../components/count.ts';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { useApi } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';

/** Links to the plugins whose newest version is held back by simulations. Without such plugins, it shows nothing. */
export function HeldBackPlugins({ appId }: { readonly appId: string }) {
  const api = useApi();
  const path = `/api/v1/apps/${encodeURIComponent(appId)}/plugins`;
  const count = (state: string) =>
    useCachedData(`${path} ${state}`, async (signal) => {
      const page = await api.get<ListPage<PluginSummary>>(path, { query: { state, limit: 1 }, signal });
      return page.total ?? page.objects.length;
    });
  const [failed, testing] = [count('failed'), count('testing')].map((data) =>
    data.status === 'ready' ? data.data : 0,
  );
  if (failed === 0 && testing === 0) return null;
  const link = (state: string, plugins = 0, words: string) =>
    plugins === 0 ? null : (
      <li>
        <Link to={`/apps/${appId}/plugins?state=${state}`}>
          {counted(plugins, 'plugin')} {words}
        </Link>
      </li>
    );
  return (
    <Notice title="Held back by simulations">
      <ul>
        {link('failed', failed, failed === 1 ? 'whose newest version failed' : 'whose newest versions failed')}
        {link(
          'testing',
          testing,
          testing === 1 ? 'whose newest version is being tested' : 'whose newest versions are being tested',
        )}
      </ul>
    </Notice>
  );
}
