import { type App, pluginId, type TrustRule } from '@tenon/protocol';
import { Link } from '../../components/link.tsx';
import { useList } from '../../state/use-list.ts';
import { teamPluginPath } from '../plugin/plugin-path.ts';
import { TrustRuleSection } from '../tokens/trust-rule-section.tsx';
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
  return (
    <TrustRuleSection
      rules={useList<TrustRule>(path)}
      intro="CI jobs that these rules allow publish plugins in the publisher’s name. Delete a rule if its repository was taken over."
      // A rule publishes in the name of the user who makes it, as a guest.
      addLabel={app.guests.length === 0 ? undefined : 'New rule of yours'}
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
    >
      Publishers make rules for their plugins on the page of their tokens. All rules appear here.
    </TrustRuleSection>
  );
}
