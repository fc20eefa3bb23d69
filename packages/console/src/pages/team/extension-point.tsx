import type { ExtensionPoint } from '@tenon/protocol';
import { LinkButton } from '../../components/button.tsx';
import { CopyText } from '../../components/copy-button.tsx';
import { DeleteSection } from '../../components/delete-section.tsx';
import { Link } from '../../components/link.tsx';
import { Section } from '../../components/page.tsx';
import { SchemaView } from '../../components/schema-view.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { SimulationsSection } from '../simulations/simulations-section.tsx';
import { AppPageFrame } from './app-frame.tsx';
import { PluginTable } from './plugin-table.tsx';
import { rulesInWords } from './rules.ts';
import { mayManage, useApp } from './use-app.ts';
import { useExtensionPointPath } from './use-extension-point.ts';

/** An extension point: its schema as guests read it, and the plugins that are published against it. */
export function ExtensionPointPage() {
  const { session } = useServices();
  const { app } = useApp();
  const { apiPath, pagePath, listPath } = useExtensionPointPath();
  const point = useCachedData(apiPath, (signal) => session.api.get<ExtensionPoint>(apiPath, { signal }));
  return (
    <AppPageFrame
      app={app}
      thing={point}
      part={{ label: 'Extension points', to: listPath }}
      kind="Extension point"
      titleOf={({ name }) => name}
      actions={(_, { role }) =>
        mayManage(role) ? (
          <LinkButton kind="quiet" to={`${pagePath}/edit`}>
            Edit
          </LinkButton>
        ) : undefined
      }
    >
      {(data, { role }) => (
        <>
          <dl class="facts">
            <div>
              <dt>Extension point id</dt>
              <dd>
                <CopyText text={data.id} what="the extension point id" />
              </dd>
            </div>
            <div>
              <dt>Changed</dt>
              <dd>
                <Time at={data.updatedAt} />
              </dd>
            </div>
          </dl>
          <Section title="Schema">
            <SchemaView schema={data.schema} />
          </Section>
          <Section
            title="Rules"
            intro="What applies to each publish, in addition to the schema."
            actions={
              mayManage(role) ? (
                <LinkButton kind="quiet" isSmall to={`${pagePath}/rules`}>
                  Edit rules
                </LinkButton>
              ) : undefined
            }
          >
            <ul class="rules">
              {rulesInWords(data).map((rule) => (
                <li key={rule}>{rule}</li>
              ))}
            </ul>
          </Section>
          <SimulationsSection apiPath={apiPath} pagePath={pagePath} mayChange={mayManage(role)} />
          <Section title="Plugins">
            <PluginTable
              appId={data.appId}
              extensionPointId={data.id}
              empty={
                <p class="soft">
                  No plugins yet. <Link to={`/apps/${data.appId}/guests`}>Invite a guest</Link> to publish one.
                </p>
              }
            />
          </Section>
          {mayManage(role) ? (
            <DeleteSection
              title="Delete extension point"
              intro="Permanently deletes the extension point with all its plugins."
              apiPath={apiPath}
              isUsedByHosts
              typed={data.name.trim()}
              next={listPath}
              done="Extension point deleted."
            >
              <p>Permanently deletes all plugins that guests have published here. Hosts stop receiving them.</p>
            </DeleteSection>
          ) : null}
        </>
      )}
    </AppPageFrame>
  );
}
