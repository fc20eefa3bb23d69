import { SelectField } from '../field.tsx';
import type { SchemaTemplate } from './templates.ts';

/** Chooses the schema to begin with. It is there until the text is edited, so that no edit is lost. */
export function TemplateField(props: {
  readonly templates: readonly SchemaTemplate[] | undefined;
  readonly text: string;
  readonly onText: (text: string) => void;
}) {
  const { templates = [], text, onText } = props;
  const chosen = templates.find((template) => template.text === text);
  if (chosen === undefined) return null;
  return (
    <SelectField
      label="Begin with"
      name="template"
      value={chosen.name}
      options={templates.map(({ name }) => ({ value: name, label: name }))}
      onChange={(name) => onText(templates.find((template) => template.name === name)?.text ?? text)}
    />
  );
}
