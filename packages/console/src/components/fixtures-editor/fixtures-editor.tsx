import { useMemo, useState } from 'preact/hooks';
import type { TextFault } from '../schema-editor/check-schema.ts';
import { CodeField, howToLeave } from '../schema-editor/code-field.tsx';
import { editorHelp } from '../schema-editor/editor-help.ts';
import type { KeyHelp } from '../schema-editor/schema-help.ts';
import { checkFixtures } from './check-fixtures.ts';
import { fixtureHelpAt, suggestFor } from './fixture-help.ts';
import type { KnownNames } from './fixture-keys.ts';

/** Fixtures to write as JSON, checked while one types. */
export function FixturesEditor(props: {
  readonly initialText: string;
  readonly names: KnownNames;
  readonly onChange: (text: string) => void;
  /** The faults of the present text, or of one a moment ago. */
  readonly faults: readonly TextFault[];
  /** What the server found wrong with it, beyond the faults. */
  readonly error?: string | undefined;
}) {
  const { names } = props;
  const [key, setKey] = useState<KeyHelp>();
  const help = useMemo(() => editorHelp({ suggest: suggestFor(names), helpAt: fixtureHelpAt }), [names]);
  return (
    <CodeField
      label="Fixtures"
      initialText={props.initialText}
      onChange={props.onChange}
      onCursor={(text, offset) => setKey(fixtureHelpAt(text, offset))}
      help={help}
      check={(text) => {
        const checked = checkFixtures(text, names);
        return checked.isSound ? [] : checked.faults;
      }}
      faults={props.faults}
      sound="Valid fixtures."
      error={props.error}
    >
      <p class="field-hint schema-key-help">
        {key === undefined ? null : (
          <>
            <code>{key.key}</code>: {key.description}
          </>
        )}
      </p>
      <p class="field-hint">JSON. {howToLeave}</p>
    </CodeField>
  );
}
