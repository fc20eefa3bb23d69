import type { ExtensionPoint } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { Notice } from '../../components/notice.tsx';
import { useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { AppPageFrame } from './app-frame.tsx';
import { mayManage, useApp } from './use-app.ts';
import { useExtensionPointPath } from './use-extension-point.ts';

/** The frame of a page that changes an extension point. */
export function ExtensionPointEditFrame(props: {
  readonly titleOf: (point: ExtensionPoint) => string;
  readonly children: (point: ExtensionPoint) => ComponentChildren;
}) {
  const { session } = useServices();
  const { app } = useApp();
  const { apiPath, listPath } = useExtensionPointPath();
  // Not cached: the user edits the current state.
  const point = useData((signal) => session.api.get<ExtensionPoint>(apiPath, { signal }), [apiPath]);
  return (
    <AppPageFrame
      app={app}
      thing={point}
      part={{ label: 'Extension points', to: listPath }}
      kind="Extension point"
      titleOf={props.titleOf}
    >
      {(data, { role }) =>
        mayManage(role) ? (
          props.children(data)
        ) : (
          <Notice kind="warning" title="Only owners and admins can change extension points" />
        )
      }
    </AppPageFrame>
  );
}
