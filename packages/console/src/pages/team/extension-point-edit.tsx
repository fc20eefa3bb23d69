import type { ExtensionPoint, SchemaTrial } from '@tenon/protocol';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Notice } from '../../components/notice.tsx';
import { schemaText } from '../../components/schema-editor/check-schema.ts';
import { useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { AppPartFrame } from './app-frame.tsx';
import { SchemaForm } from './schema-form.tsx';
import { TrialView, trialWords } from './trial-view.tsx';
import { mayManage, useApp } from './use-app.ts';
import { useExtensionPointPath } from './use-extension-point.ts';
import { useTrial } from './use-trial.tsx';

/** Changes an extension point's name and schema. */
export function EditExtensionPointPage() {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { appId, app } = useApp();
  const { apiPath, pagePath, listPath } = useExtensionPointPath();
  const trial = useTrial(appId, apiPath);
  // Not what was kept: what is edited is what is there now.
  const point = useData((signal) => session.api.get<ExtensionPoint>(apiPath, { signal }), [apiPath]);
  return (
    <AppPartFrame
      app={app}
      thing={point}
      part={{ label: 'Extension points', to: listPath }}
      kind="Extension point"
      titleOf={({ name }) => `Edit ${name}`}
    >
      {({ id, name, schema }, { role }) =>
        mayManage(role) ? (
          <>
            <SchemaForm
              key={id}
              initialName={name}
              initialText={schemaText(schema)}
              action="Save"
              cancelTo={pagePath}
              onTry={async (newSchema) => <Tried appId={appId} trial={await trial.attempt({ schema: newSchema })} />}
              onSave={async (newName, newSchema) => {
                await trial.confirm({ schema: newSchema });
                await session.api.put<ExtensionPoint>(apiPath, { name: newName, schema: newSchema });
                toasts.show('Saved. Guests see it now.');
                route(href(pagePath), true);
              }}
            />
            {trial.dialog}
          </>
        ) : (
          <Notice kind="warning" title="Owners and admins change extension points" />
        )
      }
    </AppPartFrame>
  );
}

function Tried({ appId, trial }: { readonly appId: string; readonly trial: SchemaTrial }) {
  return (
    <Notice kind={trial.breaking === 0 ? 'done' : 'warning'} title={trialWords(trial)}>
      {trial.objects.length + trial.unreadable.length === 0 ? null : <TrialView appId={appId} trial={trial} />}
    </Notice>
  );
}
