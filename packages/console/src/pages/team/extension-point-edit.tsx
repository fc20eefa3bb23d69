import type { ExtensionPoint, SchemaTrial } from '@tenon/protocol';
import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { schemaText } from '../../components/schema-editor/check-schema.ts';
import { useServices } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { useEdit } from '../../state/use-edit.ts';
import { ExtensionPointEditFrame } from './extension-point-edit-frame.tsx';
import { SchemaForm, schemaFields } from './schema-form.tsx';
import { TrialView, trialWords } from './trial-view.tsx';
import { useExtensionPointPath } from './use-extension-point.ts';
import { useTrial } from './use-trial.tsx';

/** Changes an extension point's name and schema. */
export function EditExtensionPointPage() {
  return (
    <ExtensionPointEditFrame titleOf={({ name }) => `Edit ${name}`}>
      {(point) => <EditForm key={point.id} point={point} />}
    </ExtensionPointEditFrame>
  );
}

function EditForm({ point }: { readonly point: ExtensionPoint }) {
  const { session, toasts } = useServices();
  const { route } = useLocation();
  const { apiPath, pagePath } = useExtensionPointPath();
  const trial = useTrial(point.appId, apiPath);
  const edit = useEdit(point, () => session.api.get<ExtensionPoint>(apiPath), schemaFields);
  const { name, schema } = edit.base;
  const text = schemaText(schema);
  return (
    <>
      <SchemaForm
        initialName={name}
        initialText={text}
        apiPath={apiPath}
        limits={edit.base.limits}
        action="Save"
        cancelTo={pagePath}
        edit={edit}
        onTry={async (newText) => (
          <>
            <Tried appId={point.appId} trial={await trial.attempt({ schema: newText })} />
            <LazyTrialPanel appId={point.appId} apiPath={apiPath} schema={newText} />
          </>
        )}
        onSave={async (newName, newText) => {
          const change = {
            ...(newName === name ? {} : { name: newName }),
            ...(newText === text ? {} : { schema: newText }),
          };
          if (newText !== text) await trial.confirm({ schema: newText });
          if (Object.keys(change).length > 0) {
            await edit.save((basedOn) => session.api.put<ExtensionPoint>(apiPath, change, { basedOn }));
            toasts.show('Saved.');
          }
          route(href(pagePath), true);
        }}
      />
      {trial.dialog}
    </>
  );
}

/** Runs the simulations with the schema that is being written. */
function LazyTrialPanel(props: { readonly appId: string; readonly apiPath: string; readonly schema: string }) {
  const { schema, ...where } = props;
  const code = useData(() => import('../simulations/trial-panel.tsx'), []);
  return (
    <Loaded of={code} lines={1}>
      {({ TrialPanel }) => (
        <TrialPanel
          {...where}
          action="Run the simulations with this schema"
          state={schema}
          changeOf={async () => ({ schema })}
        />
      )}
    </Loaded>
  );
}

function Tried({ appId, trial }: { readonly appId: string; readonly trial: SchemaTrial }) {
  return (
    <Notice kind={trial.breaking === 0 ? 'done' : 'warning'} title={trialWords(trial)}>
      {trial.objects.length + trial.unreadable.length === 0 ? null : <TrialView appId={appId} trial={trial} />}
    </Notice>
  );
}
