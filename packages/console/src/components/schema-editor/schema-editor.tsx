import { useEffect, useRef, useState } from 'preact/hooks';
import { DocsLink } from '../docs-link.tsx';
import { type CheckedSchema, checkSchema } from './check-schema.ts';
import { type CodeEditor, createCodeEditor } from './code-editor.ts';
import { helpAt, type KeyHelp } from './schema-help.ts';
import './schema-editor.css';

const howToLeave = 'Control+Space suggests. Tab indents. To leave the editor by keyboard, press Escape, then Tab.';

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
      onCursor: (text, offset) => setHelp(helpAt(text, offset)),
      check(text) {
        const checked = checkSchema(text);
        if (checked.isSound) return [];
        return checked.faults.map(({ from, to, detail }) => ({ from, to, severity: 'error', message: detail }));
      },
    });
    editor.current = made;
    return () => made.destroy();
  }, []);
  const [help, setHelp] = useState<KeyHelp>();
  const isInvalid = !props.checked.isSound || props.error !== undefined;
  return (
    <div class="field">
      <div class="field-legend" id="schema-label">
        Schema
      </div>
      <div ref={host} class={isInvalid ? 'schema-editor schema-editor-invalid' : 'schema-editor'} />
      {props.error === undefined ? null : (
        <p class="field-error" role="alert">
          {props.error}
        </p>
      )}
      <Verdict checked={props.checked} onGoThere={(offset) => editor.current?.goTo(offset)} />
      <p class="field-hint schema-key-help">
        {help === undefined ? null : (
          <>
            <code>{help.key}</code>: {help.description}
          </>
        )}
      </p>
      <p class="field-hint">
        YAML or JSON (<DocsLink page="reference/extension-point-schema">reference</DocsLink>). {howToLeave}
      </p>
    </div>
  );
}

/** So many faults are listed; the others are marked in the text. */
const shownFaults = 5;

function Verdict(props: { readonly checked: CheckedSchema; readonly onGoThere: (offset: number) => void }) {
  const { checked, onGoThere } = props;
  return (
    <div class="schema-verdict" role="status">
      {checked.isSound ? (
        <p class="schema-fine">Valid schema.</p>
      ) : (
        <ul class="schema-faults">
          {checked.faults.slice(0, shownFaults).map(({ line, column, detail, from }) => (
            <li key={`${from} ${detail}`}>
              <button type="button" class="link-button" onClick={() => onGoThere(from)}>
                Line {line}, column {column}
              </button>
              : {detail}
            </li>
          ))}
          {checked.faults.length > shownFaults ? <li>and {checked.faults.length - shownFaults} more</li> : null}
        </ul>
      )}
    </div>
  );
}
