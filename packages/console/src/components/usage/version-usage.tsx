import type { VersionUsage } from '@tenon/protocol';
import { teamPluginPath } from '../../pages/plugin/plugin-path.ts';
import { count } from '../count.ts';
import { Link } from '../link.tsx';
import { Table } from '../table.tsx';
import { Time } from '../time.tsx';

const caption = 'Versions that hosts run';
const numberOf = ({ number, semver }: VersionUsage): string => `${number}${semver === null ? '' : ` · ${semver}`}`;
const rowKey = ({ versionId }: VersionUsage): string => versionId;

const reported = [
  { header: 'Reported as loaded', cell: ({ loadReports }: VersionUsage) => count(loadReports) },
  { header: 'Last reported', cell: ({ lastReportedAt }: VersionUsage) => <Time at={lastReportedAt} /> },
];

/** The versions of a plugin that hosts requested or reported as loaded. */
export function PluginVersions({ versions }: { readonly versions: readonly VersionUsage[] }) {
  return (
    <Table
      caption={caption}
      columns={[
        { header: 'Version', cell: numberOf },
        { header: 'List requests', cell: ({ listRequests }) => count(listRequests) },
        { header: 'Content fetches', cell: ({ contentFetches }) => count(contentFetches) },
        ...reported,
      ]}
      rows={versions}
      rowKey={rowKey}
    />
  );
}

/** The versions, of any plugin, that a guest's hosts reported as loaded. */
export function LoadedVersions(props: { readonly versions: readonly VersionUsage[]; readonly appId: string }) {
  const { versions, appId } = props;
  return (
    <Table
      caption={caption}
      columns={[
        {
          header: 'Plugin',
          cell: ({ pluginId }) => (
            <Link to={teamPluginPath(appId, pluginId)}>
              <code>{pluginId.split('/').at(-1)}</code>
            </Link>
          ),
        },
        { header: 'Version', cell: numberOf },
        ...reported,
      ]}
      rows={versions}
      rowKey={rowKey}
    />
  );
}
