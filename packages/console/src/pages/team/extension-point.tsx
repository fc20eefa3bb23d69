import type { ExtensionPoint } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { CopyText } from '../../components/copy-button.tsx';
import { Section } from '../../components/page.tsx';
import { SchemaView } from '../../components/schema-view.tsx';
import { Time } from '../../components/time.tsx';
import { useServices } from '../../state/services.ts';
import { useCachedData } from '../../state/use-cached.ts';
import { AppPageFrame } from './app-frame.tsx';
import { PublishedPlugins } from './published-plugins.tsx';
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
            intro="What modules are held to when they are published, beside the schema."
            actions={
              mayManage(role) ? (
                <LinkButton kind="quiet" isSmall to={`${pagePath}/rules`}>
                  Change the rules
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
          <PublishedPlugins extensionPoint={data} />
          {mayManage(role) ? <Delete extensionPoint={data} apiPath={apiPath} listPath={listPath} /> : null}
        </>
      )}
    </AppPageFrame>
  );
}

function Delete(props: {
  readonly extensionPoint: ExtensionPoint;
  readonly apiPath: string;
  readonly listPath: string;
}) {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  return (
    <Section isBeside title="Delete the extension point" intro="Its plugins go with it, whoever published them.">
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete the extension point …
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title="Delete the extension point?"
          action="Delete the extension point"
          typed={props.extensionPoint.name.trim()}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await session.api.delete(props.apiPath);
            route(href(props.listPath), true);
            toasts.show('The extension point is deleted.');
          }}
        >
          <p>
            Every plugin that guests have published here goes with it, and programs that ask for one get nothing any
            more.
          </p>
        </ConfirmDialog>
      ) : null}
    </Section>
  );
}
