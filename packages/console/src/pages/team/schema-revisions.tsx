import type { SchemaRevision, SchemaRevisions } from '@tenon/protocol';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { LineDiff } from '../../components/line-diff-view.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { schemaText } from '../../components/schema-editor/check-schema.ts';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';

interface RevisionsProps {
  /** The extension point's path in the API. */
  readonly apiPath: string;
  /** Puts a text into the editor. */
  readonly onUse: (text: string) => void;
}

/** The last changes of a schema. Fetched when they are opened. */
export function SchemaRevisionList(props: RevisionsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="schema-revisions" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Earlier changes</summary>
      {isOpen ? <Revisions {...props} /> : null}
    </details>
  );
}

function Revisions({ apiPath, onUse }: RevisionsProps) {
  const api = useApi();
  const revisions = useData((signal) => api.get<SchemaRevisions>(`${apiPath}/schema/revisions`, { signal }), [apiPath]);
  return (
    <div aria-live="polite">
      <Loaded of={revisions}>
        {({ objects }) =>
          objects.length === 0 ? (
            <p class="soft">The audit trail has no change of the schema or the simulations.</p>
          ) : (
            <ol class="stack">
              {objects.map((revision) => (
                <Revision key={revision.id} revision={revision} onUse={onUse} />
              ))}
            </ol>
          )
        }
      </Loaded>
    </div>
  );
}

function Revision({ revision, onUse }: Pick<RevisionsProps, 'onUse'> & { readonly revision: SchemaRevision }) {
  const { at, user, before, after, simulation } = revision;
  return (
    <li class="stack">
      <p>
        <Time at={at} /> <span class="soft">by {user === null ? 'the operator' : user.name || user.id}</span>
      </p>
      {simulation !== null ? (
        <p class="small">
          Simulation <b>{simulation.name}</b> {simulation.change === 'put' ? 'changed' : 'deleted'}.
        </p>
      ) : before === null || after === null ? (
        <p class="soft small">The schema was too large for the audit trail.</p>
      ) : (
        <>
          <LineDiff title="Changes" from={schemaText(before)} to={schemaText(after)} />
          <Button kind="quiet" isSmall onClick={() => onUse(schemaText(before))}>
            Edit the schema before this change
          </Button>
        </>
      )}
    </li>
  );
}
