import type { ExtensionPoint } from '@tenon/protocol';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Notice } from '../../components/notice.tsx';
import { schemaTemplates } from '../../components/schema-editor/templates.ts';
import { useServices } from '../../state/services.ts';
import { AppPageFrame } from './app-frame.tsx';
import { SchemaForm } from './schema-form.tsx';
import { mayManage, useApp } from './use-app.ts';

/** Creates an extension point. */
export function NewExtensionPointPage() {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { appId, app } = useApp();
  const list = `/apps/${appId}/extension-points`;
  return (
    <AppPageFrame
      app={app}
      thing={app}
      part={{ label: 'Extension points', to: list }}
      kind="New extension point"
      titleOf={() => 'New extension point'}
    >
      {({ role }) =>
        mayManage(role) ? (
          <SchemaForm
            initialName=""
            initialText={schemaTemplates[0].text}
            templates={schemaTemplates}
            action="Create extension point"
            cancelTo={list}
            onSave={async (name, schema) => {
              const { id } = await session.api.post<ExtensionPoint>(`/api/v1/apps/${appId}/extension-points`, {
                name,
                schema,
              });
              toasts.show('Extension point created.');
              route(href(`${list}/${id}`), true);
            }}
          />
        ) : (
          <Notice kind="warning" title="Only owners and admins can create extension points" />
        )
      }
    </AppPageFrame>
  );
}
