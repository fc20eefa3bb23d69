import type { ExtensionPoint } from '@tenon/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button, LinkButton } from '../../components/button.tsx';
import { ConflictDialog } from '../../components/conflict-dialog.tsx';
import { ErrorView } from '../../components/error-view.tsx';
import { TextField } from '../../components/field.tsx';
import { LeaveDialog } from '../../components/leave-dialog.tsx';
import { checkSchema, schemaText } from '../../components/schema-editor/check-schema.ts';
import { SchemaEditor } from '../../components/schema-editor/schema-editor.tsx';
import { TemplateField } from '../../components/schema-editor/template-field.tsx';
import type { SchemaTemplate } from '../../components/schema-editor/templates.ts';
import { SchemaView } from '../../components/schema-view.tsx';
import { useDraft } from '../../state/use-draft.ts';
import type { Edit, EditedField } from '../../state/use-edit.ts';
import { useNavigationGuard } from '../../state/use-navigation-guard.ts';
import { useSubmit } from '../../state/use-submit.ts';
import { ModuleTrial } from './module-trial.tsx';
import { SchemaRevisionList } from './schema-revisions.tsx';

/** The limits of a new extension point. */
const noLimits: ExtensionPoint['limits'] = {
  maxModuleBytes: null,
  maxInitialMemoryPages: null,
  proposals: null,
  allowWasi: true,
};

/** The preview updates after a pause of this length in typing. */
const previewDelayMs = 200;

/** The fields of an extension point that the form edits. */
export function schemaFields({ name, schema }: Pick<ExtensionPoint, 'name' | 'schema'>): readonly EditedField[] {
  return fieldsOf(name, schemaText(schema));
}

function fieldsOf(name: string, text: string): readonly EditedField[] {
  return [
    { label: 'Name', text: name },
    { label: 'Schema', text },
  ];
}

/** Edits an extension point's name and schema, with a preview of what guests see. */
export function SchemaForm(props: {
  readonly initialName: string;
  readonly initialText: string;
  /** Schemas to begin with, offered until the text is edited. */
  readonly templates?: readonly SchemaTemplate[];
  /** The text of the button. */
  readonly action: string;
  readonly cancelTo: string;
  readonly onSave: (name: string, schemaText: string) => Promise<void>;
  /** Checks the schema against published plugins, and renders the result. For an extension point that exists. */
  readonly onTry?: (schemaText: string) => Promise<ComponentChildren>;
  /** The path in the API of an extension point that exists. */
  readonly apiPath?: string;
  /** The limits of an extension point that exists. */
  readonly limits?: ExtensionPoint['limits'];
  /** For an extension point that exists, which other users may change too. */
  readonly edit?: Edit<ExtensionPoint>;
}) {
  const [name, setName] = useDraft(`name ${props.cancelTo}`, props.initialName);
  const [text, setText] = useDraft(`schema ${props.cancelTo}`, props.initialText);
  const [editor, setEditor] = useState({ firstText: text, round: 0 });
  const [checked, setChecked] = useState(() => checkSchema(text));
  const [schema, setSchema] = useState<unknown>(() => (checked.isSound ? checked.schema : {}));
  const [isSaved, setSaved] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setChecked(checkSchema(text)), previewDelayMs);
    return () => clearTimeout(timer);
  }, [text]);
  // While the text has errors, the last valid schema stays.
  useEffect(() => {
    if (checked.isSound) setSchema(checked.schema);
  }, [checked]);

  const isEdited = text !== props.initialText && !props.templates?.some((template) => template.text === text);
  const leaving = useNavigationGuard(!isSaved && (name !== props.initialName || isEdited));
  const { submit, isBusy, error, fieldError } = useSubmit(async () => {
    await props.onSave(name, text);
    setSaved(true);
  }, ['name', 'schema']);
  const [tried, setTried] = useState<{ readonly text: string; readonly outcome: ComponentChildren }>();
  const trying = useSubmit(async () => {
    setTried({ text, outcome: await props.onTry?.(text) });
  });

  const replaceText = (firstText: string): void => {
    setText(firstText);
    setEditor(({ round }) => ({ firstText, round: round + 1 }));
  };
  const settle = (isKept: boolean): void => {
    const now = props.edit?.conflict?.now;
    if (now === undefined) return;
    if (!isKept || name === props.initialName) setName(now.name);
    if (!isKept || text === props.initialText) replaceText(schemaText(now.schema));
    props.edit?.rebase();
  };

  return (
    <div class="schema-form">
      <form onSubmit={submit} class="stack">
        <TemplateField templates={props.templates} text={text} onText={replaceText} />
        <TextField
          label="Name"
          name="name"
          value={name}
          onInput={setName}
          maxLength={200}
          hasFocus={props.initialName === ''}
          error={fieldError('name')}
          hint="Visible to your team and your guests."
        />
        <SchemaEditor
          key={editor.round}
          initialText={editor.firstText}
          onChange={setText}
          checked={checked}
          error={checked.isSound ? fieldError('schema') : undefined}
        />
        <ErrorView error={error} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!checked.isSound}>
            {props.action}
          </Button>
          {props.onTry === undefined ? null : (
            <Button kind="quiet" isBusy={trying.isBusy} isDisabled={!checked.isSound} onClick={trying.submit}>
              Check against published plugins
            </Button>
          )}
          <LinkButton kind="quiet" to={props.cancelTo}>
            Cancel
          </LinkButton>
        </div>
        <ErrorView error={trying.error} />
        <div role="status">{tried?.text === text ? tried.outcome : null}</div>
        {props.apiPath === undefined ? null : <SchemaRevisionList apiPath={props.apiPath} onUse={replaceText} />}
      </form>
      <section class="schema-preview" aria-labelledby="schema-preview">
        <h2 id="schema-preview">Preview for guests</h2>
        {checked.isSound ? null : <p class="soft small">Preview of the last valid schema.</p>}
        <SchemaView schema={schema} />
        <ModuleTrial requirements={{ schema: schema as ExtensionPoint['schema'], limits: props.limits ?? noLimits }} />
      </section>
      <LeaveDialog question={leaving} />
      <ConflictDialog
        conflict={props.edit?.conflict}
        fieldsOf={schemaFields}
        mine={fieldsOf(name, text)}
        onKeep={() => settle(true)}
        onDiscard={() => settle(false)}
      />
    </div>
  );
}
