import { type App, pluginId, type TrustRule } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { useList } from '../../state/use-list.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { NewRuleDialog } from '../tokens/new-rule-dialog.tsx';
import { TrustRuleTable } from '../tokens/trust-rule-table.tsx';
import { AppFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';

/** The rules by which CI jobs publish an application's plugins, of all publishers. */
export function TrustedPublishingPage() {
  const { app } = useApp();
  return (
    <AppFrame app={app} part="Trusted publishing">
      {(data) => <Rules app={data} />}
    </AppFrame>
  );
}

function Rules({ app }: { readonly app: App }) {
  const path = `/api/v1/apps/${app.id}/trust-rules`;
  const rules = useList<TrustRule>(path);
  const [isAdding, setAdding] = useState(false);
  // A rule publishes in the name of the user who makes it, as a guest.
  const addButton =
    app.guests.length === 0 ? undefined : <Button onClick={() => setAdding(true)}>New rule of yours</Button>;
  return (
    <Section
      title="Trusted publishing"
      intro="CI jobs that these rules allow publish plugins in the publisher’s name. Delete a rule if its repository was taken over."
      actions={rules.isEmpty ? undefined : addButton}
    >
      <TrustRuleTable
        rules={rules}
        empty={
          <EmptyState title="No rules" action={addButton}>
            <p>Publishers make rules for their plugins on the page of their tokens. All rules appear here.</p>
          </EmptyState>
        }
        showsUser
        target={({ plugin, guestId, user }) => {
          if (plugin === null) {
            return (
              <>
                all plugins under <Link to={`/apps/${app.id}/guests/${guestId}`}>a guest</Link>
              </>
            );
          }
          return (
            <Link to={teamPluginPath(app.id, pluginId(plugin.extensionPointId, user.id, plugin.name))}>
              {plugin.name}
            </Link>
          );
        }}
        deletePath={mayManage(app.role) ? ({ id }) => `${path}/${id}` : undefined}
      />
      {isAdding ? (
        <NewRuleDialog
          onMade={() => {
            rules.page.reload();
            setAdding(false);
          }}
          onClose={() => setAdding(false)}
        />
      ) : null}
    </Section>
  );
}
