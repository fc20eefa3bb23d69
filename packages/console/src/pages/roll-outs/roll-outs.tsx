import type { App, RollOut } from '@tenon/protocol';
import { Badge } from '../../components/badge.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { useList } from '../../state/use-list.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { AppFrame } from '../team/app-frame.tsx';
import { useApp } from '../team/use-app.ts';
import { rollOutStates, shareInWords } from './roll-out-words.ts';

/** The staged roll-outs of an application, the newest first. */
export function RollOutsPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Roll-outs">
      {(data) => <RollOuts app={data} />}
    </AppFrame>
  );
}

function RollOuts({ app }: { readonly app: App }) {
  const list = useList<RollOut>(`/api/v1/apps/${app.id}/roll-outs`);
  return (
    <Section title="Roll-outs" intro="Versions that reach guests step by step, the newest first.">
      <DataTable
        list={list}
        caption="Roll-outs"
        noun="roll-out"
        empty={
          <EmptyState title="No roll-outs">
            <p>
              Plan one when you approve a version, or for all new versions in the rules of an{' '}
              <Link to={`/apps/${app.id}/extension-points`}>extension point</Link>.
            </p>
          </EmptyState>
        }
        rowKey={({ versionId }) => versionId}
        columns={[
          {
            header: 'Version',
            cell: ({ pluginId, version }) => (
              <Link to={teamPluginPath(app.id, pluginId)}>
                {pluginId.split('/').at(-1)} version {version}
              </Link>
            ),
          },
          {
            header: 'State',
            cell: ({ state }) => <Badge kind={rollOutStates[state].kind}>{rollOutStates[state].word}</Badge>,
          },
          {
            header: 'Step',
            cell: ({ step, steps }) => (steps === 0 ? '' : `${Math.min(step + 1, steps)} of ${steps}`),
          },
          { header: 'Guests', cell: shareInWords },
          {
            header: 'Next step',
            cell: ({ nextStepAt }) => (nextStepAt === null ? <span class="soft">none</span> : <Time at={nextStepAt} />),
          },
          { header: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
        ]}
      />
    </Section>
  );
}
