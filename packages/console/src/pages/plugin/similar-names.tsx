import type { SimilarPlugin } from '@tenon/protocol';
import { Link } from '../../components/link.tsx';
import { Notice } from '../../components/notice.tsx';
import { teamPluginPath } from './plugin-path.ts';

/** Warns the team of plugins of other publishers with similar names. */
export function SimilarNames(props: { readonly appId: string; readonly plugins: readonly SimilarPlugin[] }) {
  const { appId, plugins } = props;
  if (plugins.length === 0) return null;
  return (
    <div class="status-notices">
      <Notice kind="warning" title="The name is similar to that of another publisher’s plugin">
        <ul>
          {plugins.map(({ pluginId, name, user }) => (
            <li key={pluginId}>
              <Link to={teamPluginPath(appId, pluginId)}>
                <code>{name}</code>
              </Link>{' '}
              by {user.name}
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}
