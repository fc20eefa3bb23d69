import { useState } from 'preact/hooks';
import { DocsLink } from '../docs-link.tsx';
import { type CheckedSchema, checkSchema } from './check-schema.ts';
import { CodeField, howToLeave } from './code-field.tsx';
import { editorHelp } from './editor-help.ts';
import { helpAt, type KeyHelp, suggest } from './schema-help.ts';

const help = editorHelp({ suggest, helpAt });

/** A schema to write, as YAML or JSON, checked as one types. */
export function SchemaEditor(props: {
  readonly initialText: string;
  readonly onChange: (text: string) => void;
  /** Of the present text, or of one a moment ago. */
  readonly checked: CheckedSchema;
  /** What the server found wrong with it. */
  readonly error?: string | undefined;
}) {
  const [key, setKey] = useState<KeyHelp>();
  return (
    <CodeField
      label="Schema"
      initialText={props.initialText}
      onChange={props.onChange}
      onCursor={(text, offset) => setKey(helpAt(text, offset))}
      help={help}
      check={(text) => faultsOf(checkSchema(text))}
      faults={faultsOf(props.checked)}
      sound="Valid schema."
      error={props.error}
    >
      <p class="field-hint schema-key-help">
        {key === undefined ? null : (
          <>
            <code>{key.key}</code>: {key.description}
          </>
        )}
      </p>
      <p class="field-hint">
        YAML or JSON (<DocsLink page="reference/extension-point-schema">reference</DocsLink>). {howToLeave}
      </p>
    </CodeField>
  );
}

function faultsOf(checked: CheckedSchema) {
  return checked.isSound ? checked.warnings : checked.faults;
}
