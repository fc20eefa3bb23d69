import { useEffect, useRef } from 'preact/hooks';
import type { CheckedSchema, SchemaFault } from './check-schema.ts';
import { checkSchema } from './check-schema.ts';
import { type CodeEditor, createCodeEditor } from './code-editor.ts';
import './schema-editor.css';

const howToLeave = 'Tab indents. To leave the editor by keyboard, press Escape, then Tab.';

/** A schema to write, as YAML or JSON, checked as one types. */
export function SchemaEditor(props: {
  readonly initialText: string;
  readonly onChange: (text: string) => void;
  /** Of the present text, or of one a moment ago. */
  readonly checked: CheckedSchema;
  /** What the server found wrong with it. */
  readonly error?: string | undefined;
}) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const onChange = useRef(props.onChange);
  onChange.current = props.onChange;
  useEffect(() => {
    if (host.current === null) return;
    const made = createCodeEditor({
      host: host.current,
      text: props.initialText,
      label: 'Schema',
      description: howToLeave,
      onChange: (text) => onChange.current(text),
      check(text) {
        const { fault } = checkSchema(text);
        return fault === undefined
          ? []
          : [{ from: fault.from, to: fault.to, severity: 'error', message: fault.detail }];
      },
    });
    editor.current = made;
    return () => made.destroy();
  }, []);
  const { fault } = props.checked;
  return (
    <div class="field">
      <div class="field-legend" id="schema-label">
        Schema
      </div>
      <div
        ref={host}
        class={
          fault === undefined && props.error === undefined ? 'schema-editor' : 'schema-editor schema-editor-invalid'
        }
      />
      {props.error === undefined ? null : (
        <p class="field-error" role="alert">
          {props.error}
        </p>
      )}
      <Verdict fault={fault} onGoThere={(offset) => editor.current?.goTo(offset)} />
      <p class="field-hint">YAML or JSON. {howToLeave}</p>
    </div>
  );
}

function Verdict({
  fault,
  onGoThere,
}: {
  readonly fault: SchemaFault | undefined;
  readonly onGoThere: (offset: number) => void;
}) {
  return (
    <div class="schema-verdict" role="status">
      {fault === undefined ? (
        <p class="schema-fine">The schema is well-formed.</p>
      ) : (
        <p class="field-error">
          Line {fault.line}, column {fault.column}: {fault.detail}{' '}
          <button type="button" class="link-button" onClick={() => onGoThere(fault.from)}>
            Go there
          </button>
        </p>
      )}
    </div>
  );
}
