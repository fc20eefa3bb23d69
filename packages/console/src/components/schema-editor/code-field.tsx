import type { Extension } from '@codemirror/state';
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { TextFault } from './check-schema.ts';
import { type CodeEditor, createCodeEditor } from './code-editor.ts';
import './schema-editor.css';

export const howToLeave =
  'Control+Space suggests. Tab indents. To leave the editor by keyboard, press Escape, then Tab.';

/** A document to write, checked while one types. */
export function CodeField(props: {
  readonly label: string;
  readonly initialText: string;
  readonly onChange: (text: string) => void;
  /** Called when the cursor has moved, also by typing. */
  readonly onCursor?: (text: string, offset: number) => void;
  /** Completion and descriptions. */
  readonly help: Extension;
  readonly check: (text: string) => readonly TextFault[];
  /** The faults and warnings of the present text, or of one a moment ago. */
  readonly faults: readonly TextFault[];
  /** What the text is without faults: "Valid schema." */
  readonly sound: string;
  /** What the server found wrong with it. */
  readonly error?: string | undefined;
  /** Hints below. */
  readonly children: ComponentChildren;
}) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor | undefined>(undefined);
  const [onChange, onCursor, check] = [useLast(props.onChange), useLast(props.onCursor), useLast(props.check)];
  const labelId = useId();
  useEffect(() => {
    if (host.current === null) return;
    const made = createCodeEditor({
      host: host.current,
      text: props.initialText,
      label: props.label,
      description: howToLeave,
      help: props.help,
      onChange: (text) => onChange.current(text),
      onCursor: (text, offset) => onCursor.current?.(text, offset),
      check: (text) =>
        check.current(text).map(({ from, to, severity, detail }) => ({
          from,
          to,
          severity: severity ?? 'error',
          message: detail,
        })),
    });
    editor.current = made;
    return () => made.destroy();
  }, []);
  const isInvalid = props.faults.some(({ severity }) => severity !== 'warning') || props.error !== undefined;
  return (
    <div class="field">
      <div class="field-legend" id={labelId}>
        {props.label}
      </div>
      <div ref={host} class={isInvalid ? 'schema-editor schema-editor-invalid' : 'schema-editor'} />
      {props.error === undefined ? null : (
        <p class="field-error" role="alert">
          {props.error}
        </p>
      )}
      <Verdict faults={props.faults} sound={props.sound} onGoThere={(offset) => editor.current?.goTo(offset)} />
      {props.children}
    </div>
  );
}

function useLast<T>(value: T): RefObject<T> & { readonly current: T } {
  const last = useRef(value);
  last.current = value;
  return last;
}

/** The maximum number of listed faults. The others are only marked in the text. */
const shownFaults = 5;

function Verdict(props: {
  readonly faults: readonly TextFault[];
  readonly sound: string;
  readonly onGoThere: (offset: number) => void;
}) {
  const { faults, sound, onGoThere } = props;
  const isSound = faults.every(({ severity }) => severity === 'warning');
  return (
    <div class="schema-verdict" role="status">
      {isSound ? <p class="schema-fine">{sound}</p> : null}
      {faults.length === 0 ? null : (
        <ul class="schema-faults">
          {faults.slice(0, shownFaults).map(({ line, column, severity, detail, from }) => (
            <li key={`${from} ${detail}`}>
              <button type="button" class="link-button" onClick={() => onGoThere(from)}>
                Line {line}, column {column}
              </button>
              : {severity === 'warning' ? 'Warning: ' : ''}
              {detail}
            </li>
          ))}
          {faults.length > shownFaults ? <li>and {faults.length - shownFaults} more</li> : null}
        </ul>
      )}
    </div>
  );
}
