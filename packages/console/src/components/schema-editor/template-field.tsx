import { SelectField } from '../field.tsx';
import type { SchemaTemplate } from './templates.ts';

/** Chooses the schema to begin with. Disabled while the text has edits, so that no edit is lost. */
export function TemplateField(props: {
  readonly templates: readonly SchemaTemplate[] | undefined;
  readonly text: string;
  readonly onText: (text: string) => void;
}) {
  const { templates, text, onText } = props;
  if (templates === undefined) return null;
  const chosen = templates.find((template) => template.text === text);
  const options = templates.map(({ name }) => ({ value: name, label: name }));
  return (
    <SelectField
      label="Begin with"
      name="template"
      value={chosen?.name ?? edited.value}
      options={chosen === undefined ? [edited, ...options] : options}
      isDisabled={chosen === undefined}
      onChange={(name) => onText(templates.find((template) => template.name === name)?.text ?? text)}
    />
  );
}

const edited = { value: '', label: 'Edited' };
