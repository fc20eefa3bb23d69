import type { ExtensionPoint } from '@tenon/protocol';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Notice } from '../../components/notice.tsx';
import { useServices } from '../../state/services.ts';
import { AppPageFrame } from './app-frame.tsx';
import { SchemaForm } from './schema-form.tsx';
import { mayManage, useApp } from './use-app.ts';

/** What stands in the editor first: the words that people need, to be changed rather than looked up. */
const exampleText = `version: v1-draft
description: What a plugin is for, and when it is called.
exports:
  evaluate:
    description: Computes a cell's value from its arguments.
    input:
      type: object
      contentType: application/json
      properties:
        arguments:
          type: array
          items:
            type: number
      required: [arguments]
    output:
      type: number
      contentType: application/json
`;

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
            initialText={exampleText}
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
